"""Rows of a person who are kept out of one group: there, everybody would see that their values differ.

New signatures have one value of a person. But a value that comes later may be in a signature that the person
has, and then its rows are in the bucket of the other's. In different groups they look like rows of one value.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from republish.anonymize.arrays import Floats, Ints, Words


def keep_rows_apart(
    group: Ints, bucket: Ints, value: Ints, person: Ints, codes: Floats, ranks: Words, least: int
) -> Ints:
    """Exchange rows between groups of a bucket so that no group has two rows of a person: int64[N], groups.

    A row is exchanged with the nearest one of its value in another group, if then neither group has two rows
    of a person, or else with a counterfeit of its value. It stays if there is none: where a bucket has fewer
    groups than the person has rows there, say.

    Parameters
    ----------
    group, bucket, value
        int64[N]: each tuple's group, bucket and sensitive value. Every group has a value once.
    person
        int64[N]: whose row it is; -1 of counterfeits.
    codes
        float64[N, d]: quasi-identifiers as shares of their domains.
    ranks
        uint64[N]: a secret order, which says which of two rows moves, and whither where two are as near.
    least
        So many rows of people stay in each group.
    """
    order = np.lexsort((ranks, person, group))
    again = (np.diff(group[order]) == 0) & (np.diff(person[order]) == 0) & (person[order[1:]] >= 0)
    if not again.any():
        return group
    group, inside = group.copy(), Counter(zip(group.tolist(), person.tolist(), strict=True))
    rows = np.bincount(group[person >= 0])
    alike = np.lexsort((ranks, value, bucket))
    begins = np.flatnonzero(np.diff(bucket[alike], prepend=-1) | np.diff(value[alike], prepend=-1))
    place = np.empty(len(group), np.int64)
    place[alike] = np.arange(len(group))
    for row in order[1:][again]:
        first = np.searchsorted(begins, place[row], side="right") - 1
        others = alike[begins[first] : begins[first + 1] if first + 1 < len(begins) else None]
        far, forged = np.abs(codes[others] - codes[row]).sum(axis=1), person[others] < 0
        for other in others[np.lexsort((far, forged))]:
            moves, comes = (int(group[other]), int(person[row])), (int(group[row]), int(person[other]))
            if person[other] >= 0:
                fits = not inside[moves] and not inside[comes]
            else:
                fits = not inside[moves] and rows[group[row]] > least
            if fits:
                if person[other] < 0:
                    rows[[group[row], group[other]]] += -1, 1
                inside.update((moves, comes))
                inside.subtract(((moves[0], comes[1]), (comes[0], moves[1])))
                group[row], group[other] = group[other], group[row]
                break
    return group
