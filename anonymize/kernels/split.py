"""Split one balanced bucket into groups of one tuple per value.

Xiao and Tao, m-Invariance, SIGMOD 2007, section 4.3.
"""

import numpy as np

from republish.anonymize.arrays import Bools, Floats, Ints
from republish.anonymize.kernels.compiled import compiled
from republish.anonymize.kernels.stable import stable_partition

EMPTY = -1.0
"""In place of a value that is missing, or of a counterfeit: sorts before all others, widens no interval."""


@compiled()
def split_bucket(values: Floats, size: int, group: Ints) -> None:
    """Write each tuple's group, 0 … length - 1, into `group` (int32[size * length]).

    The bucket is `size` lists (one per sensitive value) of `length` tuples each, list after list;
    quasi-identifiers (float64[size * length, d]) are normalised to [0, 1], or EMPTY. A split puts the first k
    tuples of every list, sorted by one attribute, into one part; of all attributes and all k the one with the
    smallest perimeter sum is taken, and the parts are split in turn. Ties go to the most balanced split. Each
    attribute is sorted once; parts inherit the order.
    """
    tuples, attributes = values.shape
    length = tuples // size
    order = np.empty((attributes, tuples), np.int32)
    for a in range(attributes):
        for j in range(size):
            start = j * length
            order[a, start : start + length] = start + np.argsort(
                values[start : start + length, a], kind="mergesort"
            )
    in_first = np.zeros(tuples, np.bool_)
    kept = np.empty(length, np.int32)
    suffix = np.empty(length, np.float64)
    low = np.empty(attributes, np.float64)
    high = np.empty(attributes, np.float64)
    stack = [(0, length)]
    while stack:
        start, stop = stack.pop()
        if stop - start == 1:
            for j in range(size):
                group[order[0, j * length + start]] = start
            continue
        best, best_a, best_k = np.inf, 0, 0
        for a in range(attributes):
            low[:], high[:] = np.inf, -np.inf
            for k in range(stop - 1, start, -1):
                suffix[k] = _perimeter(values, order[a], size, length, k, low, high)
            low[:], high[:] = np.inf, -np.inf
            for k in range(start + 1, stop):
                prefix = _perimeter(values, order[a], size, length, k - 1, low, high)
                cost = (k - start) * prefix + (stop - k) * suffix[k]
                if cost < best or (
                    cost == best and abs(start + stop - 2 * k) < abs(start + stop - 2 * best_k)
                ):
                    best, best_a, best_k = cost, a, k
        _partition(order, best_a, size, length, start, best_k, stop, in_first, kept)
        stack.append((start, best_k))
        stack.append((best_k, stop))


@compiled(inline="always")
def _perimeter(
    values: Floats, order: Ints, size: int, length: int, k: int, low: Floats, high: Floats
) -> float:
    """The sum of interval lengths after the k-th tuple of every list has widened `low` and `high`."""
    attributes = values.shape[1]
    for j in range(size):
        row = order[j * length + k]
        for c in range(attributes):
            value = values[row, c]
            if value >= 0:
                low[c] = min(low[c], value)
                high[c] = max(high[c], value)
    total = 0.0
    for c in range(attributes):
        if high[c] >= low[c]:
            total += high[c] - low[c]
    return total


@compiled()
def _partition(
    order: Ints,
    by: int,
    size: int,
    length: int,
    start: int,
    middle: int,
    stop: int,
    in_first: Bools,
    kept: Ints,
) -> None:
    """Reorder start … stop of every list, by every attribute: first part first, else as it was."""
    for j in range(size):
        for i in range(start, stop):
            in_first[order[by, j * length + i]] = i < middle
    for a in range(order.shape[0]):
        if a == by:
            continue
        for j in range(size):
            stable_partition(order[a], j * length + start, j * length + stop, in_first, kept)
