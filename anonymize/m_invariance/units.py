"""Several rows of a person: all rows that have one value get one signature, and keep it.

The unit is a person with one of their values. Its rows have one signature in every release, however many
they are and whenever they come; they are in different groups, because a group has a value once. Units of one
person have signatures that share no value. The paper knows people with one row each; this is republish's own
rule.

**What it promises.** Take an adversary who knows everybody's rows, when each was in the table, all
quasi-identifiers and the group of each row, and who takes rows of a person with equal signatures for rows
with one value. Nobody's probability of *ever having had* a value is above 1/m, however many rows they have.

Proof. Call a world a choice of a value for each row that the releases are compatible with: each group's rows
have its values, each of them once (counterfeits have the others), and rows of a unit have one. Choose a
signature S and exchange its values by any permutation, in all rows and counterfeits of groups with that
signature, in all releases. Each of these groups still has each value of S once. A unit's rows are all in such
groups or none of them is, so they still have one value. Nothing else changes. So the worlds are as many with
one value of S for a unit as with any other one, and each of the m values or more of S has the same
probability for it. A person's units have signatures that share no value, so a value is in one of them at
most: the person ever had it with a probability of at most 1/m. ∎

It follows that more rows do not add up: somebody who takes rows as independent comes to 1 - (1 - 1/m)^r for r
rows. But rows of a unit have one value, and rows of two units can't have the same one.

**What shows.** Everybody who follows a person sees how many signatures they have: how many different values.
`values_per_person` bounds it. Rows with further values, of no signature of the person, are left out, by a lot
of rows, so that a value that a person has in many rows is rather published than one that they have once.
Whoever misses such a row knows that its value is in none of the person's signatures; it is one of at least m
others (attacked by absence). So signatures that are new today have no value of a row that is left out today,
which could be shown later, and they are never so large that less than m values are left for what is missed.
No signatures help against somebody who knows from elsewhere that a person has more than V/m different values,
of the V that there are: of nine values and a person with five, each value is theirs with 5/9 beforehand.

**What can't be kept.** A value that comes later may lie in a signature that the person has. Its rows go there
(as a changed value does): to leave them out would say more, that the value is one of that signature. Then
two values of a person are in one signature of m, and whoever knows that these rows differ has 2/m. That would
be everybody, if both rows came to one group: `rows_apart` prevents it.
New signatures avoid all values that a person has today, so it happens to values that come later alone; the
audit counts these people.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import polars as pl

from republish.anonymize.arrays import Bools, Ints, Words
from republish.anonymize.buckets.assign import Planned, RegionalDemand
from republish.anonymize.buckets.counts import Demand, Plan
from republish.anonymize.buckets.divide import UNDECIDED, Division
from republish.anonymize.buckets.memory import Memory
from republish.anonymize.buckets.plan import shortages
from republish.anonymize.buckets.separate import new_signature
from republish.anonymize.buckets.signatures import ByPlace, Signatures
from republish.anonymize.columns import PSEUDONYM
from republish.anonymize.errors import NotEligible
from republish.anonymize.kernels.place_units import place_units
from republish.anonymize.people.persons import persons_of

BITS = 64
P = TypeVar("P", bound=Planned)


@dataclass(frozen=True)
class Units:
    """U units of T(n) that have no signature yet, of H people. N rows."""

    of_row: Ints
    """int[N]: the unit of each row; -1 of rows that have a signature, or that are left out."""
    value: Ints
    """int[U]"""
    person: Ints
    """int[U]"""
    rows: Ints
    """int[U]: how many rows each has."""
    row: Ints
    """int[U]: one of these rows, drawn by lot."""
    order: Ints
    """int[U]: those that are hardest to place come first."""
    have_others: Bools
    """bool[U]: whether their person has other units, or signatures."""
    forbidden: Words
    """uint64[H, W]: the values of each person's signatures and of their new rows, a bit each."""
    spare: Ints
    """int64[H]: how many values more than m a person's new signatures may have, all together."""


def find_units(
    people: pl.DataFrame, value: Ints, division: Division, memory: Memory, most: int, m: int, ranks: Words
) -> tuple[Units, Division]:
    """Find the new units of T(n), and the division in which rows that are left out count for nothing.

    A person's signatures avoid the values of their rows that are left out today, too. So a person gets no
    more of them than leave room for these values (`_that_can_be_shown`).

    Parameters
    ----------
    people, value
        The N rows, in the order of pseudonyms, and their sensitive values as numbers.
    division
        Which of them have a signature.
    memory
        The signatures that people had so far.
    most
        So many different values of a person are published at most.
    m
        Privacy parameter.
    ranks
        uint64[N]: a secret order of the rows.

    Raises
    ------
    NotEligible
        If a row has to be left out of whose person's signatures all but fewer than m values are.
    """
    persons, signatures = persons_of(people[PSEUDONYM]), division.counts.signatures
    new = np.flatnonzero(division.bucket == UNDECIDED)
    new = new[np.argsort(ranks[new], kind="stable")]
    number = persons.rle_id().to_numpy().astype(np.int64)[new]  # the rows of a person follow one another
    _, first, unit, rows = np.unique(
        number * signatures.values + value[new], return_index=True, return_inverse=True, return_counts=True
    )
    _, one, person = np.unique(number[first], return_index=True, return_inverse=True)
    known = persons.gather(new[first][one]).alias(PSEUDONYM).to_frame().with_row_index("person")
    had = known.join(memory.people.select(PSEUDONYM, "bucket_id"), on=PSEUDONYM)
    its, bucket = had["person"].to_numpy(), had["bucket_id"].to_numpy()
    number_had = np.bincount(its, minlength=len(one))
    outside = signatures.values - np.bincount(its, signatures.sizes[bucket], len(one)).astype(np.int64)
    shown, spare = _that_can_be_shown(np.bincount(person, minlength=len(one)), outside, most - number_had, m)

    # `first` is a place in the secret order: so who comes first is drawn by a lot of rows.
    drawn = np.lexsort((first, person))
    turn = np.empty(len(drawn), np.int64)
    turn[drawn] = np.arange(len(drawn)) - np.searchsorted(person[drawn], person[drawn])
    is_in = turn < shown[person]
    place = np.cumsum(is_in) - 1
    of_row = np.full(len(value), UNDECIDED)
    of_row[new] = np.where(is_in[unit], place[unit], UNDECIDED)
    unit_value = value[new[first]]
    forbidden = np.zeros((len(one), max(1, -(-signatures.values // BITS))), np.uint64)
    np.bitwise_or.at(forbidden, its, _words(signatures)[bucket])
    np.bitwise_or.at(forbidden, (person, unit_value // BITS), _bit(unit_value))

    person, unit_value, rows, first = person[is_in], unit_value[is_in], rows[is_in], first[is_in]
    others = number_had + np.bincount(person, minlength=len(one))
    most_rows, turn_of = np.zeros(len(one), np.int64), np.full(len(one), len(new))
    np.maximum.at(most_rows, person, rows)
    np.minimum.at(turn_of, person, first)
    units = Units(
        of_row=of_row,
        value=unit_value,
        person=person,
        rows=rows,
        row=new[first],
        order=np.lexsort((first, -rows, person, turn_of[person], -most_rows[person], -others[person])),
        have_others=others[person] > 1,
        forbidden=forbidden,
        spare=spare,
    )
    free = np.bincount(unit_value, rows, signatures.values).astype(np.int64)
    return units, replace(division, counts=replace(division.counts, free=free))


def _that_can_be_shown(new: Ints, outside: Ints, most: Ints, m: int) -> tuple[Ints, Ints]:
    """Find how many new values of each person get a signature, and `Units.spare`.

    Of the values `outside` of a person's signatures, each new signature takes m. If all `new` values are
    shown, m are kept for each signature that the person may still get, at `most`, and m for a value that will
    be left out then. Otherwise each value that is left out needs itself, and those who miss it need m.

    Parameters
    ----------
    new, outside, most
        int64[H]: how many new values each person has, how many values are in none of their signatures, and
        how many signatures they may still get.
    m
        Privacy parameter.

    Raises
    ------
    NotEligible
        If a person has fewer than m values outside, and a row that is left out.
    """
    most = np.maximum(most, 0)
    all_fit = (new <= most) & (new * m <= outside)
    with_others_left_out = np.minimum((outside - new) // max(m - 1, 1), outside // m - 1)
    shown: Ints = np.where(all_fit, new, np.minimum(most, with_others_left_out).clip(0))
    if few := int((~all_fit & (outside < m)).sum()):
        raise NotEligible(
            f"new rows of {few} people have to be left out, and fewer than m ({m}) values are outside of"
            " these people's signatures: whoever misses such a row would know too much. Choose a smaller m,"
            " fewer values_per_person, or begin a new series"
        )
    to_come, kept = np.where(all_fit, most, shown), np.where(all_fit, m, np.maximum(new - shown, m))
    return shown, np.maximum(outside - m * to_come - kept, 0)


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
    for step in range(3):
        short = shortages(signatures, present + _rows_at(signatures, units, found) - before)
        _place(units, order, short, [], signatures, found, m, beyond=step == 2)
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
    """Place units that have no bucket yet, where people like them are wanted or as near to it as can be.

    `found`, `units.forbidden` and `units.spare` follow. Nobody comes to a signature of less than m values,
    from before m was raised.
    """
    queue, keys, people = _by_width(units, regional, signatures)
    takes = np.flatnonzero(signatures.sizes[signatures.bucket] >= m)
    buckets, begin = len(signatures), 0
    everywhere = signatures.value[takes] * buckets + signatures.bucket[takes]
    in_order = np.argsort(everywhere, kind="stable")
    keys.append(everywhere[in_order])
    people.append(open_places[takes][in_order])
    queue.append(units.value)
    wider, queues = [], []
    for width, key in enumerate(keys):
        begin += len(key)
        if width + 1 < len(keys):
            regions = 1 << (len(keys) - 1 - width)
            value, region, bucket = key // (regions * buckets), key // buckets % regions, key % buckets
            around = (value * (regions >> 1) + (region >> 1)) * buckets + bucket
            wider.append(begin + np.searchsorted(keys[width + 1], around))
    wider.append(np.full(len(keys[-1]), -1))
    before, offset, ends = 0, 0, [np.zeros(1, np.int64)]
    for width, key in enumerate(keys):
        number = signatures.values << (len(keys) - 1 - width)
        ends.append(offset + np.searchsorted(key, np.arange(1, number + 1) * buckets))
        queues.append(before + queue[width])
        before, offset = before + number, offset + len(key)
    place_units(
        order,
        np.array(queues),
        units.value,
        units.rows,
        units.person,
        units.forbidden,
        units.spare,
        _words(signatures),
        signatures.sizes - m,
        np.concatenate(ends),
        np.concatenate(keys) % buckets,
        np.concatenate(wider),
        np.concatenate(people),
        found,
        beyond,
    )


def _by_width(
    units: Units, regional: Iterable[RegionalDemand], signatures: Signatures
) -> tuple[list[Ints], list[Ints], list[Ints]]:
    """The queues of units, and keys and people of demands, in regions of each width but the widest."""
    demands = {one.regions: one for one in regional}
    regions, buckets = max(demands, default=1), len(signatures)
    queue, keys, people = list[Ints](), list[Ints](), list[Ints]()
    key = own = np.empty(0, np.int64)
    where = demands[regions].region[units.row] if regions > 1 else own
    while regions > 1:
        if (more := demands.get(regions)) is not None:
            key = np.append(key, more.demand.queue * buckets + more.demand.bucket)
            own = np.append(own, more.demand.people)
        key, inverse = np.unique(key, return_inverse=True)
        own = np.bincount(inverse, own, len(key)).astype(np.int64)
        queue.append(units.value * regions + where)
        keys.append(key)
        people.append(own)
        node, bucket = np.divmod(key, buckets)
        key = (node // regions * (regions >> 1) + (node % regions >> 1)) * buckets + bucket
        where, regions = where >> 1, regions >> 1
    return queue, keys, people


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
        allowed = ~_has(units.forbidden[units.person[unit]], frequent_first)
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
        np.bitwise_or.at(bits, signature // BITS, _bit(signature))
        both = units.forbidden[units.person[waiting]] & bits
        own = units.value[waiting]
        both[np.arange(len(own)), own // BITS] &= ~_bit(own)
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


def _bit(value: Ints) -> Words:
    """uint64[N]: the bit of each value in its word."""
    bits: Words = np.uint64(1) << (value % BITS).astype(np.uint64)
    return bits


def _words(signatures: Signatures) -> Words:
    """uint64[B, W]: the values of each signature, a bit each."""
    words = np.zeros((len(signatures), max(1, -(-signatures.values // BITS))), np.uint64)
    np.bitwise_or.at(words, (signatures.bucket, signatures.value // BITS), _bit(signatures.value))
    return words


def _has(words: Words, values: Ints) -> Bools:
    """bool[N]: which values are in a set, uint64[W]."""
    has: Bools = (words[values // BITS] & _bit(values)) != 0
    return has
