"""A plan that tells nothing of anybody's value, also to an adversary who knows it: arrivals in whole groups.

Buckets receive equally many people of each of their values, whom lots choose; counterfeits fill every place
that somebody left. The plan follows from numbers that stay the same if two values of a bucket are exchanged,
for everybody who was ever in it: how many people of each value come, to all buckets together, and how many
groups each bucket has. It never looks at how many people of a value are still there.

**Proof that this tells nothing**, by the rules in docs/explanation/knows_algorithm.md. The adversary
considers all reasonable tables: those that fit the published groups, with everybody in the bucket where they
are and the known counts of each batch. Take one bucket, and exchange two values of its signature, u and w,
for everybody who was ever in it. The result is again a reasonable table: by rule 1, each batch brought as
many people with u as with w. By rule 2, the same numbers of groups are planned. By rule 3, lots, which depend
on these numbers alone, send the same people to the same buckets with the same probability. By rule 4, the
bucket has as many groups, because a maximum does not depend on the order of values. By rule 5, each grouping
is as likely. So both tables would have been published like this with the same probability. Exchanges generate
all permutations of the s values of a signature, and a person has each value in equally many of the permuted
tables: each has the probability 1/s, at most 1/m. In a bucket of people whose value changed nobody is of a
batch: an exchange changes no count, and rule 6 opens the same buckets. ∎
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from republish.anonymize.arrays import Bools, Ints
from republish.anonymize.buckets.core import assign_core
from republish.anonymize.buckets.counts import Counts, Demand, Plan
from republish.anonymize.buckets.plan import assign_counts, assign_to_existing, refuse_ineligible, shortages
from republish.anonymize.buckets.signatures import ByBucket, ByPlace, ByValue, Signatures
from republish.anonymize.errors import NotEligible
from republish.anonymize.m_invariance.family import choose_family


class WholeGroups(NamedTuple):
    """A plan of arrivals in whole groups."""

    plan: Plan
    apart: Bools
    """bool[B']: the buckets of people whose value changed, to which nobody else comes."""


def plan_whole_groups(
    counts: Counts, m: int, apart: Bools, public: Bools, counted: str = "people"
) -> WholeGroups:
    """Assign inserted people in whole groups, and people whose value changed to buckets of their own.

    Parameters
    ----------
    counts
        The people of T(n).
    m
        Privacy parameter, at least 2. Buckets with smaller signatures receive nobody.
    apart
        bool[B]: the buckets of people whose value changed.
    public
        bool[V]: the values that are known to exist without a look at people whose value changed.
    counted
        As `make_plan` has it.

    Raises
    ------
    NotEligible
        If the inserted people are not m-eligible, or there are too few values for people whose value changed.

    Notes
    -----
    Exchange two values of a bucket's signature for everybody who was ever in it. Each batch had equally many
    people of both, so its counts stay as they were. Groups are the maximum over a bucket's values: they
    stay, too. So the same plan is made, and lots fall in the same way with the same probability: every
    release, and all of them together, are published as before with the same probability.

    A bucket that is apart has people of no batch. An exchange of its values changes no count of a batch.
    """
    refuse_ineligible(counts, m, counted)
    groups = counts.signatures.most(counts.bound)
    is_open = ~apart & (counts.signatures.sizes >= m)
    known, _ = counts.signatures.only(np.flatnonzero(is_open))
    frequency = known.by_value(groups[is_open][known.bucket]) + counts.free
    placed = _place_apart(counts, m, apart, groups, np.where(public, frequency, -1))

    more, known = _arrivals(counts.free, m, known, groups[is_open], frequency)
    new = placed.signatures.with_new(np.split(known.value, known.first)[1 + is_open.sum() :])
    number = np.zeros(len(new), np.int64)
    number[np.append(np.flatnonzero(is_open), np.arange(len(placed.signatures), len(new)))] = more
    lacking = shortages(placed.signatures, placed.present)
    return WholeGroups(
        Plan(
            signatures=new,
            moved=number[new.bucket],
            separated=placed.separated,
            counterfeits=np.pad(lacking, (0, len(new.value) - len(lacking))),
            held_back=np.zeros_like(counts.free),
        ),
        np.pad(placed.apart, (0, len(new) - len(placed.apart))),
    )


def _arrivals(
    free: ByValue, m: int, known: Signatures, groups: ByBucket, frequency: ByValue
) -> tuple[ByBucket, Signatures]:
    """The groups that each bucket receives, those that are known and new ones below them."""
    if not len(known) and free.any():
        first = choose_family(free[None, :], m).groups()
        known, received = first.signatures, first.number[first.signatures.bucket]
    else:
        received = assign_core(free, m, known, groups, frequency)
    received = received + assign_to_existing(free - known.by_value(received), m, known)
    assigned, signatures = assign_counts(free - known.by_value(received), m, known)
    assigned[: len(received)] += received
    return signatures.most(assigned), signatures


class _Placed(NamedTuple):
    """Buckets after the people whose value changed found one."""

    signatures: Signatures
    apart: Bools
    present: ByPlace
    """People who keep their signature, and those who got another."""
    separated: Demand


def _place_apart(counts: Counts, m: int, apart: Bools, groups: ByBucket, frequency: ByValue) -> _Placed:
    """Place people whose value changed into buckets of such people, disjoint from all their signatures.

    All values that are left to people with the same signatures so far are divided into blocks, in a way that
    does not depend on any value that they changed to; each person goes to the block that has their value.
    """
    signatures, present = counts.signatures, counts.bound.astype(np.int64)
    entries = []
    kinds, kind = np.unique(counts.forbidden, axis=0, return_inverse=True)
    for number, forbidden in enumerate(kinds):
        classes = np.flatnonzero(kind.ravel() == number)
        blocks = _blocks(signatures, apart, groups, np.where(forbidden, -1, frequency), m)
        for values, existing in blocks:
            here = classes[np.isin(counts.separated_value[classes], values)]
            if not here.size:
                continue
            bucket = len(signatures) if existing is None else existing
            if existing is None:
                signatures = signatures.with_new([values])
                apart, groups = np.append(apart, True), np.append(groups, 0)
                present = np.append(present, np.zeros(len(values), np.int64))
            chosen = np.full(len(here), bucket)
            people = counts.separated[here]
            np.add.at(present, signatures.find(chosen, counts.separated_value[here]), people)
            entries.append((here, chosen, people))
    none = np.empty(0, np.int64)
    columns = (np.concatenate(column) for column in zip((none, none, none), *entries, strict=True))
    placed = _Placed(signatures, apart, present, Demand(*columns))
    if missing := int(counts.separated.sum() - placed.separated.people.sum()):
        raise NotEligible(
            f"{missing} people changed their sensitive value, and fewer than m ({m}) known values outside"
            " their earlier signatures are left to them, or nobody else ever had their new value. List the"
            " domain under sensitive.values, choose a smaller m, or begin a new series"
        )
    return placed


def _blocks(
    signatures: Signatures, apart: Bools, groups: ByBucket, frequency: ByValue, m: int
) -> list[tuple[Ints, int | None]]:
    """Disjoint blocks of at least m values that cover all that may be used, and the bucket of each if any.

    Buckets of people whose value changed (`apart`) serve again, those of the most `groups` first. Other
    blocks are made of the values that are left, the most frequent first; a `frequency` of -1 says that one
    may not be used.
    """
    free = frequency >= 0
    blocks: list[tuple[Ints, int | None]] = []
    candidates = np.flatnonzero(apart & (signatures.sizes >= m))
    for bucket in candidates[np.argsort(-groups[candidates], kind="stable")]:
        values = signatures.value[signatures.bucket == bucket]
        if free[values].all():
            free[values] = False
            blocks.append((values, int(bucket)))
    rest = np.argsort(-frequency, kind="stable")
    rest = rest[free[rest]]
    if 0 < len(rest) < m and blocks:
        rest = np.append(blocks.pop()[0], rest)
    if len(rest) >= m:
        ends = [m * end for end in range(1, len(rest) // m)]
        blocks += [(np.sort(block), None) for block in np.split(rest, ends)]
    return blocks
