"""Signatures as places: a row for each value of each bucket, however many values there are.

Nearly all counts by bucket and value are 0, because everybody in a bucket has a value of its signature. So
nothing here is a table of buckets times values: counts are vectors beside the places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from republish.anonymize.arrays import Bools, Ints

ByValue = Ints
"""int64[V]: a number for each sensitive value."""
ByBucket = Ints
"""int64[B]: a number for each bucket."""
ByPlace = Ints
"""int64[P]: a number for each value of each bucket's signature."""


@dataclass(frozen=True)
class Signatures:
    """B signatures of V values, which have P values together. No bucket is without a value."""

    bucket: Ints
    """int64[P]: ascending."""
    value: Ints
    """int64[P]: ascending within a bucket."""
    number: int
    """B"""
    values: int
    """V"""

    @classmethod
    def of(cls, table: Bools) -> Signatures:
        """The signatures of a table, bool[B, V].

        Examples
        --------
        >>> Signatures.of(np.array([[True, False, True]])).value
        array([0, 2])
        """
        bucket, value = np.nonzero(table)
        return cls(bucket, value, *table.shape)

    @classmethod
    def none(cls, values: int) -> Signatures:
        """No signature yet, of so many values."""
        nothing = np.empty(0, np.int64)
        return cls(nothing, nothing, 0, values)

    def __len__(self) -> int:
        """The number of signatures."""
        return self.number

    @cached_property
    def sizes(self) -> ByBucket:
        """The number of values that each has."""
        return np.bincount(self.bucket, minlength=self.number)

    @cached_property
    def first(self) -> ByBucket:
        """The place of each one's first value."""
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def by_values(self) -> Ints:
        """int64[P]: all places, value by value, and bucket by bucket within a value."""
        return np.argsort(self.value, kind="stable")

    @cached_property
    def _keys(self) -> np.ndarray:
        return self.bucket * self.values + self.value

    def find(self, bucket: np.ndarray, value: np.ndarray) -> Ints:
        """int64[N]: the place of each bucket and value; -1 where the value is not in the signature."""
        wanted = bucket * self.values + value
        place = np.searchsorted(self._keys, wanted)
        found = place < len(self._keys)
        found[found] = self._keys[place[found]] == wanted[found]
        return np.where(found, place, -1)

    def places_of(self, buckets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All places of some buckets, one bucket after the other: positions in `buckets`, and the places."""
        sizes = self.sizes[buckets]
        position = np.repeat(np.arange(len(buckets)), sizes)
        within = np.arange(len(position)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return position, self.first[buckets][position] + within

    def only(self, buckets: np.ndarray) -> tuple[Signatures, np.ndarray]:
        """The signatures of some buckets, which are numbered anew, and the places that they had."""
        position, place = self.places_of(buckets)
        return Signatures(position, self.value[place], len(buckets), self.values), place

    def with_new(self, signatures: Sequence[np.ndarray]) -> Signatures:
        """These, and below them new ones: the values of each."""
        sizes = np.array([len(signature) for signature in signatures], np.int64)
        return Signatures(
            np.append(self.bucket, np.repeat(self.number + np.arange(len(sizes)), sizes)),
            np.concatenate([self.value, *map(np.sort, signatures)]),
            self.number + len(sizes),
            self.values,
        )

    def by_bucket(self, people: ByPlace) -> ByBucket:
        """The sum over the places of each bucket."""
        return np.bincount(self.bucket, people, self.number).astype(np.int64)

    def by_value(self, people: ByPlace) -> ByValue:
        """The sum over the places of each value."""
        return np.bincount(self.value, people, self.values).astype(np.int64)

    def most(self, people: ByPlace) -> ByBucket:
        """The most that any place of each bucket has."""
        highest = np.zeros(self.number, np.int64)
        np.maximum.at(highest, self.bucket, people)
        return highest

    def scarcest(self, people: ByValue) -> ByBucket:
        """The fewest people that any value of each signature has."""
        fewest: Ints = np.minimum.reduceat(people[self.value], self.first) if self.number else self.first
        return fewest

    def table(self, people: ByPlace | None = None) -> Ints:
        """int64[B, V]: what the places have; without it bool[B, V], which places there are."""
        table = np.zeros((self.number, self.values), bool if people is None else np.int64)
        table[self.bucket, self.value] = True if people is None else people
        return table
