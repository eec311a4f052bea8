"""The bucket graphs, kept from release to release: who is which edge, and what a new release adds.

In a bucket's graph the nodes are releases, and node 0 stands for "still there". A tuple (a person or a
counterfeit) is an edge from the release it was inserted in to the one it was deleted in, or to node 0
(He, Barman and Naughton, ICDE 2011, Algorithm 1). What is kept are edges between releases, by weight,
and for each tuple of the last release the node its edge to node 0 begins at.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
import polars as pl

from republish.anonymize.arrays import Bools, Ints
from republish.anonymize.e_equivalence.min_cut import cuts_between
from republish.anonymize.principle.state import State

PLACE = ("bucket_id", "node")
"""Where a tuple is in the graphs: its bucket, and the node its lifespan begins at."""
WHO = ("pseudonym", "bucket_id")
"""A person in a bucket: a column of the person matrix."""


@dataclass(frozen=True)
class Graphs:
    """The graphs of all buckets, as a release leaves them."""

    present: pl.DataFrame
    """People in the last release: `pseudonym`, `bucket_id`, `value`, `node` (where this lifespan of theirs
    begins), `counts` (whether they are an edge; not if they had an earlier lifespan in the bucket)."""
    counterfeits: pl.DataFrame
    """Counterfeits in the last release: `bucket_id`, `value`, `node`, `counts`, and the quasi-identifiers
    they were published with, `qi_0`, …."""
    edges: pl.DataFrame
    """`bucket_id`, `older`, `younger`, `weight`: tuples whose lifespan is over."""
    nodes: pl.DataFrame
    """`bucket_id`, `node`, `component` (the same for nodes that ended lifespans connect), `merged_for`: null
    for a single release; else the e for which several were merged into one node, which is named by one."""
    returned: pl.DataFrame
    """`pseudonym`, `bucket_id`: whoever had more than one lifespan in a bucket and is no edge any more."""
    cuts: pl.DataFrame
    """`bucket_id`, `min_cut`: the smallest cut of the bucket's graph so far."""

    @classmethod
    def of(cls, state: State, value: pl.DataType) -> Graphs:
        """The graphs in a state; empty ones before the first release."""
        names = [part.name for part in fields(cls)]
        return cls(**({name: state.tables[name] for name in names} if state.tables else _empty(value)))

    def tables(self) -> dict[str, pl.DataFrame]:
        """Themselves, for a state to keep."""
        return {part.name: getattr(self, part.name) for part in fields(self)}


Schema = dict[str, pl.DataType | type[pl.DataType]]


def _empty(value: pl.DataType) -> dict[str, pl.DataFrame]:
    tuples: Schema = {"bucket_id": pl.Int32, "value": value, "node": pl.Int32, "counts": pl.Boolean}
    schemas: dict[str, Schema] = {
        "present": {"pseudonym": pl.Binary, **tuples},
        "counterfeits": tuples,
        "edges": {"bucket_id": pl.Int32, "older": pl.Int32, "younger": pl.Int32, "weight": pl.Int64},
        "nodes": {"bucket_id": pl.Int32, "node": pl.Int32, "component": pl.Int32, "merged_for": pl.Int32},
        "returned": {"pseudonym": pl.Binary, "bucket_id": pl.Int32},
        "cuts": {"bucket_id": pl.Int32, "min_cut": pl.Int64},
    }  # fmt: skip
    return {name: pl.DataFrame(schema=schema) for name, schema in schemas.items()}


@dataclass(frozen=True)
class Opening:
    """The graphs of release n before anybody is inserted: who stays, who is gone, who came back."""

    number: int
    """n"""
    staying: pl.DataFrame
    """As `Graphs.present`: who keeps bucket and value."""
    kept: pl.DataFrame
    """As `Graphs.counterfeits`: those of buckets in which nothing happens."""
    gone: pl.DataFrame
    """`bucket_id`, `node`, `counts`: tuples whose lifespan ends, one row each."""
    back: pl.DataFrame
    """`pseudonym`, `bucket_id`, `value`: who begins another lifespan in the same bucket."""
    before: Graphs
    """The graphs of release n - 1, less the edges of those who are back."""

    @property
    def touched(self) -> np.ndarray:
        """Ids of the buckets in which a lifespan ends or begins again."""
        return pl.concat([self.gone["bucket_id"], self.back["bucket_id"]]).unique().sort().to_numpy()

    def cuts(self, buckets: int) -> Ints:
        """int64[buckets]: the smallest cut between nodes n and 0, less what is inserted.

        Every cut between the two has all tuples inserted in release n in it, whoever they are: they are the
        edge between the two. So the smallest cut is this, plus their number.
        """
        edges = pl.concat(
            [
                self.before.edges,
                _edges_to(self.number, self.gone),
                _edges_to(0, self.staying),
                _edges_to(0, self.kept),
            ]
        ).filter(pl.col("bucket_id").is_in(self.touched.tolist()))
        bucket, first, second, weight = edges.to_numpy().T
        return cuts_between(bucket, first, second, weight, newest=self.number, buckets=buckets)

    def connected(self, buckets: int) -> Bools:
        """bool[buckets]: whether node n is connected with node 0 before anybody is inserted.

        By any lifespan, also of those who are no edge. Where it isn't, those who went were all that was
        left of a part of the graph, which is closed for ever and tells nothing new.
        """
        nodes = self.before.nodes
        opened = self.gone.join(nodes, on=["bucket_id", "node"]).select("bucket_id", "component").unique()
        alive = self.staying.join(nodes, on=["bucket_id", "node"]).join(
            opened, on=["bucket_id", "component"], how="semi"
        )
        connected = np.zeros(buckets, bool)
        connected[alive["bucket_id"].to_numpy()] = True
        connected[self.back["bucket_id"].to_numpy()] = True
        return connected


def open_graphs(
    before: Graphs,
    known: pl.DataFrame,
    memory: pl.DataFrame,
    number: int,
    e: int,
    fits: pl.Expr,
) -> Opening:
    """Find what T(n) does to the graphs, before anybody is inserted.

    `known` are the people of T(n) who keep a bucket (`pseudonym`, `bucket_id`, `value`), and `memory` is
    `Memory.people`. `fits` tells of a counterfeit whether it could be somebody's under the contract as it is
    now. In a bucket where one does not fit, or where anything happens, all are dropped (Algorithm 3: "all
    counterfeits tuples in bucket").
    """
    back = known.join(before.present, on=[*WHO, "value"], how="anti")
    graphs = _without_edges_of(back.join(before.present, on=WHO, how="anti"), before, memory, e)
    returned = pl.concat([graphs.returned, back.select(WHO)]).unique().sort(pl.all())
    leaving = _leaving(graphs.present, known, back)

    touched = pl.concat([leaving["bucket_id"], back["bucket_id"]]).unique()
    keeps = ~pl.col("bucket_id").is_in(touched.implode()) & fits.all().over("bucket_id")
    dropped = graphs.counterfeits.filter(~keeps)
    return Opening(
        number=number,
        staying=graphs.present.join(known, on=[*WHO, "value"], how="semi"),
        kept=graphs.counterfeits.filter(keeps),
        gone=pl.concat(part.select("bucket_id", "node", "counts") for part in (leaving, dropped)),
        back=back,
        before=replace(graphs, returned=returned),
    )


def _leaving(present: pl.DataFrame, known: pl.DataFrame, back: pl.DataFrame) -> pl.DataFrame:
    """Find those of `present` whose lifespan ends.

    A person whose value changes within the signature begins another lifespan there, and is no edge any more:
    whoever knows of the change tells the two apart, and others take them for one.
    """
    leaving = present.join(known, on=[*WHO, "value"], how="anti")
    return leaving.join(back.select(*WHO, changed=True), on=WHO, how="left").with_columns(
        pl.col("counts") & pl.col("changed").is_null()
    )


def advance(opening: Opening, people: pl.DataFrame, counterfeits: pl.DataFrame, cuts: pl.DataFrame) -> Graphs:
    """The graphs after release n.

    New in their bucket are `people` (`pseudonym`, `bucket_id`, `value`) and `counterfeits` (`bucket_id`,
    `value`, `qi_0`, …); `cuts` are `bucket_id`, `min_cut` of the buckets in which anything happens.

    References
    ----------
    He, Barman and Naughton, ICDE 2011, Algorithm 1.
    """
    before, node = opening.before, pl.lit(opening.number, pl.Int32)
    present = pl.concat(
        part.select(before.present.columns)
        for part in (
            opening.staying,
            opening.back.with_columns(node=node, counts=pl.lit(value=False)),
            people.with_columns(node=node, counts=pl.lit(value=True)),
        )
    )
    new = counterfeits.with_columns(node=node, counts=pl.lit(value=True))
    fake = pl.concat([opening.kept.select(new.columns), new]) if opening.kept.height else new
    nodes, edges = _without_closed(
        _with_newest(opening, pl.concat([people["bucket_id"], counterfeits["bucket_id"]])),
        pl.concat([before.edges, _edges_to(opening.number, opening.gone)]),
        pl.concat([present.select(PLACE), fake.select(PLACE)]),
    )
    return Graphs(
        present=present.sort("pseudonym"),
        counterfeits=fake.sort(pl.all()),
        edges=edges.sort(pl.all()),
        nodes=nodes.sort("bucket_id", "node"),
        returned=before.returned,
        cuts=pl.concat([before.cuts, cuts])
        .group_by("bucket_id")
        .agg(pl.col("min_cut").min())
        .sort("bucket_id"),
    )


def _edges_to(node: int, tuples: pl.DataFrame) -> pl.DataFrame:
    """`bucket_id`, `older` (where tuples begin), `younger` (the node), `weight`: those that are an edge."""
    return (
        tuples.filter("counts")
        .group_by("bucket_id", older="node")
        .agg(pl.len().cast(pl.Int64).alias("weight"))
        .select("bucket_id", "older", pl.lit(node, pl.Int32).alias("younger"), "weight")
    )


def _without_edges_of(absent: pl.DataFrame, before: Graphs, memory: pl.DataFrame, e: int) -> Graphs:
    """The graphs less the edges of people who come back after an absence.

    Their edge joins the releases they came and went in. Where these are not nodes of their own any more,
    all edges at merged nodes of the bucket are forgotten: a graph with fewer edges is never less safe. The
    same befalls nodes that were merged for a smaller e.
    """
    if absent.is_empty() and not (before.nodes["merged_for"] < e).any():
        return before
    place = ["bucket_id", "older", "younger"]
    exact = before.nodes.filter(pl.col("merged_for").is_null()).select("bucket_id", "node")
    lost = (
        absent.join(before.returned, on=WHO, how="anti")
        .join(memory, on=WHO)
        .select("bucket_id", older="first_release", younger=pl.col("last_release") + 1)
        .group_by(place)
        .agg(pl.len().cast(pl.Int64).alias("lost"))
    )
    found = before.edges
    for end in ("older", "younger"):
        found = found.join(exact, left_on=["bucket_id", end], right_on=["bucket_id", "node"], how="semi")
    unknown = lost.join(found, on=place, how="anti")["bucket_id"].unique()
    subtracted = (
        before.edges.join(lost.join(found, on=place, how="semi"), on=place, how="left")
        .with_columns(pl.col("weight") - pl.col("lost").fill_null(0))
        .filter(pl.col("weight") > 0)
        .drop("lost")
    )
    forgotten = before.nodes.filter(
        pl.col("merged_for").is_not_null()
        & (pl.col("bucket_id").is_in(unknown.implode()) | (pl.col("merged_for") < e))
    )
    return _forget(replace(before, edges=subtracted), forgotten.select("bucket_id", "node"))


def _forget(graphs: Graphs, nodes: pl.DataFrame) -> Graphs:
    """The graphs without the edges at some nodes, those to node 0 included."""
    if nodes.is_empty():
        return graphs
    edges = graphs.edges
    for end in ("older", "younger"):
        edges = edges.join(nodes, left_on=["bucket_id", end], right_on=["bucket_id", "node"], how="anti")
    gone = nodes.with_columns(forgotten=True)
    present, counterfeits = (
        tuples.join(gone, on=["bucket_id", "node"], how="left")
        .with_columns(pl.col("counts") & pl.col("forgotten").is_null())
        .drop("forgotten")
        for tuples in (graphs.present, graphs.counterfeits)
    )
    return replace(graphs, edges=edges, present=present, counterfeits=counterfeits)


def _with_newest(opening: Opening, inserted: pl.Series) -> pl.DataFrame:
    """The nodes with that of release n, and the components it joins made one."""
    before, newest = opening.before.nodes, pl.lit(opening.number, pl.Int32)
    buckets = pl.concat([opening.gone["bucket_id"], opening.back["bucket_id"], inserted]).unique()
    joined = (
        opening.gone.join(before, on=["bucket_id", "node"])
        .select("bucket_id", "component", joined=newest)
        .unique()
    )
    nodes = before.join(joined, on=["bucket_id", "component"], how="left").with_columns(
        pl.coalesce("joined", "component").alias("component")
    )
    new = pl.DataFrame({"bucket_id": buckets}).select(
        "bucket_id", node=newest, component=newest, merged_for=pl.lit(None, pl.Int32)
    )
    return pl.concat([nodes.drop("joined"), new])


def _without_closed(
    nodes: pl.DataFrame, edges: pl.DataFrame, tuples: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Nodes and edges of components in which somebody is left; the others never change again."""
    open_components = nodes.join(tuples, on=["bucket_id", "node"], how="semi").select(
        "bucket_id", "component"
    )
    nodes = nodes.join(open_components, on=["bucket_id", "component"], how="semi")
    return nodes, edges.join(
        nodes, left_on=["bucket_id", "younger"], right_on=["bucket_id", "node"], how="semi"
    )
