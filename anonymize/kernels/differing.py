"""The number of some combinations that differ in every column, two by two."""

import numpy as np

from republish.anonymize.arrays import Bools, Ints, Words
from republish.anonymize.kernels.compiled import compiled

TRIED = 2000
"""Combinations of three columns and more that are tried before the most found so far counts."""


@compiled()
def most_differing(sets: Words, part: Ints, parts: int, enough: int) -> Ints:
    """Find the largest number of combinations of each set that differ in every column: int64[N].

    With two columns it is the size of a largest matching, by augmenting paths. With more it is the most that
    two searches found, which stop at what is enough: never too many. Sets (uint64[N, W]) have a bit for each
    combination, whose values (int64[V, C]) are numbered throughout all columns.
    """
    found = np.zeros(len(sets), np.int64)
    members = np.empty(len(part), np.int64)
    for row in range(len(sets)):
        size = 0
        for v in range(len(part)):
            if (sets[row, v >> 6] >> np.uint64(v & 63)) & np.uint64(1):
                members[size] = v
                size += 1
        if part.shape[1] == 2:
            found[row] = _matching(members[:size], part, parts)
        else:
            found[row] = _search(members[:size], part, parts, enough)
            if found[row] < enough and _are_there(members[:size], part, parts, enough):
                found[row] = enough
    return found


@compiled()
def _matching(members: Ints, part: Ints, parts: int) -> int:
    """The size of a largest matching: values are vertices, combinations are edges."""
    partner = np.full(parts, -1, np.int64)
    came_from = np.empty(parts, np.int64)
    waiting = np.empty(parts, np.int64)
    last_edge = np.full(parts, -1, np.int64)
    edge_before = np.empty(len(members), np.int64)
    for edge in range(len(members)):
        here = part[members[edge], 0]
        edge_before[edge], last_edge[here] = last_edge[here], edge
    matched = 0
    for start in range(parts):  # where no path leads from a value to a free one, none will later
        came_from[:] = -1
        waiting[0], first, last = start, 0, 1
        end = -1
        while first < last and end < 0:
            here = waiting[first]
            first += 1
            edge = last_edge[here]
            while edge >= 0 and end < 0:
                there = part[members[edge], 1]
                edge = edge_before[edge]
                if came_from[there] >= 0:
                    continue
                came_from[there] = here
                if partner[there] < 0:
                    end = there
                else:
                    waiting[last] = partner[there]
                    last += 1
        if end >= 0:
            matched += 1
        while end >= 0:
            here = came_from[end]
            before = partner[here]
            partner[end], partner[here] = here, end
            end = before
    return matched


@compiled()
def _search(members: Ints, part: Ints, parts: int, enough: int) -> int:
    """The most combinations that a search finds, depth first: each is taken, then left out."""
    columns = part.shape[1]
    used = np.zeros(parts, np.bool_)
    chosen = np.empty(len(members) + 1, np.int64)
    depth, best, tried, at = 0, 0, 0, 0
    while True:
        while at < len(members):
            fits = depth + len(members) - at > best
            for c in range(columns):
                fits &= not used[part[members[at], c]]
            if fits:
                for c in range(columns):
                    used[part[members[at], c]] = True
                chosen[depth] = at
                depth += 1
                tried += 1
            at += 1
        best = max(best, depth)
        if best >= enough or tried >= TRIED or depth == 0:
            return best
        depth -= 1
        at = chosen[depth]
        for c in range(columns):
            used[part[members[at], c]] = False
        at += 1


@compiled()
def _are_there(members: Ints, part: Ints, parts: int, enough: int) -> bool:
    """Whether a search value by value finds enough: of the column with the fewest, each is taken or left out.

    The value that the fewest combinations can still bring comes first. Where a column has hardly more values
    than are to be found, that leaves little to try.
    """
    columns = part.shape[1]
    column, fewest = 0, parts + 1
    there = np.zeros(parts, np.bool_)
    for c in range(columns):
        there[:] = False
        there[part[members, c]] = True
        if there.sum() < fewest:
            column, fewest = c, there.sum()
    spare = fewest - enough
    if spare < 0:
        return False
    there[:] = False
    there[part[members, column]] = True  # the values that are open
    used = np.zeros(parts, np.bool_)
    value, chosen = np.full(fewest + 1, -1, np.int64), np.full(fewest + 1, -1, np.int64)
    following, left_out = np.zeros(fewest + 1, np.int64), np.zeros(fewest + 1, np.bool_)
    bring = np.empty(parts, np.int64)
    depth, taken, tried, entering = 0, 0, 0, True
    while tried < TRIED and taken < enough:
        if entering:
            bring[:] = 0
            for v in members:
                bring[part[v, column]] += _is_free(part, v, used)
            value[depth] = -1
            for d in range(parts):
                if there[d] and (value[depth] < 0 or bring[d] < bring[value[depth]]):
                    value[depth] = d
            there[value[depth]] = False
            chosen[depth], following[depth], left_out[depth], entering = -1, 0, False, False
        if chosen[depth] >= 0:
            used[part[chosen[depth]]] = False
            taken -= 1
            chosen[depth] = -1
        for i in range(following[depth], len(members)):
            following[depth] = i + 1
            if part[members[i], column] == value[depth] and _is_free(part, members[i], used):
                chosen[depth] = members[i]
                break
        if chosen[depth] >= 0:
            used[part[chosen[depth]]] = True
            taken, tried, depth, entering = taken + 1, tried + 1, depth + 1, True
        elif not left_out[depth] and spare > 0:
            left_out[depth] = True
            spare, tried, depth, entering = spare - 1, tried + 1, depth + 1, True
        else:
            spare += left_out[depth]
            there[value[depth]] = True
            depth -= 1
            if depth < 0:
                return False
    return taken >= enough


@compiled(inline="always")
def _is_free(part: Ints, v: int, used: Bools) -> bool:
    """Whether no value of a combination is used."""
    free = True
    for c in range(part.shape[1]):
        free &= not used[part[v, c]]
    return free
