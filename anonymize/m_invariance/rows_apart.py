"""Keeping two rows of a person out of one group, where everybody would see that their values differ.

A new signature has one value of its person. A value that comes later may be in it, too, and if there is room
for it (`units`), its rows come to the same bucket. In different groups of the bucket, they look like rows
with one value. So a bucket has as many groups as any person has rows in it: further ones are of counterfeits,
and rows are exchanged.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from republish.anonymize.arrays import Bools, Floats, Ints, Words
from republish.anonymize.buckets.signatures import ByPlace, Signatures


def with_groups_for_rows(
    signatures: Signatures, counterfeits: ByPlace, bucket: Ints, person: Ints
) -> ByPlace:
    """Counterfeits that make as many groups of each bucket as any person has rows in it: int64[P].

    Parameters
    ----------
    signatures, counterfeits
        Those of the buckets, and how many counterfeits each place gets for all values to be equally frequent.
    bucket, person
        int64[N]: each row's bucket, which is negative of rows that are not published, and whose row it is.
    """
    is_published, people = bucket >= 0, person.max(initial=0) + 1
    bucket, person = bucket[is_published], person[is_published]
    rows = np.bincount(bucket, minlength=len(signatures))
    groups = (rows + signatures.by_bucket(counterfeits)) // signatures.sizes
    pairs, number = np.unique(bucket * people + person, return_counts=True)
    needed = np.zeros_like(groups)
    np.maximum.at(needed, pairs // people, number)
    more: ByPlace = counterfeits + np.maximum(needed - groups, 0)[signatures.bucket]
    return more


def keep_rows_apart(
    group: Ints, bucket: Ints, value: Ints, person: Ints, codes: Floats, ranks: Words
) -> Ints:
    """Exchange rows between groups of a bucket so that no group has two rows of a person: int64[N], groups.

    A row is exchanged with the nearest row of its value such that, then, neither group has two rows of a
    person; or else with a counterfeit of its value. Where there is neither, further rows change sides with it
    until all fit. That is always possible if a bucket has as many groups as any person has rows in it.

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

    References
    ----------
    König, Über Graphen und ihre Anwendung, Mathematische Annalen 77, 1916: groups are colours of the edges
    between people and values, and what changes sides are the edges of two colours on one path.
    """
    order = np.lexsort((ranks, person, group))
    again = (np.diff(group[order]) == 0) & (np.diff(person[order]) == 0) & (person[order[1:]] >= 0)
    if not again.any():
        return group
    groups = _Groups(group.copy(), value, person, np.isin(bucket, bucket[order[1:][again]]))
    alike = np.lexsort((ranks, value, bucket))
    begins = np.flatnonzero(np.diff(bucket[alike], prepend=-1) | np.diff(value[alike], prepend=-1))
    place = np.empty(len(group), np.int64)
    place[alike] = np.arange(len(group))
    for row in order[1:][again].tolist():
        if groups.rows_beside(row) < 2:
            continue
        first = np.searchsorted(begins, place[row], side="right") - 1
        others = alike[begins[first] : begins[first + 1] if first + 1 < len(begins) else None]
        far = np.abs(codes[others] - codes[row]).sum(axis=1)
        nearest_first = others[np.lexsort((far, person[others] < 0))].tolist()
        shortest: list[int] = []
        for other in nearest_first:
            moves = groups.moves(row, other)
            if moves and (not shortest or len(moves) < len(shortest)):
                shortest = moves
            if len(shortest) == 2:
                break
        groups.move(shortest)
    return groups.group


class _Groups:
    """Which rows each group has, of each person and of each value."""

    def __init__(self, group: Ints, value: Ints, person: Ints, which: Bools) -> None:
        self.group, self._value, self._person = group, value.tolist(), person.tolist()
        self._of_value: dict[tuple[int, int], int] = {}
        self._of_person = defaultdict[tuple[int, int], set[int]](set)
        for row in np.flatnonzero(which).tolist():
            self._put(row, int(group[row]))

    def rows_beside(self, row: int) -> int:
        """How many rows its person has in the group of a row."""
        return len(self._of_person[int(self.group[row]), self._person[row]])

    def moves(self, row: int, other: int) -> list[int]:
        """The rows that change sides if two do; none where the other group has the first one's person."""
        here, there = int(self.group[row]), int(self.group[other])
        if self._of_person[there, self._person[row]]:
            return []
        moves = [row, other]
        while self._person[moves[-1]] >= 0:
            beside = self._of_person[here, self._person[moves[-1]]].difference(moves)
            if not beside:
                break
            follows = min(beside)
            moves += [follows, self._of_value[there, self._value[follows]]]
        return moves

    def move(self, moves: list[int]) -> None:
        """Let rows of two groups change sides; the first, third ... are in one, all others in the other."""
        sides = [int(self.group[row]) for row in moves]
        for row, side in zip(moves, sides, strict=True):
            self._of_person[side, self._person[row]].discard(row)
        for at, row in enumerate(moves):
            self._put(row, sides[at ^ 1])

    def _put(self, row: int, group: int) -> None:
        self.group[row] = group
        self._of_value[group, self._value[row]] = row
        self._of_person[group, self._person[row]].add(row)
