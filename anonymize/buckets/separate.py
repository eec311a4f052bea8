"""New signatures for people whose sensitive value left their old one, disjoint from all they had.

Whoever intersects a person's candidate sets then gets the empty set, never a small one. The paper does
not treat changed values; this is republish's own rule.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from republish.anonymize.arrays import Ints
from republish.anonymize.buckets.counts import Counts, Demand
from republish.anonymize.buckets.first_seen import groups_of_changed
from republish.anonymize.buckets.signatures import ByPlace, Signatures
from republish.anonymize.errors import NotEligible


@dataclass(frozen=True)
class Placed:
    """Buckets after the separated people found one."""

    signatures: Signatures
    """All of them, with new buckets at the end."""
    present: ByPlace
    """Bound and separated people."""
    separated: Demand
    """How many people of each class (its queue) each bucket receives."""


def place_separated(counts: Counts, m: int, rng: np.random.Generator) -> Placed:
    """Place every class of separated people in buckets disjoint from their earlier signatures.

    Shortages that have to be filled anyway come first; then the bucket with the smallest signature,
    which is a new one where none fits. Classes and buckets are visited in a random order: in a fixed
    one, who knows it could tell which shortages were filled with people and which with counterfeits.

    Nobody is held back, whatever the contract says of batches: of all people who were published before, it
    would be those with too few values left, and whoever misses them would know that they have one of these.

    Raises
    ------
    NotEligible
        If fewer than m values are left to a class.
    """
    together = groups_of_changed(counts, m, rng)
    alone = counts.separated.copy()
    for classes in together:
        alone[classes] -= 1  # a class is in a group once
    counts = replace(counts, separated=alone)
    buckets = _Buckets(counts)
    frequent_first = np.argsort(-counts.free, kind="stable")
    too_few = 0
    for group in rng.permutation(len(counts.separated)):
        value, forbidden = counts.separated_value[group], counts.forbidden[group]
        fitting = rng.permutation(buckets.that_fit(value, forbidden, m))
        remaining = buckets.fill_shortages(group, value, fitting)
        if not remaining:
            continue
        if not len(fitting):
            signature = new_signature(value, frequent_first[~forbidden[frequent_first]], m)
            if signature is None:
                too_few += remaining
                continue
            fitting = np.array([buckets.create(signature)])
        smallest = min(fitting, key=lambda bucket: buckets.signatures.sizes[bucket])
        buckets.receive(group, value, np.array([smallest]), np.array([remaining]))
    if too_few:
        raise NotEligible(
            f"{too_few} people changed their sensitive value, and fewer than m ({m}) values outside"
            " their earlier signatures are left to them. If they were held back, whoever misses them would"
            f" know too much. {'Choose a smaller m, or begin' if m > 2 else 'Begin'} a new series"
        )
    for classes in together:  # at last, so that nobody joins them
        buckets.open(classes)
    return buckets.placed()


def new_signature(value: int, allowed: np.ndarray, m: int) -> np.ndarray | None:
    """The block of at least m values that `value` lies in, of the `allowed` ones cut into blocks in order.

    Every other value of the block would have had the same signature, so that nobody can tell from the
    choice which of them is the person's: "the value and m - 1 frequent ones" would give a rare one away.
    For the same reason the order must not depend on the separated people's own values.
    """
    blocks = len(allowed) // m
    if not blocks:
        return None
    block = min(int(np.flatnonzero(allowed == value)[0]) // m, blocks - 1)
    return allowed[block * m : None if block == blocks - 1 else (block + 1) * m]


class _Buckets:
    """Buckets while they fill, and new ones are opened."""

    def __init__(self, counts: Counts):
        self.classes = counts
        self.signatures = counts.signatures
        self.present = counts.bound.astype(np.int64)
        self.entries: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def that_fit(self, value: int, forbidden: np.ndarray, m: int) -> np.ndarray:
        """Buckets that have the value, none that is forbidden, and a signature of at least m values."""
        has: Ints = self.signatures.bucket[self.signatures.value == value]
        meets = np.zeros(len(self.signatures), bool)
        meets[self.signatures.bucket[forbidden[self.signatures.value]]] = True
        return has[(self.signatures.sizes[has] >= m) & ~meets[has]]

    def fill_shortages(self, group: int, value: int, fitting: np.ndarray) -> int:
        """Place people of the class where their value is short; returns how many remain."""
        place = self.signatures.find(fitting, np.full_like(fitting, value))
        short = self.signatures.most(self.present)[fitting] - self.present[place]
        people = int(self.classes.separated[group])
        taken = np.clip(people - (np.cumsum(short) - short), 0, short)
        self.receive(group, value, fitting[taken > 0], taken[taken > 0])
        return people - int(taken.sum())

    def receive(self, group: int, value: int, buckets: np.ndarray, people: np.ndarray) -> None:
        self.present[self.signatures.find(buckets, np.full_like(buckets, value))] += people
        self.entries.append((np.full(len(buckets), group), buckets, people))

    def open(self, classes: np.ndarray) -> None:
        """Open a bucket for one person of each class, unless there is one: no two signatures are alike."""
        values = self.classes.separated_value[classes]
        every = np.arange(len(self.signatures))
        is_its = self.signatures.sizes == len(values)
        for value in values:
            is_its &= self.signatures.find(every, np.full_like(every, value)) >= 0
        bucket = np.flatnonzero(is_its) if is_its.any() else np.array([self.create(np.sort(values))])
        for group, value in zip(classes, values, strict=True):
            self.receive(group, value, bucket, np.ones(1, np.int64))

    def create(self, signature: np.ndarray) -> int:
        self.signatures = self.signatures.with_new([signature])
        self.present = np.append(self.present, np.zeros(len(signature), np.int64))
        return len(self.signatures) - 1

    def placed(self) -> Placed:
        none = np.empty(0, np.int64)
        columns = zip((none, none, none), *self.entries, strict=True)
        return Placed(
            signatures=self.signatures,
            present=self.present,
            separated=Demand(*(np.concatenate(column) for column in columns)),
        )
