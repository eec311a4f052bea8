"""Limits of what groups of m may have, and so of what may be left over of a batch.

The planner asks `Limits` which signature comes next and how much a bucket can take. `ONE_COLUMN` answers in
closed form for one sensitive column, of which a group has each value once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from republish.anonymize.arrays import Ints
from republish.anonymize.buckets.counts import is_eligible
from republish.anonymize.buckets.signatures import ByBucket, ByValue, Signatures


class Step(NamedTuple):
    """Groups of one signature that are taken at once."""

    signature: Ints
    """int64[beta]: different values, ascending."""
    groups: int


class Limits(Protocol):
    """L things, each of which a group has once at most: of one column, its V values."""

    def of_signatures(self, known: Signatures) -> Ints:
        """int[B, L]: whether signatures have it, 0 or 1."""

    def excess(self, people: ByValue, m: int) -> Ints:
        """int[L]: m times the people with it, less what groups of m may have; if positive, it is too many."""

    def are_eligible(self, people: ByValue, m: int) -> bool:
        """True if people have nothing in excess."""

    def room(self, known: Signatures, m: int) -> Callable[[ByValue], ByBucket]:
        """From an m-eligible rest to the most groups of each signature that leave it m-eligible."""

    def next_step(self, rest: ByValue, m: int, *, eligible: bool) -> Step | None:
        """A signature, and as many groups of it as leave an eligible rest m-eligible; None if there is none.

        Of a rest that is not `eligible`, it is a signature of m.
        """


class _OneColumn:
    """The limits of one sensitive column: Inequalities 5 to 7 of Xiao and Tao, SIGMOD 2007, section 4.2."""

    def of_signatures(self, known: Signatures) -> Ints:
        return known.table()

    def excess(self, people: ByValue, m: int) -> Ints:
        excess: Ints = m * people - people.sum()
        return excess

    def are_eligible(self, people: ByValue, m: int) -> bool:
        return is_eligible(people, m)

    def room(self, known: Signatures, m: int) -> Callable[[ByValue], ByBucket]:
        """With alpha people of each of beta values gone, (people - alpha beta) / m may be left of each value.

        That goes for values of the signature, and for those outside of it.
        """
        beta, larger = known.sizes, known.sizes > m

        def room(rest: ByValue) -> ByBucket:
            people = rest.sum()
            alpha: ByBucket = np.minimum(
                known.scarcest(rest), (people - m * _most_outside(rest, known)) // beta
            )
            inside = known.most(rest[known.value])[larger]
            alpha[larger] = np.minimum(alpha[larger], (people - m * inside) // (beta[larger] - m))
            return alpha

        return room

    def next_step(self, rest: ByValue, m: int, *, eligible: bool) -> Step:
        """The beta most frequent values, for the smallest beta, and then the largest alpha."""
        assert eligible, "an m-eligible batch always has a step (Lemma 5)"
        order = np.argsort(-rest, kind="stable")
        counts, people = rest[order], rest.sum()
        beta = np.arange(m, len(counts) + 1)
        following = np.append(counts[m:], 0)
        alpha = np.minimum(counts[m - 1 :], (people - m * following) // beta)
        # Inequality 6 follows. For beta = m it is the eligibility of what there is. A larger beta is needed
        # only where each of the first m values has N // m people, and the others, N % m, are enough for alpha
        # people of each of the beta - m values that follow.
        first = int(np.argmax(alpha >= 1))
        assert alpha[first] >= 1, "an m-eligible batch always has a step (Lemma 5)"
        return Step(np.sort(order[: beta[first]]), int(alpha[first]))


ONE_COLUMN = _OneColumn()


def _most_outside(rest: ByValue, signatures: Signatures) -> ByBucket:
    """The people of the most frequent value that is not in the signature."""
    order = np.argsort(-rest, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    ranks = rank[signatures.value]
    ranks = ranks[np.lexsort((ranks, signatures.bucket))]
    within = np.arange(len(ranks)) - signatures.first[signatures.bucket]
    # The ranks of a signature's values in ascending order: where one is skipped, that value is outside.
    skipped = np.where(ranks != within, within, signatures.sizes[signatures.bucket])
    return np.append(rest[order], 0)[np.minimum.reduceat(skipped, signatures.first)]
