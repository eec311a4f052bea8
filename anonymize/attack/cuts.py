"""The smallest cut of each bucket's graph: a proof that no equivalence attack is small.

In the graph of a bucket the nodes are releases, and node 0 stands for "still there". A stay (of a person
or a counterfeit) is an edge from the release it began in to the one it was over in, or to node 0. If every
cut weighs more than 2(e - 1), no e' < e people are known to have the same values as e' others.

He, Barman and Naughton, Preventing equivalence attacks, ICDE 2011, Algorithm 1 and Theorem 2.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from republish.anonymize.attack.stays import Stays
from republish.anonymize.late import on_first_call

connected_components = on_first_call("scipy.sparse.csgraph", "connected_components")
maximum_flow = on_first_call("scipy.sparse.csgraph", "maximum_flow")
coo_array = on_first_call("scipy.sparse", "coo_array")

STILL_THERE = 0
"""The node of stays that are not over."""


def cuts(stays: Stays, release: int, safe: int) -> pl.DataFrame:
    """Find the smallest cut that a release adds to each bucket's graph.

    Every cut that a release adds separates its node from node 0; the others were there before.

    Returns
    -------
    polars.DataFrame
        `signature`, `values` (sorted), `entered`, `left`, `min_cut`: one row for each bucket in whose
        groups a stay begins or is over, unless nothing connects the release's node with node 0 (a whole part
        was left by everybody). `entered` tuples are in every such cut; where they alone reach `safe`,
        2(e - 1) + 1, `min_cut` is their number.
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
    small = graphs.join(found.filter(pl.col("entered") < safe), on="bucket", how="semi")
    return (
        found.join(_flows(small, release), on="bucket", how="left")
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


def _flows(graphs: pl.DataFrame, release: int) -> pl.DataFrame:
    """`bucket`, `flow`: a largest flow between the newest node and node 0, where edges connect the two.

    It is as large as a smallest cut (Ford and Fulkerson 1956). The flows of all buckets are one flow,
    which enters each graph at its newest node and leaves at its node 0.
    """
    buckets, graph = np.unique(graphs["bucket"].to_numpy(), return_inverse=True)
    each, one = np.arange(len(buckets)), np.ones(len(buckets), int)
    ends = np.concatenate([one * release, one * STILL_THERE, graphs["older"], graphs["younger"]])
    nodes, place = np.unique(
        np.concatenate([each, each, graph, graph]) * (release + 1) + ends, return_inverse=True
    )
    entry, still_there, older, younger = np.split(place, np.cumsum([len(each), len(each), len(graph)]))
    source, sink = len(nodes), len(nodes) + 1
    weight = graphs["weight"].to_numpy()
    most = np.bincount(graph, weight, len(each))
    arcs = [
        (one * source, entry, most),
        (still_there, one * sink, most),
        (older, younger, weight),
        (younger, older, weight),
    ]
    tail, head, room = (np.concatenate(part) for part in zip(*arcs, strict=True))
    network = coo_array((room.astype(np.int32), (tail, head)), shape=(sink + 1, sink + 1)).tocsr()
    flow = maximum_flow(network, source, sink).flow[[source]].toarray()[0][entry]
    joined = coo_array((np.ones(len(graph)), (older, younger)), shape=(len(nodes), len(nodes)))
    _, part = connected_components(joined, directed=False)
    by_bucket = pl.DataFrame({"bucket": buckets, "flow": flow.astype(np.int64)})
    return by_bucket.filter(pl.Series(part[entry] == part[still_there], dtype=pl.Boolean))
