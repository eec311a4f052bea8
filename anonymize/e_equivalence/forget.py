"""Keep the bucket graphs small for ever: merge nodes that no later cut below the safe weight tells apart.

Three steps, each of which leaves the smallest cuts as they are up to the safe weight c = 2(e - 1) + 1, or
makes them smaller (which costs counterfeits, never safety):

1. Two nodes joined by c ended lifespans or more are merged. An ended lifespan stays what it is, so every
   cut between the two weighs at least c, now and later.
2. A node u whose tuples are all gone gets no further edges. If one neighbour v has at least half of the
   weight at u, u is merged into v: moving u to v's side makes no cut between other nodes heavier.
3. Of nodes whose tuples are all gone the oldest are dropped with their edges. A graph with fewer edges has
   no heavier cuts.

Only a person who comes back takes away an edge. If it joins two releases that are nodes of their own, no
merging relied on it: steps 1 and 2 look at edges of the nodes they merge alone. If not, the edges at all
merged nodes are forgotten (`graph.open_graphs`), with which every merging loses its meaning.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from republish.anonymize.e_equivalence.graph import Graphs
from republish.anonymize.e_equivalence.parameters import smallest_safe_cut
from republish.anonymize.kernels.merge_nodes import DROPPED, merge_nodes

MOST_NODES = 64
"""Nodes of a bucket's graph above which old ones are merged; half of them stay as they are."""


def merge_old_nodes(graphs: Graphs, e: int, most: int = MOST_NODES) -> Graphs:
    """The graphs with old nodes merged wherever there are more than `most`, which is at least 2.

    Nodes with tuples in the last release stay, unless step 1 applies to them; there are at most as many
    of these as tuples. With a larger e than this one, merged nodes are forgotten.
    """
    crowded = graphs.nodes.group_by("bucket_id").len().filter(pl.col("len") > most)["bucket_id"].sort()
    if crowded.is_empty():
        return graphs
    inside = pl.col("bucket_id").is_in(crowded.implode())
    alive = pl.concat(tuples.select("bucket_id", "node") for tuples in (graphs.present, graphs.counterfeits))
    nodes = graphs.nodes.join(alive.unique().with_columns(alive=True), on=["bucket_id", "node"], how="left")
    merged, edges = zip(
        *(
            _merge(nodes.filter(bucket_id=bucket), graphs.edges.filter(bucket_id=bucket), e, most)
            for bucket in crowded
        ),
        strict=True,
    )
    merged = pl.concat(merged)
    return replace(
        graphs,
        nodes=pl.concat([graphs.nodes.filter(~inside), _named(merged, e)]).sort("bucket_id", "node"),
        edges=pl.concat([graphs.edges.filter(~inside), *edges]).sort(pl.all()),
        present=_moved(graphs.present, merged),
        counterfeits=_moved(graphs.counterfeits, merged),
    )


def _merge(nodes: pl.DataFrame, edges: pl.DataFrame, e: int, most: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """One bucket's nodes with `into`, the node each becomes (null: dropped), and the edges that are left."""
    nodes = nodes.sort("node")
    names = nodes["node"].to_numpy()
    older, younger = (np.searchsorted(names, edges[end].to_numpy()) for end in ("older", "younger"))
    weight = np.zeros((len(names), len(names)), np.int64)
    np.add.at(weight, (older, younger), edges["weight"].to_numpy())
    weight += weight.T
    old = np.arange(len(names)) < len(names) - most // 2
    into = np.empty(len(names), np.int64)
    merge_nodes(
        weight, nodes["alive"].fill_null(value=False).to_numpy().copy(), old, smallest_safe_cut(e), most, into
    )

    older, younger = np.nonzero(np.triu(weight))
    left = pl.DataFrame(
        {
            "bucket_id": np.full(len(older), nodes["bucket_id"][0]),
            "older": names[older],
            "younger": names[younger],
            "weight": weight[older, younger],
        },
        schema=edges.schema,
    )
    name = [None if place == DROPPED else names[place] for place in into]
    return nodes.with_columns(pl.Series("into", name, pl.Int32)), left


def _named(merged: pl.DataFrame, e: int) -> pl.DataFrame:
    """The nodes there are after merging."""
    several = pl.when(pl.len() > 1).then(pl.lit(e, pl.Int32)).otherwise(pl.col("merged_for").max())
    return (
        merged.filter(pl.col("into").is_not_null())
        .group_by("bucket_id", node="into")
        .agg(pl.col("component").first(), several.alias("merged_for"))
    )


def _moved(tuples: pl.DataFrame, merged: pl.DataFrame) -> pl.DataFrame:
    """Tuples, each with the node that the one its lifespan begins at was merged into."""
    target = merged.select("bucket_id", "node", "into")
    return (
        tuples.join(target, on=["bucket_id", "node"], how="left", maintain_order="left")
        .with_columns(pl.coalesce("into", "node").alias("node"))
        .drop("into")
    )
