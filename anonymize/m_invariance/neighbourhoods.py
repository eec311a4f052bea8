"""New groups of several sensitive columns: combinations whose people are neighbours form a signature.

Few people have the same combination, so a bucket has few groups. Its people find neighbours among themselves
only if those of each combination live where those of the others do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from republish.anonymize.arrays import Ints
from republish.anonymize.buckets.counts import Demand
from republish.anonymize.buckets.signatures import ByBucket, ByValue, Signatures
from republish.anonymize.kernels.neighbouring import neighbouring_signatures
from republish.anonymize.m_invariance.combinations import Combinations

CONSIDERED = 100
"""Combinations of about as many people that are looked at as partners of another one."""
FEWER = 0.7
"""The share that the people of a signature's first combination have, at least, of those of the round before.
Buckets of few groups need counterfeits sooner, so signatures of many groups come first."""


class Chosen(NamedTuple):
    """Groups of inserted people, and where these live."""

    signatures: Signatures
    """Those that there were, and new ones below them."""
    groups: ByBucket
    """How many groups each bucket receives."""
    demand: Demand
    """Their people. The queue is combination * R + cell."""


def choose_neighbours(
    rest: ByValue,
    arrivals: Ints,
    combinations: Combinations,
    m: int,
    known: Signatures,
    rng: np.random.Generator,
) -> Chosen:
    """Choose groups of an m-eligible rest such that whoever is in none is m-eligible, too.

    Parameters
    ----------
    rest
        The people to choose from. Lots say which of the inserted people they are.
    arrivals
        int64[V, R]: inserted people by combination and cell. Cells are the R leaves of a tree.
    combinations, m
        As for `plan_combinations`; no numbers have to be far apart.
    known
        The signatures that there are.
    rng
        Secret randomness.

    Notes
    -----
    A bucket has equally many people of each of its combinations in a cell, and where cells have no more, in a
    node of two cells, and so on up the tree. Exchange two combinations of a bucket throughout, where its
    people come from single cells: no count that this function looks at changes, and the same signatures would
    be chosen. So they do not show which combination a person has. Of groups whose people come from wider
    nodes this is not exact, because how many live in which cell differs from one combination to the other, as
    in the first release of one column (`choose_family`).
    """
    left = arrivals.copy()
    for some in np.flatnonzero(rest < left.sum(axis=1)):
        left[some] = rng.multivariate_hypergeometric(left[some], rest[some])
    existing = np.split(known.value, known.first[1:])[: len(known)]
    rows = {signature.tobytes(): row for row, signature in enumerate(existing)}
    created, entries = list[Ints](), [np.empty((3, 0), np.int64)]
    least = int(rest.max(initial=0))
    while least:
        seed = int(rng.integers(1 << 62))
        found, which, combination, cell = neighbouring_signatures(
            left, combinations.part, m, least, CONSIDERED, seed
        )
        buckets = np.empty(len(found), np.int64)
        for position, signature in enumerate(np.sort(found, axis=1)):
            row = rows.setdefault(signature.tobytes(), len(rows))
            if row == len(existing) + len(created):
                created.append(signature)
            buckets[position] = row
        entries.append(np.stack([buckets[which], combination, cell]))
        least = int(least * FEWER) if least > 1 else int(len(found) > 0)
    bucket, combination, cell = np.concatenate(entries, axis=1)
    queue = combination * arrivals.shape[1] + cell
    different, people = np.unique(np.stack([queue, bucket]), axis=1, return_counts=True)
    return Chosen(
        known.with_new(created),
        np.bincount(bucket, minlength=len(rows)) // m,
        Demand(different[0], different[1], people),
    )
