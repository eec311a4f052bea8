"""Few signatures for the people of the first release, each with people who live near one another.

Xiao and Tao, m-Invariance, SIGMOD 2007, section 4.2, assign by the most frequent values of the whole
table. Here the values of a signature are frequent in the same regions, and later releases find large
buckets to reuse.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from republish.anonymize.arrays import Bools, Ints
from republish.anonymize.buckets.assign import RegionalDemand
from republish.anonymize.buckets.counts import Demand, Groups, Plan
from republish.anonymize.buckets.signatures import Signatures
from republish.anonymize.kernels.family import best_signature
from republish.anonymize.m_invariance.regions import Regions

SIGNATURES = 20
"""Signatures found in the smallest regions. Fewer leave more people to Figure 3, more make small buckets."""
FURTHER = 8
"""Signatures found in twice as large regions, and so on, for people who are left over."""
TIGHT = 0.75
"""The share of 1/m from which a value is so frequent that groups without it are scarce."""
CANDIDATES = 200
"""Values that a signature may exchange one of its own for: the most frequent ones."""


class Family(NamedTuple):
    """B signatures of V values, and their groups by region."""

    signatures: Bools
    """bool[B, V]"""
    by_region: list[np.ndarray]
    """int[B, R], int[B, R / 2], …, int[B, 1]: the groups whose people all live in one region, then the
    further groups whose people live in two neighbouring regions, and so on."""

    def groups(self) -> Groups:
        """All groups of each signature."""
        number = sum(groups.sum(axis=1) for groups in self.by_region)
        return Groups(Signatures.of(self.signatures), number)

    def regional(self, regions: Regions, people: Ints, plan: Plan) -> Iterator[RegionalDemand]:
        """Say from where the people of the groups come: those whose groups lie in one region first.

        `people`, int[V, R], says how many people of each value live in each region. The first buckets of
        `plan` have these signatures. Where it puts counterfeits into a bucket, or fewer people live in a
        region than the groups were counted on, fewer come from there.
        """
        moved = np.zeros(self.signatures.shape, np.int64)
        bucket, value = np.nonzero(self.signatures)
        moved[bucket, value] = plan.moved[plan.signatures.find(bucket, value)]
        groups_of = self.groups().number[:, None]
        share = np.where(self.signatures, np.minimum(moved, groups_of), 0)[:, None, :]
        for level, groups in enumerate(self.by_region):
            people = people.reshape(len(people), groups.shape[1], -1).sum(axis=2)
            wanted = groups[:, :, None] * share // np.maximum(groups_of, 1)[:, :, None]
            all_wanted = wanted.sum(axis=0)
            there = np.minimum(people.T, all_wanted)
            wanted = wanted * there // np.maximum(all_wanted, 1)
            people = people - wanted.sum(axis=0).T
            bucket, node, value = np.nonzero(wanted)
            demand = Demand(
                queue=value * groups.shape[1] + node,
                bucket=bucket,
                people=wanted[bucket, node, value],
            )
            yield RegionalDemand(regions.of_person >> level, groups.shape[1], demand)


def choose_family(counts: Ints, m: int) -> Family:
    """Choose signatures and the number of their groups, from the number of people by region and value.

    Of each value, there are at most as many groups in a region as there are people. The people who are left
    over are m-eligible, as are all of them, `counts`, int[R, V]. R is a power of two, and regions are
    numbered as in `Regions`.

    Notes
    -----
    One signature after another is the one with the most groups (`best_signature`). Groups without a value
    that nearly every tenth person has (m = 10) are scarce: there are N/m less the people with that value.
    Spread over many buckets, they do not become fewer when people leave, and the next release needs
    counterfeits as soon as the value is a little more frequent. So signatures without such values come first.

    A bucket has equally many people of every value of its signature in each region. Exchanging two of these
    values throughout the bucket changes no count this function looks at: the same family would be chosen.
    So nobody learns from it which of the values a person has. Only groups of people who live in several
    regions lack this property: how many come from which of the regions differs from value to value.
    """
    chosen = _Chosen(counts, m)
    loose = np.flatnonzero(counts.sum(axis=0) * m < TIGHT * counts.sum())
    if m <= len(loose) < counts.shape[1]:
        chosen.take_largest(loose)
    limit, everything = SIGNATURES, np.arange(counts.shape[1])
    while True:
        for _ in range(limit):
            if not chosen.take_largest(everything):
                break
        if len(chosen.left) == 1:
            return chosen.family()
        chosen.widen()
        limit = FURTHER


class InitialGroups:
    """The groups that a series begins with, and from where their people come.

    Where a value is too frequent, some who have it are held back, or there are counterfeits of other values:
    then the family is that of the tuples to be published, each value's spread over the regions as the people
    are who have it.
    """

    def __init__(self, regions: Regions, people: Ints, m: int):
        """`people`, int[V, R], says how many people of each value live in each region."""
        self._regions, self._people, self._m = regions, people, m

    def __call__(self, tuples: Ints) -> Groups:
        """The groups of m-eligible tuples, int[V]; what they leave over is m-eligible, too."""
        has_people = self._people.any(axis=1, keepdims=True)
        up_to = np.cumsum(np.where(has_people, self._people, self._people.sum(axis=0)), axis=1)
        ends = up_to * tuples[:, None] // np.maximum(up_to[:, -1:], 1)
        self._family = choose_family(np.diff(ends, axis=1, prepend=0).T, self._m)
        return self._family.groups()

    def regional(self, plan: Plan) -> Iterator[RegionalDemand]:
        """Say from where the people of these groups come, under the plan that was made with them."""
        return self._family.regional(self._regions, self._people, plan)


class _Chosen:
    """The signatures and groups found so far, and who is left."""

    def __init__(self, counts: np.ndarray, m: int):
        self.left = np.array(counts, np.int64, order="C")
        self._m = m
        self._rows: dict[bytes, int] = {}
        self._levels: list[list[tuple[int, np.ndarray]]] = [[]]

    def take_largest(self, allowed: np.ndarray) -> bool:
        """Take the largest signature of allowed values, with its groups; False if there are no groups."""
        counts = np.vstack([self.left, self.left.sum(axis=0)])
        starts = allowed[np.argsort(-counts[:, allowed], axis=1, kind="stable")]
        signature, groups = best_signature(
            counts, self._m, np.ascontiguousarray(starts[:, : self._m]), starts[-1, :CANDIDATES].copy()
        )
        if not groups.any():
            return False
        row = np.zeros(self.left.shape[1], bool)
        row[signature] = True
        number = self._rows.setdefault(row.tobytes(), len(self._rows))
        self._levels[-1].append((number, groups))
        self.left[:, signature] -= groups[:, None]
        return True

    def widen(self) -> None:
        """Go on with regions of twice the size."""
        self.left = self.left[0::2] + self.left[1::2]
        self._levels.append([])

    def family(self) -> Family:
        values, widest = self.left.shape[1], len(self._levels) - 1
        signatures = np.frombuffer(b"".join(self._rows), bool).reshape(-1, values)
        by_region = []
        for level, found in enumerate(self._levels):
            groups = np.zeros((len(signatures), 1 << (widest - level)), np.int64)
            for number, taken in found:
                groups[number] += taken
            by_region.append(groups)
        return Family(signatures, by_region)
