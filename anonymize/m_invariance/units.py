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

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from republish.anonymize.arrays import Bools, Ints, Words
from republish.anonymize.buckets.divide import UNDECIDED, Division
from republish.anonymize.buckets.memory import Memory
from republish.anonymize.buckets.signatures import Signatures
from republish.anonymize.columns import PSEUDONYM
from republish.anonymize.errors import NotEligible
from republish.anonymize.people.persons import persons_of

BITS = 64


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
    """int[U]: those of the people who are hardest to place come first, and those of a person together."""
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
    np.bitwise_or.at(forbidden, its, words_of(signatures)[bucket])
    np.bitwise_or.at(forbidden, (person, unit_value // BITS), bits_of(unit_value))

    person, unit_value, rows, first = person[is_in], unit_value[is_in], rows[is_in], first[is_in]
    others = number_had + np.bincount(person, minlength=len(one))
    most_rows, turn = np.zeros(len(one), np.int64), np.full(len(one), len(new))
    np.maximum.at(most_rows, person, rows)
    np.minimum.at(turn, person, first)
    units = Units(
        of_row=of_row,
        value=unit_value,
        person=person,
        rows=rows,
        row=new[first],
        order=np.lexsort((first, -rows, turn[person], -most_rows[person], -others[person])),
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


def bits_of(value: Ints) -> Words:
    """uint64[N]: the bit of each value in its word."""
    bits: Words = np.uint64(1) << (value % BITS).astype(np.uint64)
    return bits


def words_of(signatures: Signatures) -> Words:
    """uint64[B, W]: the values of each signature, a bit each."""
    words = np.zeros((len(signatures), max(1, -(-signatures.values // BITS))), np.uint64)
    np.bitwise_or.at(words, (signatures.bucket, signatures.value // BITS), bits_of(signatures.value))
    return words
