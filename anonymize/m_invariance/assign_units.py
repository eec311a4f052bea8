"""Place people with several rows by a plan: all rows of a person that have one value go to one bucket."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple, TypeVar

import numpy as np

from republish.anonymize.arrays import Bools, Ints, Words
from republish.anonymize.buckets.assign import Planned, RegionalDemand
from republish.anonymize.buckets.counts import NOBODY, Demand, Plan
from republish.anonymize.buckets.divide import UNDECIDED, Division
from republish.anonymize.buckets.plan import shortages
from republish.anonymize.buckets.separate import new_signature
from republish.anonymize.buckets.signatures import ByPlace, Signatures
from republish.anonymize.errors import NotEligible
from republish.anonymize.kernels.place_units import place_units
from republish.anonymize.m_invariance.units import BITS, Units, bits_of, words_of

P = TypeVar("P", bound=Planned)


def assign_units(
    units: Units,
    value: Ints,
    division: Division,
    plan: Callable[[Division, str | None], P],
    m: int,
    rng: np.random.Generator,
) -> tuple[P, Plan, Ints]:
    """Find the bucket of every row, int64[N] or `HELD_BACK`: a plan, what became of it, and the buckets.

    A plan on counts says how many rows of a value each bucket gets, and from which regions. Units are placed
    such that it comes true, as far as all rows of a unit go to one bucket, whose signature shares no value
    with those of the person's other units. People with several values come first. Then it is planned anew:
    people with one value fill what is short where those are. Counterfeits make up for the rest.

    Parameters
    ----------
    units, value, division
        What `find_units` found, and everybody's value.
    plan
        Plans for a division; its second argument is what becomes of people who are not eligible, where it is
        not what the contract says.
    m
        Privacy parameter.
    rng
        Secret randomness, for signatures that may not be as large as what is left of the values.

    Raises
    ------
    NotEligible
        If fewer than m values are left to units of people who have others.
    """
    planned = plan(division, None)
    if planned.plan.held_back.any():  # all new rows wait
        return planned, planned.plan, division.bucket
    found, has_others = np.full(len(units.value), UNDECIDED), units.have_others
    if has_others.any():
        signatures = _follow(units, has_others, value, division, planned, found, m, rng)
        division = _divided_again(units, value, division, signatures, found)
        planned = plan(division, "counterfeit")
    signatures = _follow(units, ~has_others, value, division, planned, found, m, rng)
    counts = _divided_again(units, value, division, signatures, found)
    present = counts.counts.bound
    none = np.empty(0, np.int64)
    followed = Plan(
        signatures=signatures,
        moved=_rows_at(signatures, units, found),
        separated=Demand(none, none, none),
        counterfeits=shortages(signatures, present),
        held_back=np.zeros_like(planned.plan.held_back),
    )
    return planned, followed, counts.bucket


def _follow(
    units: Units,
    which: Bools,
    value: Ints,
    division: Division,
    planned: Planned,
    found: Ints,
    m: int,
    rng: np.random.Generator,
) -> Signatures:
    """Place some of the units by a plan; returns the signatures there are then. `found` follows."""
    plan, signatures = planned.plan, planned.plan.signatures
    order, before = units.order[which[units.order]], _rows_at(signatures, units, found)
    _place(units, order, plan.moved, planned.regional, signatures, found, m)
    kept = division.bucket != UNDECIDED
    present = np.bincount(
        signatures.find(division.bucket[kept], value[kept]), minlength=len(signatures.value)
    )
    for beyond in (False, True):
        short = shortages(signatures, present + _rows_at(signatures, units, found) - before)
        _place(units, order, short, (), signatures, found, m, beyond=beyond)
    often = signatures.by_value(present + _rows_at(signatures, units, found) - before)
    return _with_new_signatures(units, order, signatures, found, often, m, rng)


def _divided_again(
    units: Units, value: Ints, division: Division, signatures: Signatures, found: Ints
) -> Division:
    """The division in which the rows of units that were placed have a signature."""
    bucket, is_new = division.bucket.copy(), units.of_row >= 0
    bucket[is_new] = found[units.of_row[is_new]]
    kept, waiting = bucket != UNDECIDED, found == UNDECIDED
    counts = replace(
        division.counts,
        signatures=signatures,
        bound=np.bincount(signatures.find(bucket[kept], value[kept]), minlength=len(signatures.value)),
        free=np.bincount(units.value[waiting], units.rows[waiting], signatures.values).astype(np.int64),
    )
    return replace(division, bucket=bucket, counts=counts)


def _place(
    units: Units,
    order: Ints,
    open_places: ByPlace,
    regional: Iterable[RegionalDemand],
    signatures: Signatures,
    found: Ints,
    m: int,
    *,
    beyond: bool = False,
) -> None:
    """Place units that have no bucket yet, each in the narrowest region that wants it.

    `found`, `units.forbidden` and `units.spare` follow. Nobody comes to a signature of less than m values,
    from before m was raised.
    """
    takes = signatures.sizes[signatures.bucket] >= m
    anywhere = Demand(signatures.value[takes], signatures.bucket[takes], open_places[takes])
    places = _places(units, anywhere, regional, signatures)
    place_units(
        order,
        places.queue,
        units.value,
        units.rows,
        units.person,
        units.forbidden,
        units.spare,
        words_of(signatures),
        signatures.sizes - m,
        places.first,
        places.bucket,
        places.wider,
        places.open,
        found,
        beyond,
    )


class _Places(NamedTuple):
    """The open places of buckets in regions of L widths, as `place_units` has them: Q queues, E entries."""

    queue: Ints
    """int64[L, U]"""
    first: Ints
    """int64[Q + 1]"""
    bucket: Ints
    """int64[E]"""
    wider: Ints
    """int64[E]"""
    open: Ints
    """int64[E]"""


def _places(
    units: Units, anywhere: Demand, regional: Iterable[RegionalDemand], signatures: Signatures
) -> _Places:
    """Find the open places in regions of each width: those that are wanted there, or in a region inside.

    A region is one of two that the next wider one consists of. The widest one has what is wanted `anywhere`.
    """
    demands, buckets = {one.regions: one for one in regional}, len(signatures)
    regions = max(demands, default=1)
    home = demands[regions].region[units.row] if demands else np.zeros(len(units.row), np.int64)
    queue, begin = units.value * regions + home, 0
    at, bucket, wanted = NOBODY
    queues, keys, around, number = [], [], [], []
    while True:
        if regions == 1:
            at, bucket, wanted = anywhere
        elif regions in demands:
            more = demands[regions].demand
            at, bucket = np.append(at, more.queue), np.append(bucket, more.bucket)
            wanted = np.append(wanted, more.people)
        different, which = np.unique(at * buckets + bucket, return_inverse=True)
        wanted = np.bincount(which, wanted, len(different)).astype(np.int64)
        at, bucket = np.divmod(different, buckets)
        queues.append(begin + queue)
        keys.append(begin * buckets + different)
        number.append(wanted)
        begin += signatures.values * regions
        if regions == 1:
            break
        at, queue, regions = at >> 1, queue >> 1, regions >> 1
        around.append((begin + at) * buckets + bucket)
    key = np.concatenate(keys)
    wider = np.searchsorted(key, np.concatenate([np.empty(0, np.int64), *around]))
    return _Places(
        queue=np.array(queues),
        first=np.searchsorted(key, np.arange(begin + 1) * buckets),
        bucket=key % buckets,
        wider=np.append(wider, np.full(len(keys[-1]), -1)),
        open=np.concatenate(number),
    )


def _rows_at(signatures: Signatures, units: Units, found: Ints) -> Ints:
    """int64[P]: rows of the units that were placed, by place."""
    placed = found != UNDECIDED
    place = signatures.find(found[placed], units.value[placed])
    return np.bincount(place, units.rows[placed], len(signatures.value)).astype(np.int64)


def _with_new_signatures(
    units: Units,
    order: Ints,
    signatures: Signatures,
    found: Ints,
    often: Ints,
    m: int,
    rng: np.random.Generator,
) -> Signatures:
    """Signatures with new ones for the units that no bucket fits; `found` follows.

    `often`, int64[V], is how frequent each value is among all others: the new ones have values that are alike
    in that, and depend on nothing else (`new_signature`). Where a signature would be too large for the
    person, lots drop as many of the other values as leave blocks of m. Any value of the signature that
    results, had it been the unit's, would have led to the same signature by as many lots.
    """
    frequent_first, new, too_few = np.argsort(-often, kind="stable"), list[Ints](), 0
    waiting = order[found[order] == UNDECIDED]
    while waiting.size:
        unit = waiting[0]
        allowed = ~_are_in(units.forbidden[units.person[unit]], frequent_first)
        allowed |= frequent_first == units.value[unit]
        possible = frequent_first[allowed]
        signature = new_signature(units.value[unit], possible, m)
        if signature is not None and len(signature) - m > units.spare[units.person[unit]]:
            others = np.flatnonzero(possible != units.value[unit])
            possible = np.delete(possible, rng.choice(others, len(possible) % m, replace=False))
            signature = new_signature(units.value[unit], possible, m)
        if signature is None:
            too_few += int(units.rows[unit])
            waiting = waiting[1:]
            continue
        bits = np.zeros(units.forbidden.shape[1], np.uint64)
        np.bitwise_or.at(bits, signature // BITS, bits_of(signature))
        both = units.forbidden[units.person[waiting]] & bits
        own = units.value[waiting]
        both[np.arange(len(own)), own // BITS] &= ~bits_of(own)
        fits = np.isin(own, signature) & ~both.any(axis=1)
        fits &= len(signature) - m <= units.spare[units.person[waiting]]
        found[waiting[fits]] = len(signatures) + len(new)
        units.forbidden[units.person[waiting[fits]]] |= bits
        units.spare[units.person[waiting[fits]]] -= len(signature) - m
        waiting = waiting[~fits]
        new.append(signature)
    if too_few:
        raise NotEligible(
            f"{too_few} new rows are of people who have other values, and fewer than m ({m}) values are left"
            " outside of these and of their signatures. Choose a smaller m, fewer values_per_person, or begin"
            " a new series"
        )
    return signatures.with_new(new)


def _are_in(words: Words, values: Ints) -> Bools:
    """bool[N]: which values are in a set, uint64[W]."""
    is_in: Bools = (words[values // BITS] & bits_of(values)) != 0
    return is_in
