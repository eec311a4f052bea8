"""Split people top-down on their quasi-identifiers, as long as every member's limits hold in both parts.

Wong et al., Preserving individual privacy in serial data publishing, section 5.2: a group that breaks a limit has
no partition that keeps it, so a part that fails need not be split further.
"""

import numpy as np
from numba import njit

CUTS = 48
"""So many places to cut an attribute are tried in a large set of people, and all of them in a small one."""


@njit(cache=True, nogil=True)
def partition(codes, narrowest, first, last, link_value, link_share, largest, value, values, start, stop, order, group):
    """Write the group of everybody in `order[:, start:stop]` into `group`: the position in `order` it begins at.

    The cut with the smallest sum, over both parts, of people times interval lengths is taken among those where both
    parts hold. Cuts lie between different codes, and look at quasi-identifiers alone: values decide whether a
    cut holds, never on which side of it a person is.

    Parameters
    ----------
    codes
        float64[N, d]: quasi-identifiers as shares of their domains.
    narrowest
        float64[d]: intervals are published no narrower than this, so narrower ones are no gain.
    first, last, link_value, link_share, largest, value
        As for `admit`.
    values
        How many values there are.
    start, stop
        The people to split; they hold as one group.
    order
        int32[d, N]: the people, by each attribute. Is reordered.
    group
        int32[N]: the result.
    """
    attributes = codes.shape[1]
    counts = np.zeros(values, np.int64)
    least = np.empty(values, np.float64)
    places = np.empty(stop - start + 1, np.int64)
    is_left = np.zeros(len(group), np.bool_)
    kept = np.empty(stop - start, np.int32)
    stack = [(start, stop)]
    while stack:
        begin, end = stack.pop()
        size = end - begin
        tightest, loosest = _read(
            order[0, begin:end], first, last, link_value, link_share, largest, value, counts, least
        )
        best, best_a, best_k = _length(codes, narrowest, order[0, begin:end]) * size * (1 - 1e-12), -1, 0
        # No group smaller than the largest ratio of a member holds: what can't be halved need not be tried.
        smallest = max(1, int(np.ceil(1 / loosest - 1e-9)))
        if size >= 2 * smallest and best > 0:
            best, best_a, best_k = _search(
                codes, narrowest, first, last, link_value, link_share, largest, value, order, begin, end,
                smallest, counts, least, tightest, best, places, False,
            )  # fmt: skip
            if best_a < 0:
                best, best_a, best_k = _search(
                    codes, narrowest, first, last, link_value, link_share, largest, value, order, begin, end,
                    smallest, counts, least, tightest, best, places, True,
                )  # fmt: skip
        if best_a < 0:
            for i in range(begin, end):
                group[order[0, i]] = begin
            continue
        for i in range(begin, end):
            is_left[order[best_a, i]] = i < best_k
        for a in range(attributes):
            if a != best_a:
                at, rest = begin, 0
                for i in range(begin, end):
                    person = order[a, i]
                    if is_left[person]:
                        order[a, at] = person
                        at += 1
                    else:
                        kept[rest] = person
                        rest += 1
                order[a, at:end] = kept[:rest]
        stack.append((begin, best_k))
        stack.append((best_k, end))


@njit(cache=True, nogil=True)
def _read(people, first, last, link_value, link_share, largest, value, counts, least):
    """Count the values of some people, and what all of them admit; return the extremes of `largest`."""
    counts[:] = 0
    least[:] = 2.0
    tightest, loosest = 2.0, 0.0
    for person in people:
        counts[value[person]] += 1
        tightest = min(tightest, largest[person])
        loosest = max(loosest, largest[person])
        for link in range(first[person], last[person]):
            v = link_value[link]
            least[v] = min(least[v], link_share[link])
    return tightest, loosest


@njit(cache=True, nogil=True)
def _length(codes, narrowest, people):
    """The sum of the interval lengths of some people, each at least the narrowest there may be."""
    total = 0.0
    for c in range(codes.shape[1]):
        low, high = np.inf, -np.inf
        for person in people:
            low, high = min(low, codes[person, c]), max(high, codes[person, c])
        total += max(high - low, narrowest[c])
    return total


@njit(cache=True, nogil=True)
def _search(
    codes, narrowest, first, last, link_value, link_share, largest, value, order, begin, end,
    smallest, counts, least, tightest, best, places, exactly,
):  # fmt: skip
    """The best cut that holds: its cost, its attribute (-1 if there is none) and its position.

    With the limits of all people of both parts for each part, which is fast and may miss cuts; or `exactly`.
    """
    attributes, values = codes.shape[1], len(counts)
    best_a, best_k = -1, 0
    for a in range(attributes):
        number = _places(codes[:, a], order[a], begin, end, smallest, places)
        if number == 0:
            continue
        costs = _costs(codes, narrowest, order[a], begin, end, places, number)
        if costs.min() >= best:
            continue
        if exactly:
            left, right = _limits(
                order[a], begin, end, places, number, first, last, link_value, link_share, largest, values
            )
        within = np.zeros(values, np.int64)
        at = begin
        for j in range(number):
            k = places[j]
            while at < k:
                within[value[order[a, at]]] += 1
                at += 1
            if costs[j] >= best:
                continue
            one, other = k - begin, end - k
            holds = True
            for v in range(values):
                inside, outside = within[v], counts[v] - within[v]
                if exactly:
                    mine, theirs = min(left[j, v], left[j, values]), min(right[j, v], right[j, values])
                else:
                    mine = theirs = min(least[v], tightest)
                if inside > mine * one or outside > theirs * other:
                    holds = False
                    break
            if holds:
                best, best_a, best_k = costs[j], a, k
    return best, best_a, best_k


@njit(cache=True, nogil=True)
def _places(code, order, begin, end, smallest, places):
    """Where the people, ordered by an attribute, can be cut: between two codes, leaving enough on both sides."""
    number = 0
    for k in range(begin + smallest, end - smallest + 1):
        if code[order[k - 1]] < code[order[k]]:
            places[number] = k
            number += 1
    if number <= CUTS:
        return number
    # Of too many, those nearest to equal parts: their positions ascend, so each is found going on from the last.
    at, chosen = 0, 0
    for j in range(1, CUTS + 1):
        target = begin + (end - begin) * j // (CUTS + 1)
        while at < number - 1 and places[at] < target:
            at += 1
        if chosen == 0 or places[at] > places[chosen - 1]:
            places[chosen] = places[at]
            chosen += 1
    return chosen


@njit(cache=True, nogil=True)
def _costs(codes, narrowest, order, begin, end, places, number):
    """float64[number]: for each cut, people times interval lengths, over both parts."""
    attributes = codes.shape[1]
    costs = np.zeros(number, np.float64)
    low, high = np.full(attributes, np.inf), np.full(attributes, -np.inf)
    at = begin
    for j in range(number):
        while at < places[j]:
            for c in range(attributes):
                low[c], high[c] = min(low[c], codes[order[at], c]), max(high[c], codes[order[at], c])
            at += 1
        for c in range(attributes):
            costs[j] += (places[j] - begin) * max(high[c] - low[c], narrowest[c])
    low[:], high[:] = np.inf, -np.inf
    at = end
    for j in range(number - 1, -1, -1):
        while at > places[j]:
            at -= 1
            for c in range(attributes):
                low[c], high[c] = min(low[c], codes[order[at], c]), max(high[c], codes[order[at], c])
        for c in range(attributes):
            costs[j] += (end - places[j]) * max(high[c] - low[c], narrowest[c])
    return costs


@njit(cache=True, nogil=True)
def _limits(order, begin, end, places, number, first, last, link_value, link_share, largest, values):
    """float64[number, V + 1] twice: what all to the left, and all to the right, of each cut admit of each value."""
    left = np.full((number, values + 1), 2.0)
    right = np.full((number, values + 1), 2.0)
    piece = 0
    for i in range(begin, end):
        while piece < number and i >= places[piece]:
            piece += 1
        person = order[i]
        # A piece between two cuts is to the left of the one after it, and to the right of the one before.
        for side in range(2):
            if (side == 0 and piece == number) or (side == 1 and piece == 0):
                continue
            limits = left[piece] if side == 0 else right[piece - 1]
            limits[values] = min(limits[values], largest[person])
            for link in range(first[person], last[person]):
                v = link_value[link]
                limits[v] = min(limits[v], link_share[link])
    for j in range(1, number):
        for v in range(values + 1):
            left[j, v] = min(left[j, v], left[j - 1, v])
            right[number - 1 - j, v] = min(right[number - 1 - j, v], right[number - j, v])
    return left, right


@njit(cache=True)
def read_levels(level, levels, first, last, link_value, link_share, largest, value, values):
    """int64[levels, V], float64[levels, V + 1]: tuples of each value in each level, and what all in it admit.

    The last column is for values without a link.

    Parameters
    ----------
    level
        int64[N]: the level of each person, below `levels`.
    first, last, link_value, link_share, largest, value, values
        As for `partition`.
    """
    counts = np.zeros((levels, values), np.int64)
    least = np.full((levels, values + 1), 2.0)
    for person in range(len(level)):
        at = level[person]
        counts[at, value[person]] += 1
        least[at, values] = min(least[at, values], largest[person])
        for link in range(first[person], last[person]):
            v = link_value[link]
            least[at, v] = min(least[at, v], link_share[link])
    return counts, least
