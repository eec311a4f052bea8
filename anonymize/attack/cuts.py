"""The smallest cut of each bucket's graph: a proof that no equivalence attack is small.

In the graph of a bucket the nodes are releases, and node 0 stands for "still there". A stay (of a person
or a counterfeit) is an edge from the release it began in to the one it was over in, or to node 0. If every
cut weighs more than 2(e - 1), no e' < e people are known to have the same values as e' others.

He, Barman and Naughton, Preventing equivalence attacks, ICDE 2011, Algorithm 1 and Theorem 2.
"""

from __future__ import annotations

import polars as pl

from anonymize.attack.stays import Stays

STILL_THERE = 0
"""The node of stays that are not over."""


def cuts(stays: Stays, release: int, safe: int) -> pl.DataFrame:
    """The smallest cut that a release adds to each bucket's graph.

    Every cut that a release adds separates its node from node 0; the others were there before.

    Parameters
    ----------
    stays
        After the release.
    release
        n, counted from 1.
    safe
        The weight that a cut is to have at least, 2(e - 1) + 1.

    Returns
    -------
    polars.DataFrame
        `signature`, `values` (sorted), `entered`, `left`, `min_cut`: one row for each bucket in whose
        groups a stay begins or is over, unless nothing connects the release's node with node 0 (a whole part
        was left by everybody). `entered` tuples are in every such cut; where they alone reach `safe`,
        `min_cut` is their number.
    """
    edges = _edges(stays, release)
    newest = (pl.col("older") == release) | (pl.col("younger") == release)
    touched = edges.filter(newest)["bucket"].unique()
    graphs = edges.filter(pl.col("bucket").is_in(touched.implode()))
    entered = (pl.col("older") == release) & (pl.col("younger") == STILL_THERE)
    found = graphs.group_by("signature", "bucket").agg(
        entered=pl.col("weight").filter(entered).sum(),
        left=pl.col("weight").filter(pl.col("younger") == release).sum(),
    )
    flows = [
        (bucket, _min_cut(rows.select("older", "younger", "weight"), release))
        for (bucket,), rows in graphs.join(
            found.filter(pl.col("entered") < safe), on="bucket", how="semi"
        ).group_by("bucket")
    ]
    by_bucket = pl.DataFrame(flows, schema={"bucket": pl.Int64, "flow": pl.Int64}, orient="row")
    return (
        found.join(by_bucket, on="bucket", how="left")
        .with_columns(
            min_cut=pl.when(pl.col("entered") >= safe).then("entered").otherwise("flow").cast(pl.Int64)
        )
        .filter(pl.col("min_cut").is_not_null())
        .join(stays.signatures, on="signature")
        .sort("signature", "bucket")
        .select("signature", "values", "entered", "left", "min_cut")
    )


def _edges(stays: Stays, release: int) -> pl.DataFrame:
    """`signature`, `bucket`, `older`, `younger`, `weight`: by nodes joined; a stay that is no edge adds 0."""
    end = pl.when(pl.col("until") == release).then(pl.lit(STILL_THERE)).otherwise(pl.col("until") + 1)
    both = pl.concat(
        part.select("signature", "bucket", "since", "until", "edge") for part in (stays.people, stays.forged)
    )
    return both.group_by("signature", "bucket", older="since", younger=end.cast(pl.Int32)).agg(
        pl.col("edge").sum().cast(pl.Int64).alias("weight")
    )


def _min_cut(edges: pl.DataFrame, release: int) -> int | None:
    """The smallest cut between the newest node and node 0; None where nothing connects them."""
    import networkx as nx  # noqa: PLC0415 - takes a while, and only merged buckets have such graphs

    graph = nx.Graph()
    graph.add_nodes_from([release, STILL_THERE])
    for older, younger, weight in edges.iter_rows():
        before = graph.get_edge_data(older, younger, {"capacity": 0})["capacity"]
        graph.add_edge(older, younger, capacity=before + weight)
    if not nx.has_path(graph, release, STILL_THERE):
        return None
    return int(nx.maximum_flow_value(graph, release, STILL_THERE))
