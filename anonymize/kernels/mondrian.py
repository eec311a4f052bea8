"""Cut a table at medians, as long as both parts stay l-diverse.

LeFevre, DeWitt and Ramakrishnan, Mondrian multidimensional k-anonymity, ICDE 2006.
"""

import numpy as np

from republish.anonymize.arrays import Floats, Ints
from republish.anonymize.kernels.compiled import compiled


@compiled()
def partition(matrix: Floats, widths: Floats, values: Ints, diversity: int) -> Ints:
    """int64[n]: the group of every row of a matrix, by sensitive values 0, 1, … and the domains' widths."""
    rows, attributes = matrix.shape
    order = np.arange(rows)
    group = np.empty(rows, np.int64)
    counts = np.zeros(values.max() + 1, np.int64)
    pending = [(0, rows)]
    groups = 0
    while len(pending) > 0:
        begin, end = pending.pop()
        spans = np.empty(attributes)
        for a in range(attributes):
            lowest, highest = matrix[order[begin], a], matrix[order[begin], a]
            for at in range(begin, end):
                code = matrix[order[at], a]
                lowest, highest = min(lowest, code), max(highest, code)
            spans[a] = (highest - lowest) / widths[a]
        middle = -1
        for a in np.argsort(-spans, kind="mergesort"):
            if spans[a] == 0:
                break
            middle = _cut(matrix, order, begin, end, a)
            if (
                middle > begin
                and _is_diverse(values, order, begin, middle, counts, diversity)
                and _is_diverse(values, order, middle, end, counts, diversity)
            ):
                break
            middle = -1
        if middle < 0:
            for at in range(begin, end):
                group[order[at]] = groups
            groups += 1
        else:
            pending.append((begin, middle))
            pending.append((middle, end))
    return group


@compiled()
def _cut(matrix: Floats, order: Ints, begin: int, end: int, attribute: int) -> int:
    """Put the rows up to the median first; returns where the others begin, or `begin` if none are left."""
    part = np.empty(end - begin)
    for at in range(begin, end):
        part[at - begin] = matrix[order[at], attribute]
    median = np.partition(part, (end - begin - 1) // 2)[(end - begin - 1) // 2]
    highest = part.max()
    if median == highest:
        # Cut below the median instead: everything may lie on it.
        below = part[part < median]
        if len(below) == 0:
            return begin
        median = below.max()
    first, rest = begin, np.empty(end - begin, order.dtype)
    others = 0
    for at in range(begin, end):
        row = order[at]
        if matrix[row, attribute] <= median:
            order[first] = row
            first += 1
        else:
            rest[others] = row
            others += 1
    for at in range(others):
        order[first + at] = rest[at]
    return first


@compiled()
def _is_diverse(values: Ints, order: Ints, begin: int, end: int, counts: Ints, diversity: int) -> bool:
    """Whether no value is carried by more than 1/l of the rows."""
    most = 0
    for at in range(begin, end):
        value = values[order[at]]
        counts[value] += 1
        most = max(most, counts[value])
    for at in range(begin, end):
        counts[values[order[at]]] = 0
    return most * diversity <= end - begin
