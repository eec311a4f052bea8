"""Counterfeits as rows: which bucket and value each has, and which person it looks like."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from republish.anonymize.arrays import Ints
from republish.anonymize.buckets.counts import Plan


def counterfeits_of(plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    """int64[C] twice: the bucket and the value of every counterfeit, bucket by bucket."""
    signatures, copies = plan.signatures, plan.counterfeits
    return np.repeat(signatures.bucket, copies), np.repeat(signatures.value, copies)


def people_alike(wanted: Ints, bucket: Ints, buckets: int, pick: Callable[[Ints], Ints]) -> Ints:
    """Choose a person of its bucket for each counterfeit, whose quasi-identifiers it gets: int64[C].

    The people of a bucket may be unlike the others of T(n) (all patients with one signature are old, say). A
    counterfeit that is drawn from all of T(n) would then stand out, and would put the quasi-identifiers of
    a person who is held back, or in another bucket, into one where that person is not.

    Whole vectors are drawn, so that no combination is one that people don't have; from all people of the
    bucket, not from those with the counterfeit's value: a rare value's few carriers would be known by their
    copies. Within a group, which of the rows that look alike belongs to which value is not published.

    Parameters
    ----------
    wanted
        int[C]: the bucket of each counterfeit. None has counterfeits and nobody in it.
    bucket
        int[N]: the bucket of each person, 0 … buckets - 1.
    pick
        Secret randomness: turns numbers of people, int64[C], into as many numbers that are smaller.
    """
    by_bucket: Ints = np.argsort(bucket, kind="stable")
    people = np.bincount(bucket, minlength=buckets)
    first = np.cumsum(people) - people
    person: Ints = by_bucket[first[wanted] + pick(people[wanted])]
    return person
