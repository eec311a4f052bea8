"""The colors of each group of the RDA algorithm, from the colors' sizes alone.

Liu and Wang, Privacy streamliner, CODASPY 2012, section 3.2, Table 6.
"""

import numpy as np

from republish.anonymize.arrays import Ints
from republish.anonymize.kernels.compiled import compiled


@compiled()
def rda_groups(sizes: Ints, l: int) -> tuple[Ints, Ints]:
    """The group and the color of each of N places (int64[N]), for N people.

    Lines 4 to 13: the color with the most incomplete identifiers gets a group for each of them, with one
    place for each of the l - 1 other colors that have the most, until fewer than l colors are incomplete.
    Lines 14 to 18: each identifier left joins the smallest group without its color.

    Colors are kept in descending order of size (int64[V], l-eligible). Of the colors as large as the last one
    taken, those at the end are taken, so that the order holds without sorting: a group costs O(l + log
    colors). No group has two places of one color.
    """
    places = sizes.sum()
    group, color = np.empty(places, np.int64), np.empty(places, np.int64)
    order = np.argsort(-sizes, kind="mergesort")
    left = sizes[order]
    incomplete = 0
    while incomplete < len(left) and left[incomplete] > 0:
        incomplete += 1
    at = groups = 0
    while incomplete >= l:
        # The largest color leaves the order while it has its groups made, and comes back with what is left of
        # it.
        first, remaining = order[0], left[0]
        order[: incomplete - 1] = order[1:incomplete].copy()
        left[: incomplete - 1] = left[1:incomplete].copy()
        incomplete -= 1
        while remaining > 0 and incomplete >= l - 1:
            group[at], color[at] = groups, first
            at += 1
            smallest = left[l - 2]
            run_start, run_stop = _run(left, incomplete, smallest)
            taken_of_run = l - 1 - run_start
            for index in range(l - 1):
                place = index if index < run_start else run_stop - taken_of_run + index - run_start
                group[at], color[at] = groups, order[place]
                left[place] -= 1
                at += 1
            while incomplete > 0 and left[incomplete - 1] == 0:
                incomplete -= 1
            groups += 1
            remaining -= 1
        if remaining > 0:
            place = incomplete
            while place > 0 and left[place - 1] < remaining:
                order[place], left[place] = order[place - 1], left[place - 1]
                place -= 1
            order[place], left[place] = first, remaining
            incomplete += 1
    _append(group, color, at, groups, order, left, incomplete)
    return group, color


@compiled()
def _run(left: Ints, incomplete: int, size: int) -> tuple[int, int]:
    """Find where the colors of one size begin and end, in a descending order (bisection)."""
    low, high = 0, incomplete
    while low < high:
        middle = (low + high) // 2
        if left[middle] > size:
            low = middle + 1
        else:
            high = middle
    start, high = low, incomplete
    while low < high:
        middle = (low + high) // 2
        if left[middle] >= size:
            low = middle + 1
        else:
            high = middle
    return start, low


@compiled()
def _append(group: Ints, color: Ints, at: int, groups: int, order: Ints, left: Ints, incomplete: int) -> None:
    """Put each identifier left into the smallest group that has none of its color."""
    size = np.zeros(groups, np.int64)
    for place in range(at):
        size[group[place]] += 1
    has_color = np.zeros(groups, np.bool_)
    for index in range(incomplete):
        has_color[:] = False
        for place in range(at):
            if color[place] == order[index]:
                has_color[group[place]] = True
        for _ in range(left[index]):
            best = -1
            for candidate in range(groups):
                if not has_color[candidate] and (best < 0 or size[candidate] < size[best]):
                    best = candidate
            assert best >= 0
            group[at], color[at] = best, order[index]
            has_color[best] = True
            size[best] += 1
            at += 1
