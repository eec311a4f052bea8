"""How many of some combinations differ in every column, two by two."""

import numpy as np

from anonymize.arrays import Ints, Words
from anonymize.kernels.compiled import compiled

TRIED = 2000
"""Combinations of three columns and more that are tried before the most found so far counts."""


@compiled()
def most_differing(sets: Words, part: Ints, parts: int, enough: int) -> Ints:
    """Of each set, the largest number of combinations that differ in every column.

    With two columns it is the size of a largest matching, by augmenting paths. With more it is the most that
    a search found, which stops at what is enough: never too many.

    Parameters
    ----------
    sets
        uint64[N, W]: sets of combinations, a bit for each.
    part
        int64[V, C]: the values of each combination, numbered throughout all columns.
    parts
        How many numbers there are.
    enough
        From which number on no more are searched for, with three columns and more.

    Returns
    -------
    int64[N]
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
    return found


@compiled()
def _matching(members: Ints, part: Ints, parts: int) -> int:
    """The size of a largest matching: values are vertices, combinations are edges."""
    partner = np.full(parts, -1, np.int64)
    came_from = np.empty(parts, np.int64)
    waiting = np.empty(parts, np.int64)
    matched = 0
    for start in members:
        if partner[part[start, 0]] >= 0:
            continue
        came_from[:] = -1
        waiting[0], first, last = part[start, 0], 0, 1
        end = -1
        while first < last and end < 0:
            here = waiting[first]
            first += 1
            for v in members:
                there = part[v, 1]
                if part[v, 0] != here or came_from[there] >= 0:
                    continue
                came_from[there] = here
                if partner[there] < 0:
                    end = there
                    break
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
