"""Places that people come from to the buckets that there are: those where their value is missing.

Intervals are short where the people of a bucket who carry one value live in the same places as those who
carry another. People leave and arrive value by value, so differences would grow from release to release.
Choosing who comes to which bucket, among people of the same value, keeps them small.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy

from republish.anonymize.arrays import Floats, Ints
from republish.anonymize.buckets.assign import RegionalDemand
from republish.anonymize.buckets.counts import NOBODY, Demand, Plan
from republish.anonymize.buckets.divide import UNDECIDED, Division
from republish.anonymize.m_invariance.regions import Regions, cut

SMALLEST = 80
"""People of T(n) in the smallest cells, about."""
DEEPEST = 8
"""Cuts at most. With 4 in place of 8, intervals are 2 % longer after 20 releases."""
BY_LOT = 2
"""One place in so many is filled by lot. Intervals are 7 % shorter after 20 releases than with all by lot,
and an adversary guesses no more; with none by lot they are 13 % shorter, and an adversary guesses more."""
TOGETHER = 50
"""Places of one value that are filled at a time, each in view of those filled before."""
ENTRIES = 1 << 24
"""Numbers that a table of people by combination and cell has, at most: cells are wider where it would."""
CONSIDERED = 400
"""People who are considered for them. Whoever is not chosen is considered again."""


class Cells(NamedTuple):
    """A kd-tree of everybody in T(n), and how far apart people live in each of its nodes."""

    leaves: Regions
    """The smallest cells; 2 ** depth of them."""
    extent: list[Floats]
    """float64[2], float64[4], …, float64[leaves]: the sum of the standard deviations of all attributes."""


def find_cells(shares: Floats, most: float = np.inf) -> Cells:
    """Find the cells of all levels, `most` at most, from quasi-identifiers, float64[N, d], in [0, 1]."""
    depth = int(np.clip(np.log2(max(min(len(shares) / SMALLEST, most), 1)), 0, DEEPEST))
    leaf = cut(shares, depth)
    leaves = 1 << depth
    people = np.bincount(leaf, minlength=leaves)
    sums = [np.bincount(leaf, column, leaves) for column in shares.T]
    squares = [np.bincount(leaf, column**2, leaves) for column in shares.T]
    extent = []
    for level in range(1, depth + 1):
        here = np.maximum(_joined(people, level), 1)
        variances = (
            _joined(square, level) / here - (_joined(total, level) / here) ** 2
            for total, square in zip(sums, squares, strict=True)
        )
        extent.append(np.sum([np.sqrt(np.maximum(variance, 0)) for variance in variances], axis=0))
    return Cells(Regions(leaf, leaves), extent)


def from_the_neighbourhood(
    division: Division, plan: Plan, cells: Cells, rng: np.random.Generator, elsewhere: Demand = NOBODY
) -> list[RegionalDemand]:
    """Say from which cells the inserted people of each bucket come; nothing where there is one cell.

    The people who stay in a bucket, whatever their values, say which share of each of its values should live
    in a cell. Half of a value's inserted people, who are as many as its open places, come to a bucket by lot.
    Each of the others comes to the bucket that lacks people with this value where they live: the assignment
    problem, with `worth` as what is gained. Places are filled in a secret order; who is held back is left to
    chance alone. Of some people, `elsewhere`, it is said already from where they come.

    Notes
    -----
    After a release as before, people of all values of a bucket live in the same places, as far as there are
    any. But of a rare value few people arrive: if all went where they are missing most, somebody who comes to
    a bucket that has enough people around would probably have a rare value. People who come by lot do so too,
    whatever their value. What is left of it is measured by `benchmarks.arrivals` and
    `benchmarks.learned_attack`.
    """
    where = cells.leaves
    if where.number == 1:
        return []
    arrivals, still = count_arrivals(division, where), plan.moved.copy()
    np.subtract.at(arrivals.reshape(-1), elsewhere.queue, elsewhere.people)
    there = plan.signatures.find(elsewhere.bucket, elsewhere.queue // where.number)
    np.subtract.at(still, there, elsewhere.people)
    plan = replace(plan, moved=still)
    received = plan.signatures.by_value(plan.moved)
    for left_over in np.flatnonzero(received < arrivals.sum(axis=1)):
        arrivals[left_over] = rng.multivariate_hypergeometric(arrivals[left_over], received[left_over])

    receiving = np.flatnonzero(plan.moved)
    bucket, value = plan.signatures.bucket[receiving], plan.signatures.value[receiving]
    moved = plan.moved[receiving]
    present, wanted = _present_and_wanted(division, plan, receiving, where)
    filled = []
    by_value = np.argsort(value, kind="stable")
    for rows in np.split(by_value, np.flatnonzero(np.diff(value[by_value])) + 1) if len(value) else []:
        v = value[rows[0]]
        places = rng.permutation(np.repeat(rows, moved[rows]))
        coming = rng.permutation(np.repeat(np.arange(where.number), arrivals[v]))
        lots = len(places) // BY_LOT
        filled.append((places[:lots], coming[:lots]))
        np.add.at(present, filled[-1], 1)
        places, coming = places[lots:], coming[lots:]
        for begin in range(0, len(places), TOGETHER):
            part = places[begin : begin + TOGETHER]
            gain = worth(present[rows], wanted[rows], cells.extent)
            gain = gain[np.searchsorted(rows, part)][:, coming[:CONSIDERED]]
            _, taken = scipy.optimize.linear_sum_assignment(gain, maximize=True)
            filled.append((part, coming[taken]))
            np.add.at(present, filled[-1], 1)
            coming = np.delete(coming, taken)
    row, cell = (np.concatenate([np.empty(0, np.int64), *(ends[i] for ends in filled)]) for i in (0, 1))
    at = np.ravel_multi_index((row, cell), present.shape)
    different, people = np.unique(at, return_counts=True)
    row, cell = np.divmod(different, where.number)
    demand = Demand(value[row] * where.number + cell, bucket[row], people)
    demands = [one for one in (elsewhere, demand) if len(one.queue)]
    return [RegionalDemand(where.of_person, where.number, one) for one in demands]


def count_arrivals(division: Division, where: Regions) -> Ints:
    """int64[V, R]: people who may go to any bucket, by value and region."""
    values = len(division.counts.free)
    free = (division.bucket == UNDECIDED) & (division.queue < values)
    return where.count_by(division.queue[free], values, free)


def _present_and_wanted(
    division: Division, plan: Plan, receiving: np.ndarray, where: Regions
) -> tuple[np.ndarray, np.ndarray]:
    """float64[P, C] twice: of each place that receives anybody, who lives where now, and who should.

    A bucket has one more person than there are, who lives where everybody does.
    """
    stays = np.flatnonzero(division.bucket != UNDECIDED)
    row = np.full(len(plan.moved), -1)
    row[receiving] = np.arange(len(receiving))
    row = row[plan.signatures.find(division.bucket[stays], division.queue[stays])]
    known = row >= 0
    present = where.count_by(row[known], len(receiving), stays[known]).astype(float)
    everybody = np.bincount(where.of_person, minlength=where.number) / max(len(where.of_person), 1)
    profile = where.count_by(division.bucket[stays], len(plan.signatures), stays) + everybody
    profile /= profile.sum(axis=1, keepdims=True)
    people = present.sum(axis=1) + plan.moved[receiving]
    return present, people[:, None] * profile[plan.signatures.bucket[receiving]]


def worth(present: Floats, wanted: Floats, extent: list[Floats]) -> Floats:
    """The gain by one more person in each cell, float64[P, C], from people by leaf, float64[P, C].

    By so much falls the sum of squared differences between the people who are present and those wanted, over
    all nodes of the tree that the person lives in, each weighed by how far apart people live there (`extent`,
    float64[2], float64[4], …, float64[C]). C is a power of two.
    """
    gain = np.zeros_like(present)
    for level, weight in enumerate(extent, start=1):
        missing = _joined(wanted - present, level)
        gain += np.repeat(weight * (2 * missing - 1), present.shape[1] >> level, axis=1)
    return gain


def _joined(by_leaf: np.ndarray, level: int) -> np.ndarray:
    """Sums by node, 2 ** level of them, of what is given by leaf in the last dimension."""
    by_node: np.ndarray = by_leaf.reshape(*by_leaf.shape[:-1], 1 << level, -1).sum(axis=-1)
    return by_node
