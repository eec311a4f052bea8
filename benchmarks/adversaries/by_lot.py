"""Groups that look at no value: what the global guarantee would cost with the streamliner's secret draw.

People are put into a row, color by color and in a secret order within a color, and the row is cut into
*lines* of equal length. Each group takes one person of each line, near to one another by quasi-identifiers.
To exchange two whole lines changes no group, so each person of a group has each of its values with the
probability that the value's share says, also to adversaries who know the lines. A color that would be met too
often in a group is kept apart by cutting all lines at the same place: the parts are *blocks*.
"""

from __future__ import annotations

import numpy as np

from republish.anonymize.arrays import Floats, Ints, Words
from republish.anonymize.m_invariance.group import group_people


def groups_by_lot(color: Ints, ranks: Words, shares: Floats, most: float) -> np.ndarray:
    """The group of everybody: groups are as small as the colors' sizes allow.

    Parameters
    ----------
    color
        int64[N]: each person's value, 0, 1, ….
    ranks
        uint64[N]: a secret order of the people.
    shares
        float64[N, d]: quasi-identifiers as shares of their domains.
    most
        The largest share of a value that a group may have; no more of the people have one.
    """
    sizes = np.bincount(color)
    frequent = np.argsort(-sizes, kind="stable")
    place = np.argsort(frequent)
    odd, ends = _plan(sizes[frequent], most)
    row = np.lexsort((ranks, place[color]))
    within = np.arange(len(row)) - np.searchsorted(place[color][row], place[color][row])
    is_odd = within < odd[place[color][row]]
    block, line = np.zeros((2, len(row)), np.int64)
    line[row[is_odd]] = np.arange(is_odd.sum())
    regular = np.arange((~is_odd).sum())
    if len(regular):
        block[row[~is_odd]] = np.searchsorted(ends[1:], regular % ends[-1], side="right") + 1
        line[row[~is_odd]] = regular // ends[-1]
    block = np.unique(block, return_inverse=True)[1]
    # The order of people who are alike is public here. With the secret one it would follow the colors.
    ties = np.arange(len(row)).astype(np.uint64)
    seeds = np.arange(block.max() + 1).astype(np.uint64)
    return group_people(block, line, np.ascontiguousarray(shares), ties, "best", seeds)


def _plan(sizes: Ints, most: float) -> tuple[Ints, Ints]:
    """People of each color in the one odd group that takes the rest, and where lines are cut."""
    number = int(sizes.sum())
    people = int(np.ceil(1 / most - 1e-9))
    while number // people > 1:
        rest = number % people
        odd = np.zeros_like(sizes)
        if rest:
            evenly = ((np.arange(people + rest) + 0.5) * number / (people + rest)).astype(np.int64)
            odd = np.bincount(np.searchsorted(np.cumsum(sizes), evenly, side="right"), minlength=len(sizes))
        ends = _ends(sizes - odd, int(most * people + 1e-9), number // people - bool(rest))
        if odd.max() <= most * odd.sum() + 1e-9 and ends is not None:
            return odd, ends
        people = max(people + 1, int(people * 1.01))
    return sizes, np.zeros(1, np.int64)


def _ends(sizes: Ints, most: int, groups: int) -> Ints | None:
    """Where lines of so many people are cut so that no group has more of a color; None if nowhere will do."""
    sizes = sizes[sizes > 0]
    stop = np.cumsum(sizes)
    begins, ends = (stop - sizes) % groups, (stop - 1) % groups + 1
    lines = (stop - 1) // groups - (stop - sizes) // groups + 1
    tight = np.flatnonzero(lines > most)
    if (-(-sizes // groups) > most).any() or (ends[tight] > begins[tight]).any():
        return None
    cuts = [0]
    for color in tight[np.argsort(begins[tight], kind="stable")]:
        if ends[color] > cuts[-1] or cuts[-1] == 0:
            cuts.append(int(begins[color]))
    return np.unique([*cuts, groups])
