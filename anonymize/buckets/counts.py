"""The counts by bucket and value that a plan is made from, however many people there are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from republish.anonymize.arrays import Ints
from republish.anonymize.buckets.signatures import ByBucket, ByPlace, ByValue, Signatures


class Demand(NamedTuple):
    """The number of people of a queue that a bucket receives, in D entries."""

    queue: Ints
    """int[D]"""
    bucket: Ints
    """int[D]"""
    people: Ints
    """int[D]: positive."""


NOBODY = Demand(*(np.empty(0, np.int64) for _ in Demand._fields))
"""No demand."""


class Groups(NamedTuple):
    """Groups of whole signatures. B signatures."""

    signatures: Signatures
    """No two alike."""
    number: ByBucket
    """How many groups of each, with one person of every value."""


@dataclass(frozen=True)
class Counts:
    """The people of T(n), counted. V values, C classes of people who need a new signature."""

    signatures: Signatures
    """Those of all buckets there are."""
    bound: ByPlace
    """People who keep their signature (section 4.1)."""
    free: ByValue
    """Inserted people, S-, who may go to any bucket that has their value."""
    separated_value: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    """int[C]: the new value of a class of people whose value left their signature."""
    forbidden: np.ndarray = field(default_factory=lambda: np.empty((0, 0), bool))
    """bool[C, V]: the values of all their earlier signatures, which the new one must avoid."""
    separated: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    """int[C]: people in the class."""
    unknown: np.ndarray = field(default_factory=lambda: np.empty(0, bool))
    """bool[V]: the values that readers don't know, and nobody has who is inserted. Empty: none."""

    @property
    def everybody(self) -> ByValue:
        """All people of T(n)."""
        changed = np.bincount(self.separated_value, self.separated, minlength=len(self.free))
        return self.signatures.by_value(self.bound) + self.free + changed.astype(np.int64)

    @property
    def ways_out(self) -> str:
        """The first ways out where the inserted people can't be grouped: to let them wait, if others don't.

        A release of nobody is refused.
        """
        if not (self.bound.any() or self.separated.any()):
            return "Release less often, or"
        return (
            "Set on_ineligible to wait (they are held back together until they can be grouped with later"
            " ones), release less often, or"
        )


@dataclass(frozen=True)
class Plan:
    """A plan of a release, on counts. Its first buckets are those of `Counts`, in their order."""

    signatures: Signatures
    """All signatures, with new buckets at the end."""
    moved: ByPlace
    """Inserted people each place receives (balancing and assignment)."""
    separated: Demand
    """People of each separated class (its queue) each bucket receives."""
    counterfeits: ByPlace
    """Counterfeits each place receives."""
    held_back: ByValue
    """Inserted people who wait for the next release (`wait`)."""
    batch_counterfeits: int = 0
    """Counterfeits, among those above, that make the inserted people m-eligible (`counterfeit`)."""


def is_eligible(people: ByValue, m: int) -> bool:
    """Tell whether people can be split into groups of at least `m` distinct sensitive values.

    They are m-eligible if no value is carried by more than 1/m of them.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, section 4.1.
    """
    return bool(people.max(initial=0) * m <= people.sum())
