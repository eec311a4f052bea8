"""Keeping two rows of a person out of one group, where everybody would see that their values differ.

A new signature has one value of its person. A value that comes later may be in it, too, and then its rows
come to the same bucket. In different groups of the bucket, they look like rows with one value.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from republish.anonymize.arrays import Floats, Ints, Words


def keep_rows_apart(
    group: Ints, bucket: Ints, value: Ints, person: Ints, codes: Floats, ranks: Words, least: int
) -> Ints:
    """Exchange rows between groups of a bucket so that no group has two rows of a person: int64[N], groups.

    A row is exchanged with the nearest row of its value such that, then, neither group has two rows of a
    person; or else with a counterfeit of its value. It stays where there is neither: where the bucket has
    fewer groups than the person has rows in it, for example.

    Parameters
    ----------
    group, bucket, value
        int64[N]: each tuple's group, bucket and sensitive value. Every group has a value once.
    person
        int64[N]: whose row it is; -1 of counterfeits.
    codes
        float64[N, d]: quasi-identifiers as shares of their domains.
    ranks
        uint64[N]: a secret order. It decides which of two rows moves, and between places that are as near.
    least
        A group that a counterfeit comes to keeps so many rows of people.
    """
    order = np.lexsort((ranks, person, group))
    again = (np.diff(group[order]) == 0) & (np.diff(person[order]) == 0) & (person[order[1:]] >= 0)
    if not again.any():
        return group
    group, inside = group.copy(), Counter(zip(group.tolist(), person.tolist(), strict=True))
    sizes = np.bincount(group)
    alike = np.lexsort((ranks, value, bucket))
    begins = np.flatnonzero(np.diff(bucket[alike], prepend=-1) | np.diff(value[alike], prepend=-1))
    place = np.empty(len(group), np.int64)
    place[alike] = np.arange(len(group))
    for row in order[1:][again]:
        first = np.searchsorted(begins, place[row], side="right") - 1
        others = alike[begins[first] : begins[first + 1] if first + 1 < len(begins) else None]
        far, forged = np.abs(codes[others] - codes[row]).sum(axis=1), person[others] < 0
        for other in others[np.lexsort((far, forged))].tolist():
            here, there = int(group[row]), int(group[other])
            mine, its = int(person[row]), int(person[other])
            is_last = its < 0 and sizes[here] - inside[here, -1] <= least
            if is_last or inside[there, mine] or (its >= 0 and inside[here, its]):
                continue
            inside.update(((there, mine), (here, its)))
            inside.subtract(((here, mine), (there, its)))
            group[row], group[other] = there, here
            break
    return group
