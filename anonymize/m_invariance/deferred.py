"""People who wait under `defer`, where values of several columns are too frequent or no group is found.

People with two values that are too frequent are those whose absence makes the others eligible soonest. To
hold back the fewest is to hold back these: whoever misses somebody would know both values. So of those held
back no larger share has both values than of all people who have either. The same goes for three values, and
for people who are left over because no group of them is found.

That can be kept for any batch: if all people with a value that is too frequent are held back, the shares are
the same. It costs people. Of 1,000 people, 600 have one value, 600 another one, and 360 both; m = 2. Without
the rule, 200 people with both values are held back; under it, 467 people, of whom 200 have both.

Where no group is found of people none of whose values is too frequent, no two values may be those of more
than 1/m of the people held back, as in a group. Groups are given up until that is so.
"""

from __future__ import annotations

from itertools import combinations as subsets
from typing import NamedTuple

import numpy as np
import scipy

from republish.anonymize.arrays import Bools, Ints
from republish.anonymize.buckets.signatures import ByBucket, ByValue, Signatures
from republish.anonymize.m_invariance.combinations import Combinations

MARGIN = 1e-3
"""By how much of a person a share is missed on purpose, where a solver's rounding would exceed it."""
GAP, NODES = 2e-3, 100
"""How near to the fewest are those who are held back, and how long that is searched for."""


class _Together(NamedTuple):
    """Sets of S values, or runs of bins, that some of K kinds of people have together."""

    sets: Bools
    """bool[S, F]: the sets, of F that are too frequent."""
    every: Ints
    """int[S, K]: which kinds have all of a set: 0 or 1."""
    some: Ints
    """int[S, K]: which kinds have any of it."""
    people: Ints
    """int[K]: how many people there are of each kind."""

    @classmethod
    def of(cls, kinds: Ints, people: Ints, frequent: Ints, combinations: Combinations) -> _Together:
        """Find the sets of two and more of what is limited that people have together.

        `kinds`, int[K, F], says what each kind of people has, 0 or 1, and `people`, int[K], how many there
        are of it; `frequent`, int[F], names the F of all that is limited.
        """

        def is_one_of(value: int, run: int) -> bool:
            near, parts = combinations.near, combinations.parts
            return near is not None and value < parts <= run and bool(near[run - parts, value])

        sizes = range(2, max(combinations.columns, 2) + 1)
        rows = [np.flatnonzero(kind).tolist() for kind in kinds]
        found = {some for row in rows for size in sizes for some in subsets(row, size)}
        nested = {two for two in found if len(two) == 2 and is_one_of(*frequent[list(two)])}
        sets = [some for some in sorted(found) if not nested.intersection(subsets(some, 2))]
        has = np.zeros((len(sets), len(frequent)), np.int64)
        for row, some in enumerate(sets):
            has[row, list(some)] = 1
        shared = has @ kinds.T
        return cls(
            sets=has.astype(bool),
            every=(shared == has.sum(axis=1)[:, None]).astype(np.int64),
            some=(shared > 0).astype(np.int64),
            people=people.astype(np.int64),
        )

    def too_many(self, held_back: Ints) -> Bools:
        """bool[S]: whether all of a set is that of a larger share of those held back, int[K], than of all.

        Counted are people who have any of it.
        """
        every, some = self.every @ self.people, self.some @ self.people
        too_many: Bools = (self.every @ held_back) * some > every * (self.some @ held_back)
        return too_many


def eligible_part(free: ByValue, combinations: Combinations, m: int, rng: np.random.Generator) -> ByValue:
    """About as many of the people as are m-eligible; those who are left out have a frequent value.

    An integer program says how many stay of the people who have the same of the frequent values, and lots say
    who. A program for each combination would leave out all people of a few combinations: whoever is left out
    would have a frequent diagnosis, and their treatment would be known with it.
    """
    if combinations.are_eligible(free, m):
        return free
    here = np.flatnonzero(free)
    has = combinations.with_limit(here)
    first = frequent = combinations.excess(free, m) > 0
    while True:
        kinds, kind = np.unique(has[:, frequent], axis=0, return_inverse=True)
        together = _Together.of(kinds, np.bincount(kind, free[here]), np.flatnonzero(frequent), combinations)
        fewest = _fewest(together, kinds, combinations.most(m)[frequent], m, first[frequent])
        part = np.zeros_like(free)
        for number, people in enumerate(together.people - fewest):
            alike = here[kind == number]
            part[alike] = rng.multivariate_hypergeometric(free[alike], people)
        if combinations.are_eligible(part, m):
            return part
        frequent = frequent | (combinations.excess(part, m) > 0)  # a value that others were in the way of


def _fewest(together: _Together, kinds: Ints, most: Ints, m: int, first: Bools) -> Ints:
    """int[K]: the fewest people of each kind without whom nothing is too frequent, and who give no pair away.

    `kinds`, int[K, F], says what each kind has of what is frequent, and `most`, int[F], how often groups of m
    may have it. `first`, bool[F], is what is too frequent from the beginning: of what becomes so when others
    are held back, 1/m of those held back may have two at once.
    """
    people, has_any = together.people, kinds.any(axis=1)
    every, some = together.every @ people, together.some @ people
    within = (together.sets & ~first).any(axis=1) & (m * every <= some)
    of_whom = np.where(within[:, None], has_any, together.some)
    shares = np.where(within, 1 / m, every / np.maximum(some, 1))
    spared, limits = most - m * kinds, people.sum() * most - m * (people @ kinds)
    for margin in (0.0, MARGIN):
        found = scipy.optimize.milp(
            np.ones(len(people)),
            integrality=np.ones(len(people)),
            bounds=scipy.optimize.Bounds(0, np.where(has_any, people, 0)),
            constraints=[
                scipy.optimize.LinearConstraint(spared.T, ub=limits),
                scipy.optimize.LinearConstraint(together.every - shares[:, None] * of_whom, ub=-margin),
            ][: 1 + bool(len(shares))],
            options={"mip_rel_gap": GAP, "node_limit": NODES},
        )
        if found.x is None:
            break
        held_back: Ints = np.rint(found.x).astype(np.int64)
        alike = np.where(
            within, m * (together.every @ held_back) > held_back.sum(), together.too_many(held_back)
        )
        if not alike.any() and (held_back @ spared <= limits).all():
            return held_back
    return np.where(has_any, people, 0)


def give_up_groups(
    groups: ByBucket,
    left: ByValue,
    signatures: Signatures,
    batch: tuple[ByValue, ByValue],
    combinations: Combinations,
    m: int,
    rng: np.random.Generator,
) -> ByBucket | None:
    """The groups that stay, so that being left over gives no two values of anybody away.

    None if all inserted people have to wait: that says nothing of any one of them.

    Parameters
    ----------
    groups
        Groups that inserted people make in each bucket.
    left
        People of whom no group was found.
    signatures
        Those of the buckets.
    batch
        All inserted people, and those of them who are held back because a value is too frequent.
    combinations, m, rng
        As for `eligible_part`.
    """
    groups, left, (everybody, frequent) = groups.copy(), left.copy(), batch
    limits = combinations.excess(everybody, m) > 0
    has = combinations.with_limit(np.arange(len(everybody)))[:, limits]
    together = _Together.of(has, everybody, np.flatnonzero(limits), combinations)
    pairs = [
        np.unique(combinations.part[:, two], axis=0, return_inverse=True)[1]
        for two in subsets(range(combinations.columns), 2)
    ]
    while True:
        shared = together.too_many(left + frequent)
        alike = [m * np.bincount(pair, left)[pair] > left.sum() for pair in pairs]
        if shared.any():
            worst = int(np.argmax(shared))
            wrong, others = together.every[worst] > 0, together.some[worst] > 0
        elif any(one.any() for one in alike):
            wrong, others = next(one for one in alike if one.any()), np.ones(len(left), bool)
        else:
            return groups
        helps = (groups > 0) & (signatures.by_bucket(wrong[signatures.value]) == 0)
        helps &= signatures.by_bucket(others[signatures.value]) > 0
        helps = helps if helps.any() else groups > 0
        if not helps.any():
            return None
        bucket = rng.choice(len(groups), p=np.where(helps, groups, 0) / groups[helps].sum())
        groups[bucket] -= 1
        left[signatures.value[signatures.bucket == bucket]] += 1
