"""Split people top-down on their quasi-identifiers, as long as every member's limits hold in both parts.

Wong et al., Preserving individual privacy in serial data publishing, section 5.2: a group that breaks a limit
has no partition that keeps it, so a part that fails need not be split further.
"""

from typing import NamedTuple

import numpy as np

from republish.anonymize.arrays import Floats, Ints
from republish.anonymize.kernels.accounts import Accounts
from republish.anonymize.kernels.compiled import compiled
from republish.anonymize.kernels.stable import stable_partition
from republish.anonymize.rounding import FEW_STEPS, MANY_STEPS

CUTS = 48
"""So many places to cut an attribute are tried in a large set of people, and all of them in a small one."""


class Table(NamedTuple):
    """The people of T(n), and what they admit. N people, d quasi-identifiers."""

    codes: Floats
    """float64[N, d]: quasi-identifiers as shares of their domains, or EMPTY."""
    narrowest: Floats
    """float64[d]: intervals are published no narrower than this, so narrower ones are no gain."""
    accounts: Accounts
    value: Ints
    """int64[N]: the person's own value."""
    values: int
    """How many values there are."""


@compiled()
def partition(table: Table, start: int, stop: int, order: Ints, group: Ints) -> None:
    """Write the group of everybody in `order[:, start:stop]`, who hold as one group, into `group`.

    A group is known by the position in `order` it begins at. The order (int32[d, N]), that of the people by
    each attribute, is changed.

    The cut with the smallest sum, over both parts, of people times interval lengths is taken among those
    where both parts hold. Cuts lie between different codes, and look at quasi-identifiers alone: values
    decide whether a cut holds, never on which side of it a person is.
    """
    attributes = table.codes.shape[1]
    places = np.empty((attributes, stop - start + 1), np.int64)
    is_left = np.zeros(len(group), np.bool_)
    kept = np.empty(stop - start, np.int32)
    stack = [(start, stop)]
    # What everybody in a part admits: at least what everybody in the part it was cut from admits.
    limits: list[Floats] = [np.zeros(table.values + 1)]
    while stack:
        begin, end = stack.pop()
        least = limits.pop()
        best_a, best_k = -1, 0
        cost = _length(table, order[0, begin:end]) * (end - begin) * (1 - FEW_STEPS)
        if cost > 0:
            counts = _count(order[0, begin:end], table)
            found = _search(table, order, begin, end, counts, least, least, cost, places)
            best_a, best_k = found[0], found[1]
            if best_a < 0:
                least, most = _read(order[0, begin:end], table)
                found = _search(table, order, begin, end, counts, least, most, cost, places)
                best_a, best_k = found[0], found[1]
                if best_a < 0 and found[2]:
                    best_a, best_k = _search_exactly(table, order, begin, end, counts, most, cost, places)
        if best_a < 0:
            for i in range(begin, end):
                group[order[0, i]] = begin
            continue
        for i in range(begin, end):
            is_left[order[best_a, i]] = i < best_k
        for a in range(attributes):
            if a != best_a:
                stable_partition(order[a], begin, end, is_left, kept)
        stack.append((begin, best_k))
        limits.append(least)
        stack.append((best_k, end))
        limits.append(least)


@compiled()
def _count(people: Ints, table: Table) -> Ints:
    """int64[V]: how many of some people have each value."""
    counts = np.zeros(table.values, np.int64)
    for person in people:
        counts[table.value[person]] += 1
    return counts


@compiled()
def _read(people: Ints, table: Table) -> tuple[Floats, Floats]:
    """float64[V + 1] twice: the smallest, and the largest, share of each value that somebody admits.

    The last entries are for values without a link.
    """
    accounts, values = table.accounts, table.values
    least, most = np.full(values + 1, 2.0), np.zeros(values + 1)
    links = np.zeros(values, np.int64)
    for person in people:
        least[values] = min(least[values], accounts.largest[person])
        most[values] = max(most[values], accounts.largest[person])
        for link in range(accounts.first[person], accounts.last[person]):
            v, share = accounts.link_value[link], accounts.link_share[link]
            links[v] += 1
            least[v], most[v] = min(least[v], share), max(most[v], share)
    for v in range(values):
        least[v] = min(least[v], least[values])
        if links[v] < len(people):
            most[v] = most[values]
    return least, most


@compiled()
def _length(table: Table, people: Ints) -> float:
    """The sum of the interval lengths of some people, each at least the narrowest there may be."""
    total = 0.0
    for c in range(table.codes.shape[1]):
        low, high = np.inf, -np.inf
        for person in people:
            code = table.codes[person, c]
            if code >= 0:
                low, high = min(low, code), max(high, code)
        total += _length_of(low, high, table.narrowest[c])
    return total


@compiled(inline="always")
def _length_of(low: float, high: float, narrowest: float) -> float:
    """The length of an interval: none where nobody has a value."""
    return max(high - low, narrowest) if high >= low else 0.0


@compiled()
def _search(
    table: Table,
    order: Ints,
    begin: int,
    end: int,
    counts: Ints,
    least: Floats,
    most: Floats,
    best: float,
    places: Ints,
) -> tuple[int, int, bool]:
    """The best cut of which both parts hold even if everybody in them admits no more than `least`.

    Returns
    -------
    int
        Its attribute, -1 if there is none.
    int
        Its position.
    bool
        Whether there is a cut of which both parts might hold, as far as `most` tells.
    """
    values = len(counts)
    best_a, best_k, is_plausible = -1, 0, False
    smallest = _smallest(most[values], end - begin)
    for a in range(table.codes.shape[1]):
        number = _places(table.codes[:, a], order[a], begin, end, smallest, places[a])
        if number == 0:
            continue
        costs = _costs(table, order[a], begin, end, places[a], number)
        within = np.zeros(values, np.int64)
        at = begin
        for j in range(number):
            k = places[a, j]
            while at < k:
                within[table.value[order[a, at]]] += 1
                at += 1
            if costs[j] < best:
                is_plausible = is_plausible or _hold(within, counts, most, most, k - begin, end - k)
                if _hold(within, counts, least, least, k - begin, end - k):
                    best, best_a, best_k = costs[j], a, k
    return best_a, best_k, is_plausible


@compiled()
def _search_exactly(
    table: Table, order: Ints, begin: int, end: int, counts: Ints, most: Floats, best: float, places: Ints
) -> tuple[int, int]:
    """The best cut of which both parts hold: its attribute, -1 if there is none, and its position."""
    values = len(counts)
    best_a, best_k = -1, 0
    smallest = _smallest(most[values], end - begin)
    for a in range(table.codes.shape[1]):
        number = _places(table.codes[:, a], order[a], begin, end, smallest, places[a])
        if number == 0:
            continue
        costs = _costs(table, order[a], begin, end, places[a], number)
        if costs.min() >= best:
            continue
        left, right = _limits(table, order[a], begin, end, places[a], number)
        within = np.zeros(values, np.int64)
        at = begin
        for j in range(number):
            k = places[a, j]
            while at < k:
                within[table.value[order[a, at]]] += 1
                at += 1
            if costs[j] < best and _hold(within, counts, left[j], right[j], k - begin, end - k):
                best, best_a, best_k = costs[j], a, k
    return best_a, best_k


@compiled(inline="always")
def _smallest(loosest: float, size: int) -> int:
    """No part smaller than the largest ratio that one of its members needs holds."""
    return size if loosest * size < 1 else max(1, int(np.ceil(1 / loosest - MANY_STEPS)))


@compiled()
def _hold(within: Ints, counts: Ints, left: Floats, right: Floats, one: int, other: int) -> bool:
    """Whether both parts of a cut, of sizes `one` and `other`, hold."""
    for v in range(len(counts)):
        if within[v] > left[v] * one or counts[v] - within[v] > right[v] * other:
            return False
    return True


@compiled()
def _places(code: Floats, order: Ints, begin: int, end: int, smallest: int, places: Ints) -> int:
    """List places to cut an attribute's order: between two codes, with enough people on both sides."""
    number = 0
    for k in range(begin + smallest, end - smallest + 1):
        if code[order[k - 1]] < code[order[k]]:
            places[number] = k
            number += 1
    if number <= CUTS:
        return number
    # Of too many, those nearest to equal parts, in one walk.
    at, chosen = 0, 0
    for j in range(1, CUTS + 1):
        target = begin + (end - begin) * j // (CUTS + 1)
        while at < number - 1 and places[at] < target:
            at += 1
        if chosen == 0 or places[at] > places[chosen - 1]:
            places[chosen] = places[at]
            chosen += 1
    return chosen


@compiled()
def _costs(table: Table, order: Ints, begin: int, end: int, places: Ints, number: int) -> Floats:
    """float64[number]: for each cut, people times interval lengths, over both parts."""
    codes, narrowest, attributes = table.codes, table.narrowest, table.codes.shape[1]
    costs = np.zeros(number, np.float64)
    low, high = np.full(attributes, np.inf), np.full(attributes, -np.inf)
    at = begin
    for j in range(number):
        while at < places[j]:
            _widen(low, high, codes[order[at]])
            at += 1
        for c in range(attributes):
            costs[j] += (places[j] - begin) * _length_of(low[c], high[c], narrowest[c])
    low[:], high[:] = np.inf, -np.inf
    at = end
    for j in range(number - 1, -1, -1):
        while at > places[j]:
            at -= 1
            _widen(low, high, codes[order[at]])
        for c in range(attributes):
            costs[j] += (end - places[j]) * _length_of(low[c], high[c], narrowest[c])
    return costs


@compiled(inline="always")
def _widen(low: Floats, high: Floats, codes: Floats) -> None:
    """Widen intervals to cover a person."""
    for c in range(len(codes)):
        if codes[c] >= 0:
            low[c], high[c] = min(low[c], codes[c]), max(high[c], codes[c])


@compiled()
def _limits(
    table: Table, order: Ints, begin: int, end: int, places: Ints, number: int
) -> tuple[Floats, Floats]:
    """float64[number, V] twice: what everybody left, and right, of each cut admits of each value."""
    accounts, values = table.accounts, table.values
    pieces = np.full((number + 1, values + 1), 2.0)
    piece = 0
    for i in range(begin, end):
        while piece < number and i >= places[piece]:
            piece += 1
        person = order[i]
        pieces[piece, values] = min(pieces[piece, values], accounts.largest[person])
        for link in range(accounts.first[person], accounts.last[person]):
            v = accounts.link_value[link]
            pieces[piece, v] = min(pieces[piece, v], accounts.link_share[link])
    left, right = np.empty((number, values)), np.empty((number, values))
    for v in range(values):
        for j in range(number + 1):
            pieces[j, v] = min(pieces[j, v], pieces[j, values])
        lowest = 2.0
        for j in range(number):
            lowest = min(lowest, pieces[j, v])
            left[j, v] = lowest
        lowest = 2.0
        for j in range(number - 1, -1, -1):
            lowest = min(lowest, pieces[j + 1, v])
            right[j, v] = lowest
    return left, right


@compiled()
def read_levels(
    level: Ints, levels: int, accounts: Accounts, value: Ints, values: int
) -> tuple[Ints, Floats]:
    """int64[levels, V], float64[levels, V + 1]: tuples of each value in each level, and what all in it admit.

    The last column is for values without a link. Everybody has a level below `levels`.
    """
    counts = np.zeros((levels, values), np.int64)
    least = np.full((levels, values + 1), 2.0)
    for person in range(len(level)):
        at = level[person]
        counts[at, value[person]] += 1
        least[at, values] = min(least[at, values], accounts.largest[person])
        for link in range(accounts.first[person], accounts.last[person]):
            v = accounts.link_value[link]
            least[at, v] = min(least[at, v], accounts.link_share[link])
    return counts, least
