"""Plan a release of several sensitive columns on counts: `make_plan` for combinations of values.

What is planned is the same: shortages of buckets, people who fill them, and groups of the others. What
differs is which people can be grouped: combinations have to differ in every column (`combinations`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from republish.anonymize.arrays import Ints
from republish.anonymize.buckets.core import HALF_LARGE, WORTHWHILE, large_buckets, leave_eligible, most_worth
from republish.anonymize.buckets.counts import NOBODY, Counts, Demand, Plan
from republish.anonymize.buckets.plan import (
    assign_counts,
    assign_to_existing,
    people_lacking,
    scatter,
    shortages,
)
from republish.anonymize.buckets.signatures import ByBucket, ByPlace, ByValue, Signatures
from republish.anonymize.errors import NotEligible, smaller
from republish.anonymize.m_invariance.combinations import Combinations
from republish.anonymize.m_invariance.neighbourhoods import Chosen, choose_neighbours
from republish.anonymize.rounding import whole_below


def plan_combinations(
    counts: Counts,
    combinations: Combinations,
    m: int,
    on_ineligible: str,
    rng: np.random.Generator,
    *,
    least: int = 1,
    arrivals: Ints | None = None,
) -> tuple[Plan, Demand]:
    """Balance every bucket and assign everybody who is inserted, with few counterfeits.

    Besides the plan, the demand says from which cells some of the people come (`choose_neighbours`).

    Parameters
    ----------
    counts
        The people of T(n) by bucket and combination. Nobody of them needs a new signature.
    combinations
        Their values of each column.
    m, rng, least
        As for `make_plan`.
    on_ineligible
        No release of inserted people who can't be grouped (`refuse`), or all inserted people wait (`wait`).
    arrivals
        int64[V, R]: inserted people by combination and cell, if new groups are to be of neighbours.

    Raises
    ------
    NotEligible
        If inserted people can't be grouped (`refuse`).
    """
    assert not counts.separated.any(), "nobody has a new combination outside of their signature"
    known, need = counts.signatures, shortages(counts.signatures, counts.bound)
    open_need = need * (known.sizes >= m)[known.bucket]
    groups = known.most(counts.bound)
    places = known.by_value(open_need)
    near = None if arrivals is None else partial(choose_neighbours, arrivals=arrivals, rng=rng)
    placed = _everybody(counts.free, places, combinations, m, known, groups, near)
    if near is not None and placed.left.any():  # perhaps nobody is, if neighbours are not preferred
        placed = _everybody(counts.free, places, combinations, m, known, groups)
    if placed.left.any() and on_ineligible == "refuse":
        raise NotEligible(_why_not(counts, placed.left, combinations, m))
    if placed.left.any():  # all of them wait
        nobody = np.zeros_like(counts.free)
        placed = _everybody(nobody, nobody, combinations, m, known, groups)
    lacking = people_lacking(known, counts.bound + need, counts.bound, least)
    filled = scatter(placed.moved, open_need, known, rng, lacking)
    assigned = placed.groups[placed.signatures.bucket]
    grown = (0, len(assigned) - len(need))
    plan = Plan(
        signatures=placed.signatures,
        moved=np.pad(filled, grown) + assigned,
        separated=NOBODY,
        counterfeits=np.pad(need - filled, grown),
        held_back=counts.free - placed.moved - placed.signatures.by_value(assigned),
    )
    return plan, placed.demand


class _Placed(NamedTuple):
    """An assignment of inserted people, on counts."""

    moved: ByValue
    """People who fill shortages."""
    groups: ByBucket
    """Further groups of each bucket."""
    signatures: Signatures
    """The buckets that there are, and new ones below them."""
    left: ByValue
    """People of whom no group was found."""
    demand: Demand = NOBODY
    """From which cells people of further groups come, where neighbours are preferred."""


def _everybody(
    free: ByValue,
    need: ByValue,
    combinations: Combinations,
    m: int,
    known: Signatures,
    groups: ByBucket,
    near: Callable[..., Chosen] | None = None,
) -> _Placed:
    """Fill shortages, then large buckets, then all others, then new ones; whoever is not eligible is left."""
    if not combinations.are_eligible(free, m):
        nobody = np.zeros_like(free)
        return _Placed(nobody, np.zeros(len(known), np.int64), known, free)
    moved = _fill(free, need, combinations, m)
    rest = free - moved
    reused = _largest_first(rest, combinations, m, known, groups)
    reused = reused + assign_to_existing(rest - known.by_value(reused), m, known, limits=combinations)
    rest, demand = rest - known.by_value(reused), NOBODY
    if near is not None:
        known, number, demand = near(rest, combinations=combinations, m=m, known=known)
        chosen = number[known.bucket]
        rest = rest - known.by_value(chosen)
        chosen[: len(reused)] += reused
        reused = chosen
    assigned, signatures = assign_counts(rest, m, known, combinations)
    left = rest - signatures.by_value(assigned)
    assigned[: len(reused)] += reused
    return _Placed(moved, signatures.most(assigned), signatures, left, demand)


def _fill(free: ByValue, need: ByValue, combinations: Combinations, m: int) -> ByValue:
    """People who fill shortages: about as many as leave the others m-eligible.

    A linear program says which, and rounding it down may leave an ineligible rest. Then people who don't have
    the value in excess are taken out of shortages again. With none in shortages, all m-eligible people are
    left.
    """
    most = np.minimum(free, need)
    if not most.any() or combinations.are_eligible(free - most, m):
        return most
    here = np.flatnonzero(most)
    has = combinations.with_part(here)
    excess = combinations.excess(free, m)
    used = np.vstack([(1 - m * has).T.astype(float), np.eye(len(here))])
    moved = np.zeros_like(most)
    found = most_worth(np.ones(len(here)), used, np.concatenate([-excess, most[here]]).astype(float))
    moved[here] = whole_below(found)
    while moved.any() and not combinations.are_eligible(free - moved, m):
        worst = int(np.argmax(combinations.excess(free - moved, m)))
        without = moved[here] * (has[:, worst] == 0)
        moved[here[np.argmax(without if without.any() else moved[here])]] -= 1
    return moved


def _largest_first(
    rest: ByValue, combinations: Combinations, m: int, known: Signatures, groups: ByBucket
) -> ByPlace:
    """People whom large buckets receive, such that the others stay m-eligible: `assign_core`."""
    received = np.zeros(len(known), np.int64)
    usable = large_buckets(known, groups, m)
    if not usable.size or rest.sum() < WORTHWHILE * m:
        return received[known.bucket]
    some, _ = known.only(usable)
    inside, size, has = some.table(), some.sizes, combinations.of_signatures(some)
    used = np.flatnonzero(inside.any(axis=0))
    worth = size * groups[usable] / (groups[usable] + HALF_LARGE)
    most = most_worth(
        worth,
        np.vstack([inside.T[used], (size[:, None] - m * has).T]),
        np.concatenate([rest[used], -combinations.excess(rest, m)]),
    )
    received[usable] = leave_eligible(rest, m, some, whole_below(most), combinations)
    return received[known.bucket]


def _why_not(counts: Counts, left: ByValue, combinations: Combinations, m: int) -> str:
    """Say why inserted people can't be grouped, and the way out."""
    free, way_out = counts.free, counts.ways_out
    most, people = int(combinations.by_part(free).max()), int(free.sum())
    if most * m > people:
        return (
            f"the {people} inserted people are not {m}-eligible: {most} of them share a value of a sensitive"
            f" column, and at most {people // m}, 1/{m} of them, may: each of a group of {m} has another"
            f" value. {way_out} {smaller('m', people, most)}"
        )
    return (
        f"{left.sum()} of the {people} inserted people are left over: no {m} combinations of values were"
        f" found among them that differ in every sensitive column. {way_out} choose a smaller m"
    )
