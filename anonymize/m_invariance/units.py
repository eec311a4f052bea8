"""Several rows of a person: all rows that have one value get one signature, and keep it.

The unit is a person with one of their values. Its rows have one signature in every release, however many
they are and whenever they come; they are in different groups, because a group has a value once. Units of one
person have signatures that share no value. The paper knows people with one row each; this is republish's own
rule.

**What it promises.** Take an adversary who knows everybody's rows, when each was in the table, all
quasi-identifiers and the group of each row, and who knows how many different values a person has under one
signature. Of a person's rows that are published, no value is one of theirs, *ever*, with a probability above
1/m, however many rows they have.

Proof. Call a world a choice of a value for each row that the releases are compatible with: each group's rows
have its values, each of them once (counterfeits have the others), and rows of a unit have one. Choose a
signature S and exchange its values by any permutation, in all rows and counterfeits of groups with that
signature, in all releases. Each of these groups still has each value of S once. A unit's rows are all in such
groups or none of them is, so they still have one value, and two units with different values still have two.
Nothing else changes. So the worlds are as many with one value of S for a unit as with any other one, and each
of the |S| values has the same probability for it. A person with k units under S has a value of S with
k/|S|, and k is |S|/m at most. Signatures of a person share no value, so a value is in one of them at most. ∎

It follows that more rows do not add up: somebody who takes rows as independent comes to 1 - (1 - 1/m)^r for r
rows. But rows of a unit have one value, and rows of two units can't have the same one.

**A further value under a signature.** A value that comes later may lie in a signature that the person has
for another one. Its rows look like more rows with the first value, until groups of several releases show that
two of them differ: with signatures of two values, every path from one row to the other, over rows that shared
a group, does. So k counts values, whether or not groups prove that they differ. Where k would be above |S|/m,
the rows with the further value are left out; S has room for a second one from 2m values on. The state keeps
which values of people were published, so this holds also for rows that are gone, and for a row whose value
changes (`without_room`).

**What shows.** Everybody who follows a person sees how many signatures they have, one for each value but for
those that S had room for. `values_per_person` bounds it. Rows with further values, of no signature of the
person, are left out, by a lot of rows, so that a value that a person has in many rows is rather published
than one that they have once. Whoever misses a row knows that its value is in none of the person's signatures,
where it is one of at least m others (attacked by absence), or in one that has no room, where it is one of m
or more, too. So signatures that are new today have no value of a row that is left out today, which could be
shown later, and they are never so large that less than m values are left for what is missed.

**What is not promised.** Of rows that are *left out*, each by itself has m possible values; but they add to
what is known of the person. k of them have 1 - (1 - 1/n)^k for one of n values outside. One that had no room
beside another has 2/|S| together with that one: a value that comes later, and is probably in S, can't be kept
from everybody while S has m values alone, whether its rows are published or missed. The attack states the
largest of these probabilities. No signatures help against somebody who knows from elsewhere that a person has
more than V/m different values, of the V that there are: of nine values and a person with five, each value is
theirs with 5/9 beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from republish.anonymize.arrays import Bools, Ints, Words
from republish.anonymize.buckets.divide import UNDECIDED, Division
from republish.anonymize.buckets.memory import Memory
from republish.anonymize.buckets.signatures import Signatures
from republish.anonymize.columns import PSEUDONYM, VALUE
from republish.anonymize.errors import NotEligible
from republish.anonymize.people.persons import persons_of

UNITS = "units"
"""The state's table of all units ever published: `pseudonym` (of the person), `bucket_id`, `value`."""
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
    people: pl.DataFrame,
    value: Ints,
    division: Division,
    memory: Memory,
    most: int,
    m: int,
    ranks: Words,
    excess: Bools,
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
    excess
        bool[N]: rows for whose value a signature of their person has no room (`without_room`).

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
    bucket_of_row = np.where(excess, UNDECIDED, division.bucket)
    keeps = bucket_of_row != UNDECIDED
    place_of_row = signatures.find(bucket_of_row[keeps], value[keeps])
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
    bound = np.bincount(place_of_row, minlength=len(signatures.value))
    counts = replace(division.counts, free=free, bound=bound)
    return units, replace(division, bucket=bucket_of_row, counts=counts)


def without_room(
    people: pl.DataFrame, value: Ints, division: Division, units: pl.DataFrame, m: int, ranks: Words
) -> Bools:
    """Find the rows with one value more than a signature of their person has room for: bool[N].

    A signature of s values has room for s/m values of a person, and for one that it was given for. Which of
    several further ones it is, is drawn by a lot of rows.

    Parameters
    ----------
    people, value, division, m, ranks
        As in `find_units`.
    units
        `pseudonym`, `bucket_id`, `value` (as a number): those that were published so far.
    """
    row = np.flatnonzero(division.bucket != UNDECIDED)
    bucket = division.bucket[row]
    room = np.maximum(division.counts.signatures.sizes // m, 1)[bucket]
    rows = pl.DataFrame(
        {"row": row, "bucket_id": bucket, VALUE: value[row], "rank": ranks[row], "room": room}
    ).with_columns(persons_of(people[PSEUDONYM]).gather(row).alias(PSEUDONYM))
    unit = [PSEUDONYM, "bucket_id", VALUE]
    units = units.cast({"bucket_id": pl.Int64, VALUE: pl.Int64})
    further = rows.join(units, on=unit, how="anti")
    had = units.group_by(PSEUDONYM, "bucket_id").len("had")
    first = further.with_columns(pl.col("rank").min().over(unit))
    turn = pl.col("rank").rank("dense").over(PSEUDONYM, "bucket_id")
    # The state of an older version may not say for which value a signature was given. It was for one.
    taken = pl.col("had").fill_null(1)
    found = first.with_columns(turn=turn).join(had, on=[PSEUDONYM, "bucket_id"], how="left")
    excess = np.zeros(len(value), bool)
    excess[found.filter(pl.col("turn") + taken > pl.col("room"))["row"].to_numpy()] = True
    return excess


def units_of(rows: pl.DataFrame, bucket: Ints) -> pl.DataFrame:
    """List the units of rows (`pseudonym`, `value`) in buckets, as `UNITS`."""
    units = rows.select(persons_of(rows[PSEUDONYM]), pl.Series("bucket_id", bucket, dtype=pl.Int32), VALUE)
    return units.unique().sort(PSEUDONYM, "bucket_id", VALUE)


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
