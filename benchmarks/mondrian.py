"""The baseline that fails: l-diverse Mondrian, each release anonymized by itself.

In every group at most 1/l of the tuples share a sensitive value. Nothing else is promised, and nothing is
remembered from one release to the next.
"""

from __future__ import annotations

import numba
import numpy as np
import polars as pl

from anonymize.codes import code_domain
from anonymize.contract import Contract
from anonymize.formats.published import Published, knowledge_table


def mondrian(people: pl.DataFrame, contract: Contract, diversity: int) -> Published:
    """An l-diverse generalization of a snapshot, no counterfeits.

    A group is cut at the median of its widest quasi-identifier (as a share of the domain), or of the next
    if that leaves a part that isn't l-diverse, until no cut is left.

    Parameters
    ----------
    people
        T(n): `person`, `qi_0`, … in their own types, `value`.
    contract
        Quasi-identifiers and sensitive attribute; its principle is not looked at.
    diversity
        l: no value is carried by more than 1/l of a group.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan, Mondrian multidimensional k-anonymity, ICDE 2006; as used by Xiao and
    Tao, m-Invariance, SIGMOD 2007, section 5.1.
    """
    people = knowledge_table(people, contract)
    names = [column for column, _ in contract.attributes()]
    domains = np.array([code_domain(qi) for qi in contract.quasi_identifiers], dtype=float)
    matrix = np.ascontiguousarray(people.select(pl.col(names).cast(pl.Float64)).to_numpy())
    widths = np.maximum(domains[:, 1] - domains[:, 0], 1)
    values = people["value"].rank("dense").cast(pl.Int64).to_numpy() - 1
    group = partition(matrix, widths, values, diversity)
    tuples = people.with_columns(pl.Series("group_id", group))
    bounds = [
        bound
        for name in names
        for bound in (pl.col(name).min().alias(f"{name}_low"), pl.col(name).max().alias(f"{name}_high"))
    ]
    return Published(
        tuples.group_by("group_id").agg(bounds).sort("group_id"),
        tuples.group_by("group_id", "value").agg(pl.len().cast(pl.Int64).alias("tuples")),
        pl.DataFrame(schema={"group_id": pl.Int64, "count": pl.Int64}),
    )


@numba.njit(cache=True)
def partition(matrix, widths, values, diversity):
    """int64[n]: the group of every row.

    Parameters
    ----------
    matrix : float64[n, d]
    widths : float64[d]
        Of the domains.
    values : int64[n]
        Sensitive values, 0, 1, ….
    diversity : int
    """
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
        for a in np.argsort(-spans):
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


@numba.njit(cache=True)
def _cut(matrix, order, begin, end, attribute):
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


@numba.njit(cache=True)
def _is_diverse(values, order, begin, end, counts, diversity):
    """Whether no value is carried by more than 1/l of the rows."""
    most = 0
    for at in range(begin, end):
        value = values[order[at]]
        counts[value] += 1
        most = max(most, counts[value])
    for at in range(begin, end):
        counts[values[order[at]]] = 0
    return most * diversity <= end - begin
