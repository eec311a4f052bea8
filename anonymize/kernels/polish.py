"""Shorten intervals: neighbouring groups of a bucket exchange people of the same value."""

import numpy as np

from republish.anonymize.arrays import Bools, Floats, Ints, Words
from republish.anonymize.kernels.compiled import compiled
from republish.anonymize.kernels.split import EMPTY, LACKING, MIXED
from republish.anonymize.kernels.splitmix import STEP, mixed_number
from republish.anonymize.rounding import FEW_STEPS

BLOCK = 32
"""Groups that exchange people at a time. Twice as many cost four times as much and gain 1 %."""


@compiled()
def polish_bucket(values: Floats, size: int, group: Ints, passes: int, seed: int) -> None:
    """Improve the groups of one balanced bucket in place.

    In every pass the groups are put into the order of a random kd-tree over their centres. For each value in
    turn, the order is cut into blocks of neighbouring groups, and the tuples that carry the value in a block
    are dealt to its groups anew: the assignment problem, with the growth of the group's intervals as the
    cost. No step makes the sum of all interval lengths larger.

    All lists are treated alike: exchanging two values throughout a bucket leaves the probability of every
    grouping as it is. So the groups say nothing about which list belongs to which value.

    Parameters
    ----------
    values
        float64[size * length, d]: quasi-identifiers normalised to [0, 1], or EMPTY, or LACKING; list after
        list, one per value of the signature.
    group
        int32[size * length]: groups 0 … length - 1, each with one tuple of every list; is changed.
    passes
        How often every value is looked at.
    seed
        uint64: secret randomness of the trees, the blocks and the order of the lists.
    """
    tuples, attributes = values.shape
    length = tuples // size
    if length < 2 or passes == 0:
        return
    state = np.array([seed], np.uint64)
    member = np.empty((size, length), np.int32)
    for row in range(tuples):
        member[row // length, group[row]] = row
    centre = np.empty((length, attributes), np.float64)
    lists: Ints = np.arange(size)
    low = np.empty((BLOCK, attributes), np.float64)
    high = np.empty((BLOCK, attributes), np.float64)
    lacks = np.empty((BLOCK, attributes), np.bool_)
    cost = np.empty((BLOCK, BLOCK), np.float64)
    solution = np.empty(BLOCK, np.int64)
    people = np.empty(BLOCK, np.int32)
    for _ in range(passes):
        _centres(values, member, centre)
        order = kd_order(centre, state)
        for j in range(size - 1, 0, -1):
            k = int(draw(state) * (j + 1))
            lists[j], lists[k] = lists[k], lists[j]
        for changed in lists:
            begin = 0
            end = min(length, BLOCK // 2 + int(draw(state) * (BLOCK // 2 + 1)))
            while begin < length:
                _exchange(values, member, changed, order[begin:end], low, high, lacks, cost, solution, people)
                begin, end = end, min(length, end + BLOCK)
    for j in range(size):
        for g in range(length):
            group[member[j, g]] = g


@compiled()
def draw(state: Words) -> float:
    """A number in [0, 1) from a state, uint64[1], that it moves on (splitmix64)."""
    state[0] += STEP
    return (mixed_number(state[0]) >> np.uint64(11)) * 2.0**-53


@compiled()
def _centres(values: Floats, member: Ints, centre: Floats) -> None:
    """The middle of every group's interval on every attribute; 0.5 where all are counterfeits.

    Groups in which everybody lacks the value are side by side, away from others.
    """
    for g in range(member.shape[1]):
        for a in range(values.shape[1]):
            low, high, nowhere = np.inf, -np.inf, 0.5
            for j in range(member.shape[0]):
                value = values[member[j, g], a]
                if value >= 0:
                    low = min(low, value)
                    high = max(high, value)
                elif value == LACKING:
                    nowhere = -0.5
            centre[g, a] = 0.5 * (low + high) if high >= low else nowhere


@compiled()
def kd_order(points: Floats, state: Words) -> Ints:
    """int64[N]: points, float64[N, d], in the order of the leaves of a random kd-tree."""
    number, attributes = points.shape
    order = np.arange(number)
    stack = [(0, number)]
    while stack:
        start, stop = stack.pop()
        n = stop - start
        if n <= 8:
            continue
        widest, by = -1.0, 0
        for a in range(attributes):
            total = squares = 0.0
            for i in range(start, stop):
                x = points[order[i], a]
                total += x
                squares += x * x
            spread = max(squares / n - (total / n) ** 2, 0.0) * (1 + draw(state))
            if spread > widest:
                widest, by = spread, a
        along = np.empty(n, np.float64)
        for i in range(n):
            along[i] = points[order[start + i], by]
        order[start:stop] = order[start:stop][np.argsort(along, kind="mergesort")]
        middle = start + int(n * (0.35 + 0.3 * draw(state)))
        stack.append((start, middle))
        stack.append((middle, stop))
    return order


@compiled()
def _exchange(
    values: Floats,
    member: Ints,
    j: int,
    groups: Ints,
    low: Floats,
    high: Floats,
    lacks: Bools,
    cost: Floats,
    solution: Ints,
    people: Ints,
) -> None:
    """Deal the tuples of list `j` in some groups to these groups such that intervals grow least."""
    attributes, n = values.shape[1], len(groups)
    if n < 2:
        return
    for i in range(n):
        people[i] = member[j, groups[i]]
        for a in range(attributes):
            low[i, a], high[i, a], lacks[i, a] = np.inf, -np.inf, False
        for other in range(member.shape[0]):
            if other == j:
                continue
            row = member[other, groups[i]]
            if values[row, 0] == EMPTY:
                continue
            for a in range(attributes):
                value = values[row, a]
                if value == LACKING:
                    lacks[i, a] = True
                else:
                    low[i, a] = min(low[i, a], value)
                    high[i, a] = max(high[i, a], value)
    now = 0.0
    for i in range(n):
        now += _growth(values, people[i], low, high, lacks, i)
    if now <= FEW_STEPS:
        return
    for k in range(n):
        for i in range(n):
            cost[k, i] = _growth(values, people[k], low, high, lacks, i)
    assign_at_least_cost(cost, n, solution)
    best = 0.0
    for k in range(n):
        best += cost[k, solution[k]]
    if best >= now - FEW_STEPS:
        return
    for k in range(n):
        member[j, groups[solution[k]]] = people[k]


@compiled(inline="always")
def _growth(values: Floats, row: int, low: Floats, high: Floats, lacks: Bools, i: int) -> float:
    """The growth of the i-th group's intervals if a tuple joins."""
    growth = 0.0
    if values[row, 0] != EMPTY:
        for a in range(values.shape[1]):
            value = values[row, a]
            is_known = high[i, a] >= low[i, a]
            if value == LACKING:
                if is_known and not lacks[i, a]:
                    growth += MIXED
            elif is_known:
                growth += max(low[i, a] - value, 0.0) + max(value - high[i, a], 0.0)
            elif lacks[i, a]:
                growth += MIXED
    return growth


@compiled()
def assign_at_least_cost(cost: Floats, n: int, solution: Ints) -> None:
    """Write the column that each of the first n rows gets, one of the first n, at least cost.

    The Hungarian algorithm by shortest augmenting paths, O(n^3).
    """
    by_row = np.zeros(n + 1)
    by_column = np.zeros(n + 1)
    row_of = np.zeros(n + 1, np.int64)
    way = np.zeros(n + 1, np.int64)
    least = np.empty(n + 1)
    used = np.empty(n + 1, np.bool_)
    for row in range(1, n + 1):
        row_of[0] = row
        column = 0
        least[:] = np.inf
        used[:] = False
        while True:
            used[column] = True
            at, delta, following = row_of[column], np.inf, 0
            for j in range(1, n + 1):
                if not used[j]:
                    reduced = cost[at - 1, j - 1] - by_row[at] - by_column[j]
                    if reduced < least[j]:
                        least[j] = reduced
                        way[j] = column
                    if least[j] < delta:
                        delta, following = least[j], j
            for j in range(n + 1):
                if used[j]:
                    by_row[row_of[j]] += delta
                    by_column[j] -= delta
                else:
                    least[j] -= delta
            column = following
            if row_of[column] == 0:
                break
        while column:
            row_of[column] = row_of[way[column]]
            column = way[column]
    for j in range(1, n + 1):
        solution[row_of[j] - 1] = j - 1
