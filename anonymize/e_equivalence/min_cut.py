"""The smallest cuts of the bucket graphs: Theorem 2, one cut a release."""

from __future__ import annotations

import numpy as np

from anonymize.arrays import Ints
from anonymize.kernels.min_cut import min_cuts


def cuts_between(
    bucket: Ints, first: Ints, second: Ints, weight: Ints, newest: int, buckets: int
) -> np.ndarray:
    """The smallest cut between the newest node and node 0 in the graph of every bucket.

    Parameters
    ----------
    bucket
        int[E]: the bucket (0 … B - 1) each edge is of. Edges may be parallel.
    first, second
        int[E]: the nodes it joins: 0, or the number of a release up to `newest`.
    weight
        int[E]: the tuples it stands for.
    newest
        The number of the release to be made.
    buckets
        B.

    Returns
    -------
    int64[B]
        Weights; 0 where the two nodes are not connected.
    """
    # An edge of weight 0 in every bucket makes both nodes known there; 0 sorts first, the newest last.
    bucket = np.append(bucket, np.arange(buckets)).astype(np.int64)
    first = np.append(first, np.zeros(buckets)).astype(np.int64)
    second = np.append(second, np.full(buckets, newest)).astype(np.int64)
    weight = np.append(weight, np.zeros(buckets)).astype(np.int64)

    order = np.argsort(bucket, kind="stable")
    bucket, first, second, weight = bucket[order], first[order], second[order], weight[order]
    names, place = np.unique(
        np.append(bucket, bucket) * (newest + 1) + np.append(first, second), return_inverse=True
    )
    sizes = np.bincount(names // (newest + 1), minlength=buckets)
    numbers = place - (np.cumsum(sizes) - sizes)[np.append(bucket, bucket)]
    cuts = np.empty(buckets, np.int64)
    min_cuts(
        np.searchsorted(bucket, np.arange(buckets + 1)),
        sizes,
        numbers[: len(bucket)],
        numbers[len(bucket) :],
        weight,
        sizes - 1,
        np.zeros(buckets, np.int64),
        cuts,
    )
    return cuts
