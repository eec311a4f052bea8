"""Corrections: values that differ from those of the release before because those were wrong."""

from __future__ import annotations

import polars as pl

from republish.anonymize.columns import IDENTIFIER, PSEUDONYM, entries, exactly
from republish.anonymize.contract.identifier import columns_of_identifier
from republish.anonymize.errors import SnapshotError
from republish.anonymize.spelling import identifier_forms
from republish.orchestration.chain.snapshot import Snapshot
from republish.orchestration.series.shards import Shard, shard_numbers
from republish.orchestration.snapshots.crosswalks import Crosswalk, under_first_identifiers
from republish.orchestration.snapshots.files import read_file
from republish.orchestration.snapshots.sources import with_identifier

COLUMN = "column"
"""The column of such a file that names the column of a wrong value; its other one is the identifier's."""


def corrections_of(
    shard: Shard, release: str, before: Snapshot | None, now: Snapshot, known: Crosswalk | None
) -> pl.Series | None:
    """Pseudonyms of people whose sensitive value was wrong so far; None if nothing is corrected.

    Parameters
    ----------
    shard, release
        Whose contract may name a file: a row for each wrong value, with the identifier and the column's name.
    before, now
        The shard's snapshots of the release before and of this one. All values that the file names are the
        right ones in this one, and other ones than before, of people who are in both.
    known
        The changes of identifiers up to the release.

    Raises
    ------
    SnapshotError
        If the file can't be read or says what isn't so; it counts people, and names none.
    """
    series, contract = shard.series, shard.contract
    name = contract.corrections.get(release)
    if name is None:
        return None
    file, where = series.file.resolve(name), f"{series.name} {release}: corrections, {name}"
    if not file.is_file():
        raise SnapshotError(
            f"{where}: there is no such file; write it, or correct corrections in the contract"
        )
    if before is None:
        raise SnapshotError(
            f"{where}: nothing is published yet that could be wrong; take it out of the contract"
        )
    table, names = read_file(file, where)
    needed = [*columns_of_identifier(contract.identifier), COLUMN]
    if {*names} != {*needed}:
        raise SnapshotError(f"{where}: its columns must be {' and '.join(needed)}")
    table = with_identifier(table, contract.identifier, where)
    table = under_first_identifiers(table, known, contract.identifier, where)
    ours = {theirs: own for own, theirs in now.columns.items() if own != IDENTIFIER}
    if unknown := set(table[COLUMN].cast(pl.String)) - ours.keys():
        raise SnapshotError(
            f"{where}: {len(unknown)} names in {COLUMN} are no columns of the contract; accepted:"
            f" {', '.join(ours)}"
        )
    if shard.place:
        numbers = shard_numbers(entries(table, contract.identifier), series.shard_key, contract.shards)
        table = table.filter(numbers == shard.number)
    stated = table.select(form=identifier_forms(entries(table, contract.identifier)), column=COLUMN).unique()
    people = now.table.with_columns(form=identifier_forms(now.table[IDENTIFIER]))
    if strange := stated.join(people, on="form", how="anti")["form"].n_unique():
        raise SnapshotError(f"{where}: {strange:,} of its people are not in the snapshot; take them out")
    former = {theirs: own for own, theirs in before.columns.items()}
    for (column,), rows in stated.group_by(COLUMN):
        mine = people.join(rows, on="form", how="semi").select(
            PSEUDONYM, now=exactly(ours[column]).cast(pl.String)
        )
        was = exactly(former[column]).cast(pl.String) if column in former else pl.lit(None, pl.String)
        both = mine.join(before.table.select(PSEUDONYM, was=was), on=PSEUDONYM)
        if alike := both.filter(pl.col("now").eq_missing(pl.col("was"))).height:
            raise SnapshotError(
                f"{where}: {column} of {alike:,} people is what it was in the release before: put the right"
                " value into the snapshot, or take them out"
            )
    sensitive = "" if contract.sensitive is None else contract.sensitive.name
    wrong = stated.filter(pl.col(COLUMN) == sensitive)
    return people.join(wrong, on="form", how="semi")[PSEUDONYM]
