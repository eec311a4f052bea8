"""One release of a principle of buckets: people are divided, planned, assigned, published and remembered.

Principles differ in how they plan, in what they publish of a bucket, and in what they remember beside
signatures. Each brings a subclass of `BucketRelease`, with a method for each of the three.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, TypeVar

import polars as pl

from republish.anonymize.arrays import Bools, Ints
from republish.anonymize.buckets.assign import A, Assignment, execute
from republish.anonymize.buckets.divide import Division, divide_people
from republish.anonymize.buckets.figures import BucketFigures
from republish.anonymize.buckets.memory import Memory
from republish.anonymize.buckets.minimum_people import assign_with_minimum_people
from republish.anonymize.buckets.parameters import BucketParameters
from republish.anonymize.buckets.public_values import (
    refuse_own_values,
)
from republish.anonymize.buckets.tables import all_buckets, buckets_in_use
from republish.anonymize.columns import PSEUDONYM, VALUE
from republish.anonymize.contract import Contract
from republish.anonymize.contract.combined import readable
from republish.anonymize.people.ranks import keyed_ranks
from republish.anonymize.principle.candidate import Candidate
from republish.anonymize.principle.principle import Draw
from republish.anonymize.principle.state import State


@dataclass(frozen=True, kw_only=True)
class Tuples:
    """The T rows of T*(n), published: hosted people, and below them counterfeits."""

    tables: Mapping[str, pl.DataFrame]
    group_id: Ints
    """int[T]: the published group of each."""
    bucket: Ints
    """int[T]"""
    counterfeit: Bools
    """bool[T]"""
    remembered: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    """Tables of the state that publishing them makes."""


P = TypeVar("P", bound=BucketParameters)
"""The principle's parameters."""


@dataclass(frozen=True)
class BucketRelease(ABC, Generic[P, A]):
    """A release of T(n); a principle's subclass says how it is planned, published and remembered."""

    people: pl.DataFrame
    contract: Contract[P]
    state: State
    number: int
    draw: Draw

    @abstractmethod
    def plan(self, people: pl.DataFrame, values: pl.Series, division: Division) -> A:
        """Plan for some of the people, divided, and all sensitive values there are."""

    @abstractmethod
    def publish(self, assigned: Assignment[A]) -> Tuples:
        """Group the tuples of each bucket, and publish the groups."""

    @abstractmethod
    def remember(
        self, everybody: Division, assigned: Assignment[A], in_use: pl.DataFrame, tuples: Tuples, /
    ) -> tuple[Mapping[str, pl.DataFrame], BucketFigures]:
        """Tables that the state has beside the signatures, and the release's figures.

        `everybody` divides all people of T(n), also those who have too few others to hide among, of whom
        `assigned` has none. `in_use` is what `buckets_in_use` returns.
        """

    @cached_property
    def memory(self) -> Memory:
        """The signatures that people had in the releases so far."""
        return Memory.of(self.state, self.people.schema[VALUE])

    @cached_property
    def everybody(self) -> pl.DataFrame:
        """T(n), ordered by a keyed hash: the order in which rows arrive decides nothing."""
        return self.people.sort(PSEUDONYM)

    def candidate(self) -> Candidate:
        """The release, computed."""
        least = self.contract.principle.people_per_group
        everybody, assigned = assign_with_minimum_people(self.everybody, least, self._assign)
        tuples = self.publish(assigned)
        linkage = assigned.hosted.select(
            PSEUDONYM,
            pl.Series("bucket_id", assigned.bucket[assigned.is_hosted], dtype=pl.Int32),
            pl.Series("group_id", tuples.group_id[~tuples.counterfeit]),
        )
        buckets = all_buckets(self.memory.buckets, assigned.planned.plan, assigned.values)
        in_use = buckets_in_use(tuples.bucket, tuples.group_id, tuples.counterfeit, buckets)
        public = readable(assigned.values, self.memory.published, self.contract.sensitive).to_numpy()
        self._check_public(assigned, tuples, public)
        further, figures = self.remember(everybody.division, assigned, in_use, tuples)
        memory = self.memory.after(linkage, buckets, self.number)
        return Candidate(
            published=tuples.tables,
            linkage=linkage,
            buckets=in_use,
            state=State({**memory.tables(), **further}),
            figures=figures,
        )

    def _check_public(self, assigned: Assignment[A], tuples: Tuples, public: Bools) -> None:
        """Raise NotEligible if the values that readers know, bool[V], say too much of somebody."""
        refuse_own_values(assigned, tuples.group_id, tuples.counterfeit, public)

    def _assign(self, people: pl.DataFrame) -> Assignment[A]:
        """Divide people, plan on counts, and choose who comes to which bucket."""
        values, value, division = divide_people(people, self.contract, self.memory, self.number)
        planned = self.plan(people, values, division)
        ranks = keyed_ranks(people[PSEUDONYM], self.draw("assign"))
        bucket = execute(planned.plan, division, ranks, planned.regional)
        return Assignment(people, values, value, division, planned, bucket)
