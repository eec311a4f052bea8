"""The smallest cuts of the bucket graphs: Theorem 2, one cut a release."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import maximum_flow

from republish.anonymize.arrays import Ints


def cuts_between(
    bucket: Ints, first: Ints, second: Ints, weight: Ints, newest: int, buckets: int
) -> np.ndarray:
    """int64[buckets]: the smallest cut between the newest node and node 0 in the graph of every bucket.

    It is 0 where the two nodes are not connected. Of each edge, int[E], there are its bucket, 0 … buckets -
    1, the nodes that it joins (0, or the number of a release up to `newest`), and its weight. Edges may be
    parallel.

    References
    ----------
    A largest flow is as large as a smallest cut: Ford and Fulkerson, 1956.
    """
    # The flows of all buckets are one: it enters each graph at its newest node, and leaves at its node 0.
    each, one = np.arange(buckets), np.ones(buckets, int)
    bucket_of = np.concatenate([each, each, bucket, bucket])
    nodes, place = np.unique(
        bucket_of * (newest + 1) + np.concatenate([one * newest, one * 0, first, second]), return_inverse=True
    )
    entry, leaving, tail, head = np.split(place, np.cumsum([buckets, buckets, len(bucket)]))
    source, sink = len(nodes), len(nodes) + 1
    most = np.bincount(bucket, weight, buckets)
    arcs = [
        (one * source, entry, most),
        (leaving, one * sink, most),
        (tail, head, weight),
        (head, tail, weight),
    ]
    start, end, room = (np.concatenate(part) for part in zip(*arcs, strict=True))
    network = coo_array((room.astype(np.int32), (start, end)), shape=(sink + 1, sink + 1)).tocsr()
    entered = maximum_flow(network, source, sink).flow[[source]].toarray()[0]
    return np.asarray(entered[entry], np.int64)
