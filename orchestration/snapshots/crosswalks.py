"""People whose identifiers were changed: they are known by the first one, as in the releases before.

A registry that gives people other identifiers has a list of both. The contract names it by the first release
that has the new ones (`identifiers`), and what is read of that release or a later one is translated before
anybody looks at it. So signatures, ledgers and what is forgotten go on, and nothing else asks who is who.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from republish.anonymize.columns import entries
from republish.anonymize.contract.identifier import columns_of_identifier, join_parts
from republish.anonymize.errors import SnapshotError, as_data
from republish.anonymize.spelling import identifier_forms
from republish.orchestration.snapshots.files import read_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from republish.orchestration.contracts.contract_file import ContractFile

COLUMNS = ("old", "new")
"""The columns of such a file: each person's identifier before, and from that release on; of an identifier of
several columns `old_household`, `old_line`, `new_household`, …."""
MERGED = (
    "their records have a signature each already, whose values in common may be a single one, and nothing"
    " that is published from now on undoes that. List the one of them whose record goes on; the others leave"
)
"""Why the records of several people do not become those of one, and the way out."""
TAKEN = (
    "new identifiers are those of people whom the file does not list under old. If records were merged,"
    f" {MERGED}. If a number was given to somebody else, write it otherwise, in the source and in that file"
)
"""Said of new identifiers that somebody else has."""


@dataclass(frozen=True)
class Crosswalk:
    """All changes of identifiers up to a release."""

    first: pl.DataFrame
    """`name`, `first`: an identifier of today, and the first one of the same person."""
    given_up: pl.Series
    """Identifiers that nobody should have any more."""
    formerly: pl.DataFrame
    """The same, with their people: `name`, `first`."""

    def first_of(self, identifiers: pl.Series) -> pl.Series:
        """String[N]: the first identifier of each person, in the same order."""
        names = identifiers.cast(pl.String).alias("name").to_frame()
        both = names.join(self.first, on="name", how="left", maintain_order="left")
        return both.select(pl.coalesce("first", "name")).to_series()

    def refuse_taken(self, people: pl.Series, where: str) -> None:
        """Raise SnapshotError if somebody of the snapshot before has an identifier that another one has now.

        `people` are the first identifiers of that snapshot's people; whoever was given another one is listed.
        """
        others = self.first.filter(pl.col("name").is_in(people.cast(pl.String).implode()))
        if taken := others.filter(~pl.col("name").is_in(self.first["first"].implode())).height:
            raise SnapshotError(f"{where}: the contract's identifiers: {taken:,} {TAKEN}")


def crosswalk(file: ContractFile, release: str | None = None) -> Crosswalk | None:
    """The changes of identifiers that a contract names up to a release, of all its releases without one.

    None if there are none.

    Raises
    ------
    SnapshotError
        If a file can't be read or does not say of each old identifier which new one it is; it counts
        identifiers, and names none.
    """
    first = pl.DataFrame(schema={"name": pl.String, "first": pl.String})
    formerly, named = first, file.contract.identifiers
    dates = [date for date in sorted(named) if release is None or date <= release]
    for date in dates:
        changes = _read(file, date, named[date])
        before = changes.join(first, left_on="old", right_on="name", how="left")
        renamed = before.select(name="new", first=pl.coalesce("first", "old"))
        first = first.filter(~pl.col("name").is_in(changes["old"].implode()))
        if taken := first.filter(pl.col("name").is_in(changes["new"].implode())).height:
            raise SnapshotError(f"{_where(file, date, named[date])}: {taken:,} {TAKEN}")
        first = pl.concat([renamed, first])
        gone = before.select(name="old", first=pl.coalesce("first", "old"))
        formerly = pl.concat([gone, formerly.filter(~pl.col("name").is_in(gone["name"].implode()))])
        formerly = formerly.filter(~pl.col("name").is_in(changes["new"].implode()))
    return Crosswalk(first, formerly["name"], formerly) if dates else None


def _where(file: ContractFile, date: str, name: str) -> str:
    return f"{file.contract.product}, identifiers from {date} on, {name}"


def _read(file: ContractFile, date: str, name: str) -> pl.DataFrame:
    """`old`, `new` as text: the changes of one file. Raises SnapshotError as `crosswalk` does."""
    path, where = file.resolve(name), _where(file, date, name)
    if not path.is_file():
        raise SnapshotError(
            f"{where}: there is no such file; write it, or correct identifiers in the contract"
        )
    table, names = read_file(path, where)
    parts = columns_of_identifier(file.contract.identifier)
    needed = {side: [side] if len(parts) == 1 else [f"{side}_{name}" for name in parts] for side in COLUMNS}
    if {*names} != {*needed["old"], *needed["new"]}:
        must = " and ".join([*needed["old"], *needed["new"]])
        raise SnapshotError(
            f"{where}: its columns must be {must}, and they are {', '.join(map(as_data, names))}"
        )
    both = [
        join_parts([entries(table, name) for name in columns]).alias(side) for side, columns in needed.items()
    ]
    changes = pl.DataFrame(both).unique(maintain_order=True)
    if lacking := changes.filter(pl.any_horizontal(pl.all().is_null() | (pl.all() == ""))).height:
        raise SnapshotError(f"{where}: {lacking:,} rows lack one of the two: whoever leaves is not listed")
    if split := changes.filter(changes["old"].is_duplicated())["old"].n_unique():
        raise SnapshotError(
            f"{where}: {split:,} old identifiers became several new ones, and a signature is one person's."
            " List the one who goes on; the others are new people"
        )
    if merged := changes.filter(changes["new"].is_duplicated())["new"].n_unique():
        raise SnapshotError(f"{where}: {merged:,} new identifiers were several old ones: {MERGED}")
    return changes.filter(pl.col("old") != pl.col("new"))


def under_first_identifiers(
    table: pl.DataFrame, changes: Crosswalk | None, column: str, where: str
) -> pl.DataFrame:
    """People as a source has them, under their first identifiers; as they are without changes.

    Raises SnapshotError if somebody has an identifier that was given up, or identifiers are neither text nor
    whole numbers.
    """
    if changes is None or column not in table.columns:
        return table
    identifiers = entries(table, column)
    if identifiers.dtype == pl.Null:
        return table
    if not (isinstance(identifiers.dtype, pl.String | pl.Categorical) or identifiers.dtype.is_integer()):
        raise SnapshotError(
            f"{where}: {column}: the contract's identifiers are of people who are known by text or whole"
            " numbers: write them so in the source"
        )
    old = identifiers.cast(pl.String).is_in(changes.given_up.implode()).sum()
    if old:
        raise SnapshotError(
            f"{where}: {column}: {old:,} of {table.height:,} rows have an identifier that stands under old in"
            " the contract's identifiers, and is nobody's any more. Are old and new swapped in that file, is"
            " its date too early, or was a number given to somebody else? Then write that person's otherwise"
        )
    return table.with_columns(changes.first_of(identifiers).alias(column))


def asked_for(file: ContractFile, identifiers: Sequence[str]) -> list[str]:
    """The first identifiers of people who are asked for by those of today, in whatever spelling.

    An identifier that was given up and is nobody's any more is that of whoever had it.
    """
    changes = crosswalk(file)
    if changes is None:
        return [*identifiers]
    known = pl.concat([changes.formerly, changes.first])
    first = dict(zip(identifier_forms(known["name"]), known["first"], strict=True))
    asked = pl.Series(identifiers, dtype=pl.String)
    return [first.get(form, given) for form, given in zip(identifier_forms(asked), identifiers, strict=True)]
