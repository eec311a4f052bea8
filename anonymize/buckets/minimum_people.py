"""People whose bucket has too few others to hide among, counterfeits left out, are held back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from republish.anonymize.arrays import Bools
from republish.anonymize.buckets.assign import HELD_BACK, A, Assignment
from republish.anonymize.buckets.divide import UNDECIDED
from republish.anonymize.errors import NotEligible


def assign_with_minimum_people(
    people: pl.DataFrame, least: int, assign: Callable[[pl.DataFrame], Assignment[A]]
) -> tuple[Assignment[A], Assignment[A]]:
    """Assign all people, and then those in the release: no value is that of more than 1/least.

    After others left, a bucket may have a value more often than its people bear. Then everybody who keeps
    its signature is held back, whatever their value is, and the release is made as if they were absent. If
    it is inserted people who have too little company, all of them wait, as with `wait`: those in certain
    buckets would be known to have a frequent value. All this depends on counts, and says nothing of any one.

    `assign` is called again without those who are held back; `least` is the contract's `people_per_group`.

    Raises
    ------
    NotEligible
        If nobody would be left.
    """
    everybody = assigned = assign(people)
    while True:
        held_back = _below_the_minimum(assigned, least)
        if not held_back.any():
            return everybody, assigned
        if held_back.sum() == assigned.is_hosted.sum():
            raise NotEligible(_refusal(assigned, least))
        assigned = assign(assigned.people.filter(~held_back))


def _below_the_minimum(assigned: Assignment[A], least: int) -> Bools:
    """bool[N]: those who wait, of the people of buckets in which a value is that of too many.

    People who are bound to such a bucket come first, then people with a changed value. If there are none, it
    is all inserted people.
    """
    held_back = np.zeros(len(assigned.bucket), bool)
    rows = np.flatnonzero(assigned.bucket != HELD_BACK)
    if least == 1 or not rows.size:
        return held_back
    bucket, value = assigned.bucket[rows].astype(np.int64), assigned.value[rows]
    width = int(value.max()) + 1
    pairs, carriers = np.unique(bucket * width + value, return_counts=True)
    too_many = carriers * least > np.bincount(bucket)[pairs // width]
    held_back[rows] = np.isin(bucket, pairs[too_many] // width)
    division = assigned.division
    is_bound = division.bucket != UNDECIDED
    is_inserted = ~is_bound & (division.queue < len(division.counts.free))
    for come_first in (is_bound, ~is_inserted):
        if (held_back & come_first).any():
            return np.asarray(held_back & come_first)
    return is_inserted if held_back.any() else held_back


def _refusal(assigned: Assignment[A], least: int) -> str:
    value, are_some_bound = assigned.value, (assigned.division.bucket != UNDECIDED).any()
    wait = "set on_ineligible to wait (new people are held back together), " if are_some_bound else ""
    people, most = len(value), int(np.bincount(value).max())
    fewer = max(0, -(-(most * least - people) // (least - 1)))
    why = (
        f"{most} share a value, and {people // least}, 1/{least} of them, may; at least {fewer} would have to"
        " be held back"
        if fewer
        else "they have too few values for groups of so many people"
    )
    return (
        f"with people_per_group: {least}, all {people} people would have to wait: {why}. Choose a"
        f" smaller m, {wait}or release less often"
    )
