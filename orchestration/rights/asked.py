"""People who are asked for by their identifiers, and the rows that are about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from republish.anonymize.columns import IDENTIFIER, PSEUDONYM, entries
from republish.anonymize.errors import HomeError
from republish.anonymize.people.persons import persons_of
from republish.anonymize.people.pseudonyms import pseudonyms
from republish.anonymize.spelling import identifier_forms
from republish.orchestration.chain.population_overlap import noted_files
from republish.orchestration.chain.snapshot import FAULTS, Snapshot, kept_snapshot
from republish.orchestration.series.facts import facts_of
from republish.orchestration.series.other_series import siblings
from republish.orchestration.series.persons import comparable
from republish.orchestration.series.place import Place
from republish.orchestration.series.release_record import KNOWLEDGE, STATE
from republish.orchestration.series.shards import shard_folders
from republish.orchestration.storage.home import Home
from republish.orchestration.storage.store import read_table

BUILT_ON = (STATE, KNOWLEDGE)
"""Beginnings of the names of files that the next release is built on."""
NOBODY = pl.Series("person", [], dtype=pl.Binary)


def series_of(home: Home, product: str) -> list[Place]:
    """All series of a product that have working files or releases in a home."""
    folder = home.private(product, "")
    begun = (path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else ()
    names = {*(name for name in begun if name[0] != "."), *(one.series for one in siblings(home, product))}
    return [Place(home, product, name) for name in sorted(names)]


@dataclass(frozen=True)
class Rows:
    """The rows of a file that are about people who are asked for."""

    file: Path
    about: pl.Series
    """bool: which rows."""
    persons: pl.Series
    """Whom these are about, as all products of the home call them."""


class Asked:
    """People who are asked for in one series, and the spellings of their identifiers that were found.

    Parameters
    ----------
    identifiers
        As the source has them, or other spellings (`P7` for `p7`); bytes as hexadecimal digits.
    column
        What the identifier is called in the source, if the series does not say so.
    persons
        More people, as all products of the home call them.

    Raises
    ------
    HomeError
        If the series has releases, and not under the home's key.
    """

    def __init__(
        self,
        place: Place,
        identifiers: Sequence[str],
        column: str,
        persons: pl.Series = NOBODY,
    ):
        facts = facts_of(place)
        self.place, self.home, self.folder, self.persons = place, place.home, place.private_folder, persons
        self.releases = place.releases
        if facts is None and self.releases:
            raise HomeError(
                f"{self.folder}: says nothing under this key of whom {place.name} has. Restore"
                " secret.key, REPUBLISH_KEY or the folder from a copy"
            )
        self.terms: Mapping[str, Any] = facts.terms if facts else {}
        self.column: str = self.terms.get("identifier", column)
        self.has_several_rows = self.terms.get("rows") == "several"
        given = pl.Series(identifiers, dtype=pl.String)
        self._forms = identifier_forms(given).unique()
        self.spellings = given

    @property
    def last(self) -> str:
        """The last release that is published: the next one is built on it. Empty if there is none."""
        return self.releases[-1] if self.releases else ""

    @property
    def everybody(self) -> pl.Series:
        """All who are asked for, as all products of the home call them."""
        return pl.concat([comparable(self.home, self.spellings), self.persons]).unique()

    def in_snapshot(self, release: str) -> Snapshot | None:
        """Their rows in a snapshot, whose spelling is noted; None if it is not kept."""
        shards = [kept_snapshot(folder) for folder in shard_folders(self.folder / release)]
        kept = [shard for shard in shards if shard is not None]
        if not kept:
            return None
        mine = pl.concat([shard.table.filter(self.within(shard.table[IDENTIFIER])) for shard in kept])
        self._spelled(mine[IDENTIFIER])
        return replace(kept[0], table=mine)

    def release_of(self, file: Path) -> str:
        """The release that a file is of; empty of one that is of the whole series."""
        return file.relative_to(self.folder).parts[0] if file.parent != self.folder else ""

    def within(self, identifiers: pl.Series) -> pl.Series:
        """bool[N]: which of some identifiers are asked for."""
        asked = identifier_forms(identifiers).is_in(self._forms.implode()).fill_null(value=False)
        if not self.persons.len():
            return asked
        named = identifiers.drop_nulls().unique()
        known = named.filter(comparable(self.home, named).is_in(self.persons.implode()))
        return asked | identifiers.is_in(known.implode()).fill_null(value=False)

    def _spelled(self, found: pl.Series) -> None:
        """Note in which spelling a snapshot has them: pseudonyms are of that."""
        if found.dtype == pl.Binary:
            self.spellings = found if found.len() else self.spellings
        elif self.spellings.dtype != pl.Binary:
            self.spellings = pl.concat([self.spellings, found.cast(pl.String).alias("")]).unique()

    def files(self) -> Iterator[Rows]:
        """The series' files that have rows about them, and which rows.

        Pseudonyms are those that the home noted at publication, and those of the spellings that were given,
        or found by `in_snapshot`.
        """
        for file in sorted(self.folder.rglob("*")):
            table = read_rows(file)
            if table is None:
                continue
            of_people = (IDENTIFIER, self.column)
            whose = [
                self._whose(entries(table, name), is_identifier=name in of_people)
                for name, dtype in table.schema.items()
                if name in of_people or dtype == pl.Binary
            ]
            found = [one for one in whose if one.null_count() < one.len()]
            if found:
                about = pl.DataFrame([one.alias(f"{at}") for at, one in enumerate(found)])
                rows = about.select(pl.any_horizontal(pl.all().is_not_null())).to_series()
                yield Rows(file, rows, pl.concat(found).drop_nulls().unique())

    def _whose(self, column: pl.Series, *, is_identifier: bool) -> pl.Series:
        """Binary[N]: who of those asked for is in each cell, as all products call them; null if nobody."""
        if is_identifier:
            cells = column
            theirs = cells.filter(self.within(cells)).unique()
            names = pl.DataFrame({"name": theirs, "person": comparable(self.home, theirs)})
        else:
            cells, names = persons_of(column), self._names
        found = cells.alias("name").to_frame().join(names, on="name", how="left", maintain_order="left")
        return found["person"]

    @cached_property
    def _names(self) -> pl.DataFrame:
        """`name`, what files call them, and `person`, what all products of the home do."""
        home, own = self.home, comparable(self.home, self.spellings)
        everybody = self.everybody
        known = [pl.DataFrame({"name": everybody, "person": everybody})]
        chains, noted = set(), []
        for place in series_of(home, self.place.product):
            facts = facts_of(place)
            chains.add(facts.chain_of(place.series).first if facts else place.series)
            noted += [read_table(file) for file in noted_files(place.private_folder)]
        for first in sorted(chains):  # of one that is not published yet, no file says which it goes on from
            names = pseudonyms(self.spellings, self.place.other(first).key("pseudonym"))
            known.append(pl.DataFrame({"name": names, "person": own}))
        for people in noted:
            if PSEUDONYM in people.columns:
                mine = people.filter(pl.col("person").is_in(everybody.implode()))
                known.append(mine.select(name=PSEUDONYM, person="person").drop_nulls())
        return pl.concat(known).unique("name", keep="first")


def read_rows(file: Path) -> pl.DataFrame | None:
    """The table in a working file; None where it has none."""
    if file.suffix == ".parquet":
        return read_table(file)
    return pl.read_csv(file, infer_schema=False) if file.name == FAULTS else None
