"""Rows of two tables that match: their intervals overlap in every column."""

from typing import NamedTuple

import numpy as np

from republish.anonymize.arrays import Bools, Floats, Words
from republish.anonymize.kernels.compiled import compiled


class Boxes(NamedTuple):
    """Rows of a table, each with an interval in every column."""

    low: Floats
    """float64[n, J]: where it begins."""
    high: Floats
    """float64[n, J]: where it ends, half-open."""
    flags: Words
    """uint64[n]: the inconsistent pairs a row is one half of."""


@compiled()
def unmatched(first: Boxes, second: Boxes) -> tuple[Bools, Bools]:
    """Find the rows of two tables that match no row of the other.

    Rows match if their intervals overlap in every column and they share no flag.
    """
    n, m = len(first.flags), len(second.flags)
    alone_first, alone_second = np.ones(n, np.bool_), np.ones(m, np.bool_)
    hint = 0
    for i in range(n):
        # Neighbours often match the same row, so the search begins where the last one ended.
        for step in range(m):
            k = (hint + step) % m
            if _match(first, i, second, k):
                alone_first[i] = False
                alone_second[k] = False
                hint = k
                break
    for k in range(m):
        if not alone_second[k]:
            continue
        for step in range(n):
            i = (hint + step) % n
            if _match(first, i, second, k):
                alone_second[k] = False
                hint = i
                break
    return alone_first, alone_second


@compiled()
def _match(first: Boxes, i: int, second: Boxes, k: int) -> bool:
    if first.flags[i] & second.flags[k]:
        return False
    for j in range(first.low.shape[1]):
        if first.low[i, j] >= second.high[k, j] or second.low[k, j] >= first.high[i, j]:
            return False
    return True
