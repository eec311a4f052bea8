"""A series with several features, released as its publisher would, and what the oracle says of it."""

from __future__ import annotations

import datetime as dt
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import polars as pl
import yaml

import republish
from benchmarks.pairs.features import SCHEDULED, Together, contract_of
from benchmarks.pairs.oracle import Series
from benchmarks.pairs.people import People
from republish import RepublishError, State
from republish.orchestration.chain.candidate import compute_candidate
from republish.orchestration.chain.delta import compare_snapshots
from republish.orchestration.chain.publication import publish
from republish.orchestration.chain.snapshot import take_snapshot
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.series import series as in_home
from republish.orchestration.storage.home import Home

RELEASES = 5
MOST_TIMES = 5
"""How many series are released at most, each of twice the people, until one is not refused."""
CHANGES = 2
"""How many releases are made before the contract is as it is later."""


@dataclass
class Told:
    """What became of a series."""

    published: int = 0
    """Releases."""
    refused: Counter[str] = field(default_factory=Counter)
    """Releases that the product refused, by the kind of refusal."""
    units: int = 0
    """People, or rows, over all releases."""
    faults: Counter[str] = field(default_factory=Counter)
    """What the oracle found broken."""
    is_whole: bool = False
    """Whether a series was released to its end, without a refusal."""

    def add(self, other: Told) -> None:
        """Count what became of another series too."""
        self.published += other.published
        self.units += other.units
        self.refused += other.refused
        self.faults += other.faults
        self.is_whole |= other.is_whole


@dataclass
class _Released:
    """A release as the oracle is given it."""

    tables: dict[str, pl.DataFrame]
    linkage: pl.DataFrame


def release_series(together: Together, seed: int, people: int, releases: int = RELEASES) -> Told:
    """Release snapshots of a random crowd, each on what the last one left, and judge each release.

    Parameters
    ----------
    together
        Features that a contract accepts together.
    seed
        Of everything that is random, the publisher's key included.
    people
        How many there are in each snapshot, about.
    releases
        How many snapshots. One that is refused in memory is passed over; in a home it is the last.
    """
    told, crowd = Told(), together.people(seed, people)
    several = together.declared().get("rows") == "several"
    series = _series_of(together, crowd)
    with _publisher(together, crowd, seed) as release:
        for number, snapshot in enumerate(crowd.snapshots(releases)):
            table = snapshot if several else snapshot.drop("visit")
            table = table if "e" in crowd.columns else table.drop("e")
            try:
                made = release(number, _in_parts(table, "person", crowd))
            except RepublishError as error:
                told.refused[type(error).__name__] += 1
                if together.takes_a_home:
                    break
                continue
            told.published += 1
            linkage = _named(made.linkage, crowd)
            series.add(made.tables, linkage, _as_published(table, crowd), several=several)
            told.faults.update(set(series.faults()))
    told.units, told.is_whole = series.person_releases(), not told.refused
    return told


def release_without_refusals(together: Together, seed: int, people: int, releases: int = RELEASES) -> Told:
    """Release series, each of twice as many people, until one has no refusal, and tell of all of them.

    A small table is refused if too many people have one value, and then the features were not tried.

    Parameters
    ----------
    together, seed, people, releases
        As in `release_series`; the seed and the people of the first series.
    """
    told = Told()
    for times in range(MOST_TIMES):
        told.add(release_series(together, seed + 100 * times, people * 2**times, releases))
        if told.is_whole or together.ends_early:
            break
    return told


def _series_of(together: Together, crowd: People) -> Series:
    """What the oracle is told of the promise."""
    declared = together.declared()
    sensitive, principle = declared["sensitive"], declared["principle"]
    known = sensitive.get("not_sensitive", ()) if isinstance(sensitive, dict) else ()
    return Series(
        crowd.columns, known, principle["name"] == "global_guarantee", principle.get("m") or principle["l"]
    )


@contextmanager
def _publisher(
    together: Together, crowd: People, seed: int
) -> Iterator[Callable[[int, pl.DataFrame], _Released]]:
    """A function that releases the next snapshot: in memory, or in a home that is deleted in the end."""
    if not together.takes_a_home:
        yield _InMemory(together, seed)
        return
    key = patch.dict(os.environ, {"REPUBLISH_KEY": _key(seed)})
    with tempfile.TemporaryDirectory() as folder, key:
        yield _InHome(together, crowd, Path(folder))


class _InMemory:
    """A program that publishes with `republish.release`."""

    remembers = True
    """Whether each release is built on what the last one left, as it has to be."""

    def __init__(self, together: Together, seed: int) -> None:
        self._contracts = [contract_of(together.declared(later=later)) for later in (False, True)]
        self._state = State.begin(key=_key(seed))

    def __call__(self, number: int, table: pl.DataFrame) -> _Released:
        contract = self._contracts[number >= CHANGES]
        made = republish.release(table, contract, self._state, date=_date(number))
        if self.remembers:
            self._state = made.state
        return _Released(made.tables, made.linkage)


class _InHome:
    """A publisher with a contract in a file, snapshots in others, and a home."""

    def __init__(self, together: Together, crowd: People, folder: Path) -> None:
        self._together, self._crowd, self._folder = together, crowd, folder

    def __call__(self, number: int, table: pl.DataFrame) -> _Released:
        date, file = _date(number), self._folder / "contract.yaml"
        declared = {**SCHEDULED, **self._together.declared(later=number >= CHANGES)}
        if declared["series"] != "v1":
            first, scheduled = _date(CHANGES), declared["releases"]
            due = [date for date in scheduled.get("dates", ()) if date >= first]
            declared["releases"] = {"dates": due} if due else {**scheduled, "first": first}
        file.write_text(yaml.safe_dump(declared))
        table.write_csv(self._folder / f"{date}.csv")
        if self._crowd.corrections and number == CHANGES:
            corrections = {"person": self._crowd.corrections, "column": ["d"] * len(self._crowd.corrections)}
            wrong = _in_parts(pl.DataFrame(corrections), "person", self._crowd)
            wrong.write_csv(self._folder / "corrections.csv")
        if self._crowd.crosswalk:
            both = {"old": [*self._crowd.crosswalk.values()], "new": [*self._crowd.crosswalk]}
            changed = pl.DataFrame(both)
            for name in both:
                changed = _in_parts(changed, name, self._crowd, f"{name}_")
            changed.write_csv(self._folder / "crosswalk.csv")
        series = in_home.Series(load_contract(file), Home.at(self._folder / "home"))
        for step in (take_snapshot, compare_snapshots, compute_candidate, publish):
            step(series, date)
        published, private = series.published_folder / date, series.private_folder / date
        return _Released(
            {
                name: pl.read_parquet(file)
                for name in ("microdata", "quasi_identifiers", "sensitive", "counterfeits")
                if (file := published / f"{name}.parquet").exists() or (file := published / name).is_dir()
            },
            pl.concat(pl.read_parquet(file) for file in sorted(private.rglob("linkage.parquet"))),
        )


def _key(seed: int) -> str:
    return f"the key of the pairs {seed:04}"


def _date(number: int) -> str:
    return dt.date(2024, number + 1, 1).isoformat()


def _as_published(table: pl.DataFrame, crowd: People) -> pl.DataFrame:
    """The table in the words of its releases."""
    old, new = crowd.renamed
    town, called = crowd.renamed_town
    words = pl.col("d").replace({new: old} if new else {}).replace(dict(crowd.published))
    towns = pl.col("town").replace({called: town} if called else {})
    return table.with_columns(words, towns, pl.col("person").replace(crowd.crosswalk))


def _named(linkage: pl.DataFrame, crowd: People) -> pl.DataFrame:
    """The linkage with the people's names, where two columns identify them together."""
    joined = " ¦ "
    named = linkage.rename({joined.join(crowd.parts) or "person": "person"})
    return named.with_columns(pl.col("person").str.replace(joined, "", literal=True))


def _in_parts(table: pl.DataFrame, name: str, crowd: People, prefix: str = "") -> pl.DataFrame:
    """The table with an identifier in two columns, where the people have two: P0012 is 12 of P00."""
    if not crowd.parts:
        return table
    parts = (pl.col(name).str.head(3), pl.col(name).str.slice(3))
    named = (part.alias(f"{prefix}{column}") for part, column in zip(parts, crowd.parts, strict=True))
    return table.select(*named, pl.exclude(name))
