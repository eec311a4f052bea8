"""Shorten intervals: neighbouring groups of a bucket exchange people of the same value."""

import numpy as np

from republish.anonymize.arrays import Floats, Ints, Words
from republish.anonymize.kernels.compiled import compiled
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
        float64[size * length, d]: quasi-identifiers normalised to [0, 1], or EMPTY; list after list,
        one per value of the signature.
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
    low, high = np.empty((attributes, BLOCK)), np.empty((attributes, BLOCK))
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
                _exchange(values, member, changed, order[begin:end], low, high, cost, solution, people)
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
    """The middle of every group's interval on every attribute; 0.5 where nobody has a value."""
    for g in range(member.shape[1]):
        for a in range(values.shape[1]):
            low, high = np.inf, -np.inf
            for j in range(member.shape[0]):
                value = values[member[j, g], a]
                if value >= 0:
                    low = min(low, value)
                    high = max(high, value)
            centre[g, a] = 0.5 * (low + high) if high >= low else 0.5


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
            mean = total / n
            spread = max(squares / n - mean * mean, 0.0) * (1 + draw(state))
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
    cost: Floats,
    solution: Ints,
    people: Ints,
) -> None:
    """Deal the tuples of list `j` in some groups to these groups such that intervals grow least."""
    n = len(groups)
    if n < 2:
        return
    for i in range(n):
        people[i] = member[j, groups[i]]
    _look_at(values, member, j, groups, low, high)
    _add_up(values, people[:n], low, high, cost)
    now = 0.0
    for k in range(n):
        now += cost[k, k]
    if now <= FEW_STEPS:
        return
    assign_at_least_cost(cost, n, solution)
    best = 0.0
    for k in range(n):
        best += cost[k, solution[k]]
    if best >= now - FEW_STEPS:
        return
    for k in range(n):
        member[j, groups[solution[k]]] = people[k]


@compiled()
def _look_at(values: Floats, member: Ints, j: int, groups: Ints, low: Floats, high: Floats) -> None:
    """Write the intervals of the tuples of all lists but `j`, float64[d, BLOCK], in a column for each group.

    They are infinite where none of these tuples has a value.
    """
    for i in range(len(groups)):
        low[:, i], high[:, i] = np.inf, -np.inf
        for other in range(member.shape[0]):
            if other == j:
                continue
            row = member[other, groups[i]]
            for a in range(values.shape[1]):
                value = values[row, a]
                if value >= 0:
                    low[a, i] = min(low[a, i], value)
                    high[a, i] = max(high[a, i], value)
        for a in range(values.shape[1]):
            if high[a, i] < low[a, i]:
                low[a, i], high[a, i] = -np.inf, np.inf


@compiled()
def _add_up(values: Floats, people: Ints, low: Floats, high: Floats, cost: Floats) -> None:
    """Write the growth of each group's intervals, a column each, if each of n tuples joins it, a row each.

    The inner loops index whole arrays, not slices of them, so that the compiler can vectorize them.
    """
    n = len(people)
    for k in range(n):
        row = people[k]
        for i in range(n):
            cost[k, i] = 0.0
        for a in range(values.shape[1]):
            value = values[row, a]
            if value >= 0:
                for i in range(n):
                    cost[k, i] += max(low[a, i] - value, 0.0) + max(value - high[a, i], 0.0)


@compiled()
def assign_at_least_cost(cost: Floats, n: int, solution: Ints) -> None:
    """Write the column that each of the first n rows gets, one of the first n, at least cost.

    The Hungarian algorithm by shortest augmenting paths, O(n^3). Every step looks at all columns, and takes
    those that a path has reached as infinitely far, so that the compiler can vectorize the loop.
    """
    by_row, by_column = np.zeros(n), np.zeros(n)
    row_of = np.full(n, -1, np.int64)
    way, reached = np.empty(n, np.int64), np.empty(n, np.int64)
    least, is_reached = np.empty(n), np.empty(n)
    for row in range(n):
        least[:], is_reached[:] = np.inf, 0.0
        at, column, count = row, -1, 0
        while True:
            of_row, of_column = by_row[at], cost[at]
            for j in range(n):
                reduced = of_column[j] - of_row - by_column[j] + is_reached[j]
                is_less = reduced < least[j]
                least[j] = reduced if is_less else least[j]
                way[j] = column if is_less else way[j]
            delta, following = np.inf, 0
            for j in range(n):
                if least[j] < delta:
                    delta, following = least[j], j
            by_row[row] += delta
            for j in reached[:count]:
                by_row[row_of[j]] += delta
                by_column[j] -= delta
            least -= delta
            column = following
            if row_of[column] < 0:
                break
            at = row_of[column]
            least[column] = is_reached[column] = np.inf
            reached[count] = column
            count += 1
        while column >= 0:
            before = way[column]
            row_of[column] = row if before < 0 else row_of[before]
            column = before
    for j in range(n):
        solution[row_of[j]] = j
