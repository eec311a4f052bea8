"""Plan a release of several sensitive columns on counts: `make_plan` for combinations of values.

What is planned is the same: shortages of buckets, people who fill them, and groups of the others. What
differs is which people can be grouped: combinations have to differ in every column (`combinations`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anonymize.arrays import Ints
from anonymize.buckets.core import HALF_LARGE, SEARCHED, WORTHWHILE, most_worth
from anonymize.buckets.counts import Counts, Demand, Plan
from anonymize.buckets.plan import people_lacking, scatter, shortages
from anonymize.buckets.signatures import Signatures
from anonymize.errors import NotEligible, smaller
from anonymize.m_invariance.combinations import Combinations, next_step
from anonymize.m_invariance.deferred import eligible_part, give_up_groups
from anonymize.rounding import whole_below


def plan_combinations(
    counts: Counts,
    combinations: Combinations,
    m: int,
    on_ineligible: str,
    rng: np.random.Generator,
    *,
    least: int = 1,
) -> Plan:
    """Balance every bucket and assign everybody who is inserted, with few counterfeits.

    Parameters
    ----------
    counts
        The people of T(n) by bucket and combination. Nobody of them needs a new signature.
    combinations
        What the V values of the counts are made of.
    m
        Privacy parameter, at least 2. Buckets with smaller signatures receive nobody.
    on_ineligible
        What becomes of inserted people who can't be grouped: no release (`refuse`), all inserted people wait
        (`wait`), or the others are published without them (`defer`).
    rng
        Secret randomness: which tuples share a group with people and which with counterfeits, and who of
        those with a frequent value is left out.
    least
        As many people as a bucket should have for each of its groups, at most m: shortages are filled so
        that buckets lack the fewest.

    Raises
    ------
    NotEligible
        If inserted people can't be grouped (`refuse`).
    """
    assert not counts.separated.any(), "nobody has a new combination outside of their signature"
    known, need = counts.signatures, shortages(counts.signatures, counts.bound)
    open_need = need * (known.sizes >= m)[known.bucket]
    groups = known.most(counts.bound)
    free = eligible_part(counts.free, combinations, m, rng) if on_ineligible == "defer" else counts.free
    placed = _everybody(free, known.by_value(open_need), combinations, m, known, groups)
    if placed.left.any() and on_ineligible == "refuse":
        raise NotEligible(_why_not(counts.free, placed.left, combinations, m))
    number: Ints | None = placed.groups
    if placed.left.any() and on_ineligible == "wait":
        number = None
    elif placed.left.any():
        batch = counts.free, counts.free - free
        number = give_up_groups(placed.groups, placed.left, placed.signatures, batch, combinations, m, rng)
    if number is None:  # all of them wait
        nobody = np.zeros_like(counts.free)
        placed = _everybody(nobody, nobody, combinations, m, known, groups)
        number = placed.groups
    lacking = people_lacking(known, counts.bound + need, counts.bound, least)
    filled = scatter(placed.moved, open_need, known, rng, lacking)
    assigned = number[placed.signatures.bucket]
    grown = (0, len(assigned) - len(need))
    return Plan(
        signatures=placed.signatures,
        moved=np.pad(filled, grown) + assigned,
        separated=Demand(*(np.empty(0, np.int64) for _ in Demand._fields)),
        counterfeits=np.pad(need - filled, grown),
        held_back=counts.free - placed.moved - placed.signatures.by_value(assigned),
    )


class _Placed(NamedTuple):
    """Where inserted people go."""

    moved: Ints
    """int[V]: people who fill shortages."""
    groups: Ints
    """int[B']: further groups of each bucket."""
    signatures: Signatures
    """The buckets that there are, and new ones below them."""
    left: Ints
    """int[V]: people of whom no group was found."""


def _everybody(
    free: Ints, need: Ints, combinations: Combinations, m: int, known: Signatures, groups: Ints
) -> _Placed:
    """Fill shortages, then large buckets, then all others, then new ones; whoever is not eligible is left."""
    if not combinations.are_eligible(free, m):
        return _Placed(np.zeros_like(free), np.zeros(len(known), np.int64), known, free)
    moved = _fill(free, need, combinations, m)
    rest = free - moved
    reused = _largest_first(rest, combinations, m, known, groups)
    rest = rest - known.by_value(reused[known.bucket])
    reused = reused + _in_turn(rest, combinations, m, known)
    rest = free - moved - known.by_value(reused[known.bucket])
    number, signatures, left = _new_groups(rest, combinations, m, known)
    number[: len(reused)] += reused
    return _Placed(moved, number, signatures, left)


def _fill(free: Ints, need: Ints, combinations: Combinations, m: int) -> Ints:
    """int[V]: people who fill shortages: about as many as leave the others m-eligible.

    A linear program says which, and rounding it down may leave an ineligible rest. Then people who don't have
    the value in excess are taken out of shortages again. With none in shortages, all m-eligible people are
    left.
    """
    most = np.minimum(free, need)
    if not most.any() or combinations.are_eligible(free - most, m):
        return most
    here = np.flatnonzero(most)
    has = combinations.with_limit(here)
    excess = combinations.excess(free, m)
    used = np.vstack([(combinations.most(m) - m * has).T.astype(float), np.eye(len(here))])
    moved = np.zeros_like(most)
    found = most_worth(np.ones(len(here)), used, np.concatenate([-excess, most[here]]).astype(float))
    moved[here] = whole_below(found)
    while moved.any() and not combinations.are_eligible(free - moved, m):
        worst = int(np.argmax(combinations.excess(free - moved, m)))
        without = moved[here] * (has[:, worst] == 0)
        moved[here[np.argmax(without if without.any() else moved[here])]] -= 1
    return moved


def _largest_first(rest: Ints, combinations: Combinations, m: int, known: Signatures, groups: Ints) -> Ints:
    """int[B]: groups that large buckets receive, such that the others stay m-eligible: `assign_core`."""
    received = np.zeros(len(known), np.int64)
    usable = np.flatnonzero((known.sizes >= m) & (groups > 0))
    usable = usable[np.argsort(-groups[usable], kind="stable")][:SEARCHED]
    if not usable.size or rest.sum() < WORTHWHILE * m:
        return received
    inside, size = known.only(usable)[0].table(), known.sizes[usable]
    used = np.flatnonzero(inside.any(axis=0))
    has = combinations.of_signatures(known.only(usable)[0])
    worth = size * groups[usable] / (groups[usable] + HALF_LARGE)
    most = most_worth(
        worth,
        np.vstack([inside.T[used], (combinations.most(m) * size[:, None] - m * has).T]),
        np.concatenate([rest[used], -combinations.excess(rest, m)]),
    )
    new = whole_below(most)
    while new.any():
        left = rest - new @ inside
        if left.min() >= 0 and combinations.are_eligible(left, m):
            break
        # A group given back brings one person of each of its values: if it can be, not of the one in excess.
        worst = int(np.argmax(combinations.excess(left, m)))
        spare = has[:, worst] < np.where(worst < combinations.parts, 1, size - 1)
        helps = (new > 0) & (inside[:, np.argmin(left)] if left.min() < 0 else spare)
        new[np.argmax(np.where(helps if helps.any() else new > 0, new, -1))] -= 1
    received[usable] = new
    return received


def _in_turn(rest: Ints, combinations: Combinations, m: int, known: Signatures) -> Ints:
    """int[B]: groups that buckets receive, the one with the most first: `assign_to_existing`."""
    received, rest = np.zeros(len(known), np.int64), rest.copy()
    usable = np.flatnonzero(known.sizes >= m)
    if usable.size:
        usable = usable[np.minimum.reduceat(rest[known.value], known.first)[usable] > 0]
    if not usable.size:
        return received
    some = known.only(usable)[0]
    takes = combinations.most(m) * some.sizes[:, None] - m * combinations.of_signatures(some)
    while True:
        most = np.minimum.reduceat(rest[some.value], some.first)
        rooms = -combinations.excess(rest, m) // np.maximum(takes, 1)
        most = np.minimum(most, rooms.min(axis=1, where=takes > 0, initial=most.max()))
        best = np.lexsort((some.sizes, -most))[0]
        if most[best] < 1:
            return received
        received[usable[best]] += most[best]
        rest[some.value[some.bucket == best]] -= most[best]


def _new_groups(
    rest: Ints, combinations: Combinations, m: int, known: Signatures
) -> tuple[Ints, Signatures, Ints]:
    """int[B']: groups of signatures, those known and new ones below; and people of whom none was found."""
    rest, number = rest.copy(), [0] * len(known)
    signatures = np.split(known.value, known.first[1:])[: len(known)]
    rows = {signature.tobytes(): row for row, signature in enumerate(signatures)}
    new: list[Ints] = []
    eligible = True
    while rest.any():
        step = next_step(rest, combinations, m, eligible=eligible)
        if step is None and not eligible:
            break
        if step is None:  # of three columns and more: somebody will be left, and need not be m-eligible
            eligible = False
            continue
        row = rows.setdefault(step.signature.tobytes(), len(rows))
        if row == len(number):
            new.append(step.signature)
            number.append(0)
        number[row] += step.groups
        rest[step.signature] -= step.groups
    return np.array(number, np.int64), known.with_new(new), rest


def _why_not(free: Ints, left: Ints, combinations: Combinations, m: int) -> str:
    """Why inserted people can't be grouped, and the way out."""
    most, people = int(combinations.by_part(free).max()), int(free.sum())
    way_out = (
        "Set on_ineligible to wait (they are held back together until they can be grouped with later ones) or"
        " defer (the fewest are held back), release less often, or"
    )
    if most * m > people:
        return (
            f"the {people} inserted people are not {m}-eligible: {most} of them share a value of a sensitive"
            f" column, and at most {people // m}, 1/{m} of them, may. {way_out} {smaller('m', people, most)}"
        )
    if not combinations.are_eligible(free, m):
        near = int(combinations.by_limit(free)[combinations.parts :].max())
        return (
            f"{near} of the {people} inserted people have numbers that are too close to one another"
            f" (principle.spread), and at most {people * (m - 1) // m} of them may, so that each group of"
            f" {m} has one that is not. {way_out} choose a smaller spread or a larger m"
        )
    apart = " and whose numbers are far enough apart" if combinations.near is not None else ""
    return (
        f"{left.sum()} of the {people} inserted people are left over: no {m} combinations of values were"
        f" found among them that differ in every sensitive column{apart}. {way_out} choose a smaller m"
    )
