"""Execute a plan on rows, as one ranked join: which person goes to which bucket."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import polars as pl

from republish.anonymize.arrays import Bools, Ints, Words
from republish.anonymize.buckets.counts import Demand, Plan
from republish.anonymize.buckets.divide import UNDECIDED, Division

HELD_BACK = UNDECIDED
"""The bucket of people who wait for the next release: whoever is still undecided in the end."""


class RegionalDemand(NamedTuple):
    """Inserted people that have to come from certain regions. N people of T(n)."""

    region: Ints
    """int[N]: where each person lives, 0 … regions - 1."""
    regions: int
    demand: Demand
    """How many people of a value and region each bucket receives; their queue is value * regions + region."""


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A plan. A principle that finds more while it plans has a subclass."""

    plan: Plan
    regional: Iterable[RegionalDemand] = ()
    """From where the people come whom the plan moves."""


A = TypeVar("A", bound=Planned)
"""What a principle plans."""


@dataclass(frozen=True)
class Assignment(Generic[A]):
    """N people of T(n), and where they go."""

    people: pl.DataFrame
    values: pl.Series
    """All sensitive values there are."""
    value: Ints
    """int[N]: which of them each person has."""
    division: Division
    planned: A
    bucket: Ints
    """int[N]: the bucket of each person, or `HELD_BACK`."""

    @property
    def is_hosted(self) -> Bools:
        """bool[N]: who is in the release."""
        hosted: Bools = self.bucket != HELD_BACK
        return hosted

    @cached_property
    def hosted(self) -> pl.DataFrame:
        """The people in the release."""
        return self.people.filter(self.is_hosted)


def execute(plan: Plan, division: Division, ranks: Words, regional: Iterable[RegionalDemand] = ()) -> Ints:
    """Find the bucket of every person of T(n), int64[N], or `HELD_BACK`.

    `ranks`, uint64[N], are a secret order of the people. `regional` says which of the people whom the plan
    moves come from where, one set of regions after the other; the others come from anywhere.
    """
    bucket, moved, signatures = division.bucket.copy(), plan.moved.copy(), plan.signatures
    values = signatures.values
    for region, regions, demand in regional:
        rows = np.flatnonzero((bucket == UNDECIDED) & (division.queue < values))
        queue = division.queue[rows] * regions + region[rows]
        bucket[rows] = assign(queue, demand, values * regions, ranks[rows])
        np.subtract.at(moved, signatures.find(demand.bucket, demand.queue // regions), demand.people)
    receiving = np.flatnonzero(moved)
    demand = Demand(
        queue=np.append(signatures.value[receiving], values + plan.separated.queue),
        bucket=np.append(signatures.bucket[receiving], plan.separated.bucket),
        people=np.append(moved[receiving], plan.separated.people),
    )
    rows = np.flatnonzero(bucket == UNDECIDED)
    queues = values + len(division.counts.separated)
    bucket[rows] = assign(division.queue[rows], demand, queues, ranks[rows])
    return bucket


def assign(queue: Ints, demand: Demand, queues: int, ranks: Words) -> Ints:
    """Find the bucket of every person, int64[N], in a secret order among those who stand in the same queue.

    People who are left over are held back.

    Parameters
    ----------
    queue
        int[N]: the queue each person stands in: people of one value (and one set of forbidden values)
        are interchangeable.
    demand
        How many of them each bucket receives.
    queues
        The number of queues.
    ranks
        uint64[N]: the secret order, which decides who of a queue goes where (section 4.2: "randomly pick").

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, section 4.2, Figure 3, lines 10 and 11.
    """
    received = np.bincount(demand.queue, demand.people, minlength=queues).astype(np.int64)
    held_back = np.bincount(queue, minlength=queues) - received
    in_line = np.argsort(np.append(demand.queue, np.arange(queues)), kind="stable")
    targets = np.append(demand.bucket, np.full(queues, HELD_BACK))[in_line]
    places = np.append(demand.people, held_back)[in_line]
    by_rank = np.argsort(ranks, kind="stable")
    ranked = by_rank[np.argsort(queue[by_rank], kind="stable")]
    bucket = np.empty(len(queue), np.int64)
    bucket[ranked] = np.repeat(targets, places)
    return bucket
