"""Split balanced buckets into QI groups. Xiao and Tao, m-Invariance, SIGMOD 2007, section 4.3."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from anonymize.kernels.split import EMPTY, split_bucket


def split(bucket: np.ndarray, value: np.ndarray, codes: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """The QI group of every tuple: one tuple per value of its bucket's signature in each group.

    Buckets are independent of one another and are split side by side.

    Parameters
    ----------
    bucket, value
        int[N]: each tuple's bucket and sensitive value. Every bucket is balanced.
    codes
        float64[N, d]: quasi-identifiers normalised to [0, 1]; a counterfeit's are `EMPTY`.
    ranks
        uint64[N]: a secret order of the tuples, which decides between tuples that are alike.

    Returns
    -------
    int64[N]
        Group numbers 0, 1, …; numbered bucket by bucket, not yet fit for publication.
    """
    if not len(bucket):
        return np.empty(0, np.int64)
    rows = np.lexsort((ranks, value, bucket))
    starts = np.flatnonzero(np.diff(bucket[rows], prepend=-1))
    stops = np.append(starts[1:], len(rows))
    changes = np.diff(value[rows], prepend=-1) != 0
    changes[starts] = True
    sizes = np.add.reduceat(changes.astype(np.int64), starts)

    ordered = np.ascontiguousarray(codes[rows])
    within = np.empty(len(rows), np.int32)

    def split_one(start: int, stop: int, size: int) -> None:
        split_bucket(ordered[start:stop], size, within[start:stop])

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        largest_first = np.argsort(starts - stops)
        list(pool.map(split_one, starts[largest_first], stops[largest_first], sizes[largest_first]))

    lengths = (stops - starts) // sizes
    group = np.empty(len(rows), np.int64)
    group[rows] = within + np.repeat(np.cumsum(lengths) - lengths, stops - starts)
    return group


__all__ = ["EMPTY", "split"]
