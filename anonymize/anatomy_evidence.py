"""Evidence that a candidate in Anatomy's form keeps its promises: balance, signatures, and every cut.

Counted and cut by code that shares nothing with the principle that made the candidate; only the graphs of
the releases before are taken from what it remembers.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, maximum_flow

from anonymize.contract import Contract
from anonymize.evidence import counterfeit_statistics, signature_invariance
from anonymize.state import State


def anatomy_evidence(
    published: Mapping[str, pl.DataFrame],
    linkage: pl.DataFrame,
    people: pl.DataFrame,
    remembered: State,
    contract: Contract,
) -> dict[str, pl.DataFrame]:
    """All evidence on a candidate in Anatomy's form, by the name of the promise it is about.

    Parameters
    ----------
    published
        `quasi_identifiers`, `sensitive` and `counterfeits`, as they would be published.
    linkage
        Identifier, `bucket_id` and `group_id` of the people the candidate hosts.
    people
        T(n): the contract's columns and `pseudonym`.
    remembered
        The state before this release.
    contract
        The data product.

    Returns
    -------
    dict
        `balance`, `signature_invariance`, `coverage`, `counterfeits`, `cuts`.
    """
    hosted = people.join(linkage, on=contract.identifier)
    groups = _groups(published, contract)
    return {
        "balance": balance(groups, hosted, remembered),
        "signature_invariance": signature_invariance(groups, hosted, remembered),
        "coverage": presence(published, hosted, contract),
        "counterfeits": counterfeit_statistics(groups, hosted, people),
        "cuts": cuts(groups, hosted, remembered, contract),
    }


def _groups(published: Mapping[str, pl.DataFrame], contract: Contract) -> pl.DataFrame:
    """`group_id`, `tuples`, `stated` (by counts), `values`, `fewest`, `most`, `signature`, `count`."""
    value = pl.col(contract.sensitive.name)
    rows = published["quasi_identifiers"].group_by("group_id").agg(pl.len().cast(pl.Int64).alias("tuples"))
    held = (
        published["sensitive"]
        .group_by("group_id")
        .agg(
            stated=pl.col("count").sum(),
            values=value.n_unique().cast(pl.Int64),
            fewest=pl.col("count").min(),
            most=pl.col("count").max(),
            signature=value.unique().sort(),
        )
    )
    fake = published["counterfeits"]
    for other in (held, fake):
        rows = rows.join(other, on="group_id", how="full", coalesce=True)
    counts = pl.col("tuples", "stated", "values", "fewest", "most", "count")
    return rows.with_columns(counts.fill_null(0)).sort("group_id")


def balance(groups: pl.DataFrame, hosted: pl.DataFrame, remembered: State) -> pl.DataFrame:
    """`group_id`, `tuples`, `stated`, `values`, `fewest`, `most`, `newcomers`: who is balanced with whom.

    A merged bucket holds each value of its signature equally often, at least m values where anybody is new
    (He et al., section IV-A: then no value is anybody's with more than 1/m).
    """
    newcomers = (
        hosted.join(remembered.memory.select("pseudonym"), on="pseudonym", how="anti")
        .group_by("group_id")
        .agg(pl.len().cast(pl.Int64).alias("newcomers"))
    )
    counted = groups.select("group_id", "tuples", "stated", "values", "fewest", "most")
    return counted.join(newcomers, on="group_id", how="left").fill_null(0).sort("group_id")


def presence(published: Mapping[str, pl.DataFrame], hosted: pl.DataFrame, contract: Contract) -> pl.DataFrame:
    """`column`, `people`, `uncovered`: hosted people whose group lacks their quasi-identifiers or value.

    People with the same quasi-identifiers in one group need as many rows as they are.
    """
    qis = ["group_id", *(qi.name for qi in contract.quasi_identifiers)]
    value = ["group_id", contract.sensitive.name]
    rows = published["quasi_identifiers"].group_by(qis).len("there")
    held = published["sensitive"].select(*value, there="count")
    missing = [
        hosted.group_by(key).len("needed").join(there, on=key, how="left")
        .select((pl.col("needed").cast(pl.Int64) - pl.col("there").cast(pl.Int64).fill_null(0)).clip(0).sum())
        .item()
        for key, there in ((qis, rows), (value, held))
    ]  # fmt: skip
    return pl.DataFrame(
        {"column": ["quasi-identifiers", value[1]], "people": hosted.height, "uncovered": missing},
        schema={"column": pl.String, "people": pl.Int64, "uncovered": pl.Int64},
    )


def cuts(groups: pl.DataFrame, hosted: pl.DataFrame, remembered: State, contract: Contract) -> pl.DataFrame:
    """`bucket_id`, `entered`, `left`, `min_cut`: the smallest cut this release adds to each bucket's graph.

    Buckets where nobody enters or leaves, and those of which a whole part was left by everybody, have none.

    References
    ----------
    He, Barman and Naughton, ICDE 2011, Theorem 2.
    """
    place, who = ["pseudonym", "bucket_id", "value"], ["pseudonym", "bucket_id"]
    today = hosted.select(*who, value=contract.sensitive.name)
    before = dict(remembered.tables) or _no_graphs(today)
    before = _remaining_edges(before, today, remembered.memory, contract.principle.e)

    stayed = before["present"].join(today, on=place, how="semi")
    left = before["present"].join(today, on=place, how="anti")
    left = _uncounted(left, left.join(today, on=who, how="semi").select(who))
    again = today.join(remembered.memory, on=who, how="semi").join(before["present"], on=place, how="anti")
    new = today.join(remembered.memory, on=who, how="anti")

    moving = pl.concat([left["bucket_id"], again["bucket_id"]]).unique()
    keeps = ~pl.col("bucket_id").is_in(moving.implode()) & _have_all_columns(
        before["counterfeits"], hosted, contract
    )
    kept, dropped = (before["counterfeits"].filter(which) for which in (keeps, ~keeps))
    fresh = _fresh_counterfeits(groups, hosted, kept)
    entered = pl.concat([_counted(new), fresh]).group_by("bucket_id").agg(pl.col("weight").sum())
    gone = pl.concat([part.select("bucket_id", "node", "counts") for part in (left, dropped)])

    links = [
        before["edges"].select("bucket_id", first="older", second="younger", weight="weight"),
        *(_ends(part, 0) for part in (stayed, kept)),
        _ends(gone, _NEWEST),
        _linked(before["nodes"]),
        entered.select("bucket_id", first=pl.lit(_NEWEST), second=pl.lit(0), weight="weight"),
        again.select("bucket_id", first=pl.lit(_NEWEST), second=pl.lit(0), weight=pl.lit(0)),
    ]
    touched = pl.concat([gone["bucket_id"], again["bucket_id"], entered["bucket_id"]]).unique()
    links = pl.concat(part.with_columns(pl.col("first", "second", "weight").cast(pl.Int64)) for part in links)
    links = links.filter(pl.col("bucket_id").is_in(touched.implode())).sort("bucket_id")
    found = {
        bucket: _min_cut(*rows.select("first", "second", "weight").to_numpy().T)
        for (bucket,), rows in links.group_by("bucket_id", maintain_order=True)
    }
    return (
        pl.DataFrame(
            {"bucket_id": found.keys(), "min_cut": found.values()},
            {"bucket_id": pl.Int32, "min_cut": pl.Int64},
        )
        .join(entered.rename({"weight": "entered"}), on="bucket_id", how="left")
        .join(_counted(gone).rename({"weight": "left"}), on="bucket_id", how="left")
        .with_columns(pl.col("entered", "left").fill_null(0))
        .filter(pl.col("min_cut").is_not_null())
        .select("bucket_id", "entered", "left", "min_cut")
        .sort("bucket_id")
    )


_NEWEST = -1
"""The node of this release, in place of its number."""


def _min_cut(first: np.ndarray, second: np.ndarray, weight: np.ndarray) -> int | None:
    """The smallest cut between the newest node and node 0; None where nothing connects them."""
    names, place = np.unique(np.concatenate([first, second, [_NEWEST, 0]]), return_inverse=True)
    first, second = place[: len(first)], place[len(first) : -2]
    newest, zero = place[-2:]
    size = (len(names), len(names))
    _, component = connected_components(
        csr_array((np.ones(len(first)), (first, second)), shape=size), directed=False
    )
    if component[newest] != component[zero]:
        return None
    both = np.append(weight, weight), (np.append(first, second), np.append(second, first))
    return int(maximum_flow(csr_array(both, shape=size, dtype=np.int32), newest, zero).flow_value)


def _counted(tuples: pl.DataFrame) -> pl.DataFrame:
    """`bucket_id`, `weight`: tuples in each bucket."""
    return tuples.group_by("bucket_id").agg(pl.len().cast(pl.Int64).alias("weight"))


def _ends(tuples: pl.DataFrame, end: int) -> pl.DataFrame:
    """Links from where tuples begin to `end`; those that are no edge link with weight 0."""
    return tuples.group_by("bucket_id", first="node").agg(
        pl.lit(end).alias("second"), pl.col("counts").sum().cast(pl.Int64).alias("weight")
    )


def _linked(nodes: pl.DataFrame) -> pl.DataFrame:
    """Links of weight 0 within each component."""
    first = pl.col("node").first().over("bucket_id", "component")
    return nodes.select("bucket_id", first="node", second=first, weight=pl.lit(0))


def _have_all_columns(counterfeits: pl.DataFrame, people: pl.DataFrame, contract: Contract) -> bool:
    """Whether counterfeits have quasi-identifiers as the contract has them now."""
    needed = {f"{qi.name}_value": people.schema[qi.name] for qi in contract.quasi_identifiers}
    return needed.items() <= counterfeits.schema.items()


def _no_graphs(today: pl.DataFrame) -> dict[str, pl.DataFrame]:
    tuples = today.clear().with_columns(node=pl.lit(0, pl.Int32), counts=pl.lit(value=True))
    ends = {"bucket_id": pl.Int32, "older": pl.Int32, "younger": pl.Int32, "weight": pl.Int64}
    nodes = {"bucket_id": pl.Int32, "node": pl.Int32, "component": pl.Int32, "merged_for": pl.Int32}
    return {
        "present": tuples,
        "counterfeits": tuples.drop("pseudonym"),
        "edges": pl.DataFrame(schema=ends),
        "nodes": pl.DataFrame(schema=nodes),
        "returned": today.clear().drop("value"),
    }


def _remaining_edges(
    before: Mapping[str, pl.DataFrame], today: pl.DataFrame, memory: pl.DataFrame, e: int
) -> dict[str, pl.DataFrame]:
    """The graphs without the edges of whoever is back after an absence for the first time.

    Where such an edge is not one between single releases, or a merging was for a smaller e, all edges at
    merged nodes of the bucket go.
    """
    who, ends = ["pseudonym", "bucket_id"], ["bucket_id", "older", "younger"]
    first_return = today.join(before["present"], on=who, how="anti").join(
        before["returned"], on=who, how="anti"
    )
    lost = first_return.join(memory, on=who).group_by(
        "bucket_id", older="first_release", younger=pl.col("last_release") + 1
    )
    merged = before["nodes"].filter(pl.col("merged_for").is_not_null())
    lost = lost.len("lost").join(before["edges"], on=ends, how="left")
    for end in ends[1:]:
        lost = lost.join(
            merged.select("bucket_id", pl.col("node").alias(end), pl.lit(value=True).alias(f"{end} merged")),
            on=["bucket_id", end],
            how="left",
        )
    own = (
        pl.col("weight").is_not_null() & pl.col("older merged").is_null() & pl.col("younger merged").is_null()
    )
    without = lost.filter(~own)["bucket_id"].unique()
    gone = merged.filter((pl.col("merged_for") < e) | pl.col("bucket_id").is_in(without.implode()))
    edges = (
        before["edges"]
        .join(lost.filter(own).select(*ends, "lost"), on=ends, how="left")
        .with_columns(pl.col("weight") - pl.col("lost").fill_null(0).cast(pl.Int64))
    )
    for end in ends[1:]:
        edges = edges.join(gone, left_on=["bucket_id", end], right_on=["bucket_id", "node"], how="anti")
    at = gone.select("bucket_id", "node")
    tuples = {name: _uncounted(before[name], at) for name in ("present", "counterfeits")}
    return {**before, **tuples, "edges": edges}


def _uncounted(tuples: pl.DataFrame, those: pl.DataFrame) -> pl.DataFrame:
    """The tuples, of which those that match are no edge."""
    marked = tuples.join(those.unique().with_columns(match=True), on=those.columns, how="left")
    return marked.with_columns(pl.col("counts") & pl.col("match").is_null()).drop("match")


def _fresh_counterfeits(groups: pl.DataFrame, hosted: pl.DataFrame, kept: pl.DataFrame) -> pl.DataFrame:
    """`bucket_id`, `weight`: counterfeits by R(n) less those that stay."""
    bucket = hosted.select("group_id", "bucket_id").unique()
    counted = groups.select("group_id", "count").join(bucket, on="group_id")
    counted = counted.join(_counted(kept), on="bucket_id", how="left")
    fresh = pl.col("count") - pl.col("weight").fill_null(0)
    return counted.select("bucket_id", weight=fresh).filter(pl.col("weight") > 0)
