"""Division: who keeps which signature, who may go anywhere, and who needs a new one.

Xiao and Tao, m-Invariance, SIGMOD 2007, section 4.1, extended to people who return or change value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from republish.anonymize.arrays import Bools, Ints
from republish.anonymize.buckets.counts import Counts
from republish.anonymize.buckets.memory import Memory
from republish.anonymize.buckets.parameters import BucketParameters
from republish.anonymize.buckets.signatures import Signatures
from republish.anonymize.columns import CORRECTED, VALUE
from republish.anonymize.contract import Contract
from republish.anonymize.contract.combined import readable
from republish.anonymize.errors import ValueChangeRefused
from republish.anonymize.people.persons import joined_by_names, persons_of
from republish.anonymize.people.values import known_values, positions

UNDECIDED = -1


@dataclass(frozen=True)
class Division:
    """The people of T(n), divided. N people, V values."""

    bucket: Ints
    """int[N]: the bucket of people who keep their signature, else `UNDECIDED`."""
    queue: Ints
    """int[N]: for the undecided, their value, or V + class for people who need a new signature."""
    returned: Bools
    """bool[N]: published before, though not in the last release."""
    counts: Counts
    """The same, counted."""


def divide_people(
    people: pl.DataFrame,
    contract: Contract[BucketParameters],
    memory: Memory,
    number: int,
    *,
    is_changed: bool = True,
) -> tuple[pl.Series, np.ndarray, Division]:
    """Find all sensitive values there are, everybody's position among them, and who keeps which signature.

    Parameters
    ----------
    people
        T(n): `pseudonym`, `value`.
    contract
        The sensitive attribute, and what to do where a value changed.
    memory
        The signatures of the releases before.
    number
        n, counted from 1.
    is_changed
        As in `divide`.

    Raises
    ------
    SnapshotError
        If sensitive values have another type than declared or than before, or are not declared.
    ValueChangeRefused
        If a person's new value is outside their signature and the contract refuses that.
    """
    values = known_values(people[VALUE], contract.sensitive, memory.buckets["signature"].explode())
    value = positions(people[VALUE], values)
    signatures = _signatures(memory.buckets, values)
    whole = contract.sensitive.published(values)
    division = divide(
        persons_of(people["pseudonym"]),
        value,
        memory.people,
        signatures,
        number,
        positions(whole, whole.unique()),
        is_changed=is_changed,
    )
    known = readable(values, memory.published, contract.sensitive).to_numpy()
    counts = replace(division.counts, unknown=~known & (division.counts.free == 0))
    division = replace(division, counts=counts)
    if contract.principle.on_value_change == "refuse":
        stated = people[CORRECTED].to_numpy() if CORRECTED in people.columns else np.zeros(len(value), bool)
        changed = int(((division.queue >= len(values)) & ~stated).sum())
        _refuse_value_changes(changed)
    return values, value, division


def _signatures(buckets: pl.DataFrame, values: pl.Series) -> Signatures:
    """The signatures of all buckets."""
    pairs = buckets.explode("signature")
    bucket, value = pairs["bucket_id"].to_numpy().astype(np.int64), positions(pairs["signature"], values)
    order = np.lexsort((value, bucket))
    return Signatures(bucket[order], value[order], buckets.height, len(values))


def _refuse_value_changes(changed: int) -> None:
    """Raise ValueChangeRefused if values changed to one outside the signature, and no correction says so."""
    if changed:
        raise ValueChangeRefused(
            f"{changed} people have a sensitive value outside their signature, and the contract says"
            " on_value_change: refuse. Begin a new series, or, with one sensitive column, set it to separate"
            " or say under corrections which values were wrong so far"
        )


def divide(
    pseudonym: pl.Series,
    value: Ints,
    memory: pl.DataFrame,
    signatures: Signatures,
    number: int,
    whole: Ints | None = None,
    *,
    is_changed: bool = True,
) -> Division:
    """Divide the people of T(n) by what is remembered of them.

    Parameters
    ----------
    pseudonym, value
        Binary[N], int[N]: the people of T(n), and their sensitive values as those of `signatures`.
    memory
        As in `Memory.people`: all signatures each person ever had; those of one person are disjoint.
    signatures
        Those of all buckets, by bucket id.
    number
        n, counted from 1.
    whole
        int[V]: the value that each one is published as, where several are parts of one.
    is_changed
        Whether a value that is in none of a person's signatures is a changed one, and needs a signature that
        shares no value with these. Where people have several rows, it is one more (`m_invariance.units`).
    """
    people = pl.DataFrame({"row": np.arange(len(value)), "pseudonym": pseudonym})
    remembered = joined_by_names(people, memory)
    row, earlier = remembered["row"].to_numpy(), remembered["bucket_id"].to_numpy().astype(np.int64)
    keeps = signatures.find(earlier, value[row]) >= 0
    bucket = np.full(len(value), UNDECIDED)
    bucket[row[keeps]] = earlier[keeps]

    last = np.zeros(len(value), np.int64)
    np.maximum.at(last, row, remembered["last_release"].to_numpy())
    separated = remembered.filter(pl.Series((bucket[row] == UNDECIDED) & is_changed))
    row_class, class_value, forbidden = _classes(separated, value, signatures)
    if whole is not None:
        forbidden = _with_all_parts(forbidden, whole)
    queue = value.copy()
    queue[row_class["row"].to_numpy()] = signatures.values + row_class["class"].to_numpy()
    return Division(
        bucket=bucket,
        queue=queue,
        returned=(last > 0) & (last < number - 1),
        counts=_count(bucket, queue, value, signatures, class_value, forbidden),
    )


def _classes(
    separated: pl.DataFrame, value: np.ndarray, signatures: Signatures
) -> tuple[pl.DataFrame, np.ndarray, np.ndarray]:
    """Number the classes of people with the same new value and the same earlier signatures.

    Returns `row`, `class` per person, and the value and forbidden values of each class.
    """
    people = separated.group_by("row").agg(pl.col("bucket_id").sort().alias("earlier"))
    people = people.with_columns(pl.Series("value", value[people["row"].to_numpy()]))
    key = pl.col("earlier").cast(pl.List(pl.String)).list.join(",")
    people = people.with_columns(pl.struct("value", key).rank("dense").cast(pl.Int64).alias("class") - 1)
    classes = people.unique("class", keep="first").sort("class")
    forbidden = np.zeros((classes.height, signatures.values), bool)
    pairs = classes.select("class", "earlier").explode("earlier")
    pair, place = signatures.places_of(pairs["earlier"].to_numpy().astype(np.int64))
    forbidden[pairs["class"].to_numpy()[pair], signatures.value[place]] = True
    return people.select("row", "class"), classes["value"].to_numpy(), forbidden


def _with_all_parts(forbidden: Bools, whole: Ints) -> Bools:
    """bool[C, V]: of a value that may be known, all parts are forbidden if one is."""
    of_whole = np.zeros((len(forbidden), whole.max(initial=-1) + 1), bool)
    row, part = np.nonzero(forbidden)
    of_whole[row, whole[part]] = True
    every: Bools = of_whole[:, whole]
    return every


def _count(
    bucket: Ints, queue: Ints, value: Ints, signatures: Signatures, class_value: Ints, forbidden: Bools
) -> Counts:
    values, decided = signatures.values, bucket != UNDECIDED
    places = signatures.find(bucket[decided], value[decided])
    waiting = np.bincount(queue[~decided], minlength=values + len(class_value))
    return Counts(
        signatures=signatures,
        bound=np.bincount(places, minlength=len(signatures.value)),
        free=waiting[:values],
        separated_value=class_value,
        forbidden=forbidden,
        separated=waiting[values:],
    )
