"""`republish estimate`: what copies of a table of people say, with an error: any SQL of a group of people."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Self

import numpy as np
import polars as pl

from republish.anonymize.columns import exactly
from republish.anonymize.errors import HomeError, PublishedFolderError, QueryError
from republish.orchestration.limits import check
from republish.orchestration.readers.estimate.asking import Asker, Question, fitting
from republish.orchestration.readers.estimate.copies import RELEASE
from republish.orchestration.readers.estimate.copies import copies as drawn_copies
from republish.orchestration.readers.estimate.expression import Expression
from republish.orchestration.readers.estimate.folders import (
    Described,
    described,
    described_beside,
    held_back,
    remarks,
)
from republish.orchestration.readers.estimate.pooling import Said
from republish.orchestration.storage.manifest import releases_in
from republish.orchestration.storage.parts import scan_parts
from republish.orchestration.storage.store import read_columns
from republish.orchestration.unforeseen import named

Begin = Callable[[str], None] | None
CANT_TELL = "Can't tell: {:,} of these intervals are wider than half of all people."
"""What is said of counts that a release says hardly anything of."""
FIGURES = {
    *("release", "before", "people", "rows", "estimate", "change", "standard_error", "low", "high", "share"),
    "share_error",
}
"""The columns of an answer; those that people are counted by stand behind the release. The command prints
`people` as `rows` where a person may have several."""


def estimate(
    published: str | Path,
    where: str = "true",
    by: str | Sequence[str] = (),
    of: str = "count(*)",
    *,
    change: bool = False,
    last: bool = False,
    copies: int = 25,
    seed: int = 1,
) -> pl.DataFrame:
    """Estimate how many people meet a condition, or any aggregate of them, in each release.

    DuckDB computes it on each of the copies that `copies` draws. The estimate is the mean of what they say,
    and its error follows from how much they differ.

    Parameters
    ----------
    published
        A release, a series, or a folder that `republish copies` wrote: of that, nothing is drawn.
    where
        A condition on the columns that copies have, in DuckDB's SQL.
    by
        Columns, or expressions of them: one row for each of their values, or of the combinations of these.
    of
        What to estimate of these people, an aggregate in SQL: `avg(age)`, `median(cost)`,
        `avg((sex = 'F')::int)`.
    change
        Estimate by how much it changed from release to release.
    last
        Read the last release of a series alone; of a change, the last two.
    copies, seed
        As of `copies`; a folder of copies has its own number.

    Returns
    -------
    polars.DataFrame
        `release`, the columns of `by`, `people` (or `estimate`, in units of `of`), `standard_error`, `low`,
        `high` (made to have the truth between them in 95 of 100 cases). Of people also `share` (of everybody,
        or with `by` of all who meet the condition) and `share_error`. An estimate is missing where most
        copies have none. Of a change: `before` (the release before), `people` or `estimate`, `change`, and
        its `standard_error`, `low` and `high`. Errors of dates are in days. A column of `by` that is called
        like one of these gets a number: `share_1`. No row where no copy has anybody.

    Raises
    ------
    PublishedFolderError
        If the folder is not what its manifest says, or has not what it takes.
    QueryError
        If an expression can't be asked for, there are more than `MOST_PARTS` combinations, or a change is
        asked for of one release.
    LimitError
        If it fits neither into memory nor on the disk.

    References
    ----------
    Rubin, Multiple Imputation for Nonresponse in Surveys, 1987, section 3.1. The interval is by Student's t
    with one degree of freedom less than there are copies.
    """
    by = [by] if isinstance(by, str) else by
    asked = Source.of(Path(published), copies, seed, last=last, change=change)
    return answer(asked, where, by, of, change=change).table


@dataclass(frozen=True)
class Source:
    """Copies that are drawn or were written, of one release after the other."""

    place: Path
    described: Sequence[Described]
    number: int
    """How many copies of each release there are."""
    tables: Callable[[Begin, set[str]], Iterator[pl.DataFrame]]
    """The copies, with these columns at least; what is given is told of each before it is drawn or read."""

    @classmethod
    def of(cls, place: Path, number: int, seed: int, *, last: bool = False, change: bool = False) -> Self:
        """The copies of a published folder, or those in a folder; all releases, or the `last` ones."""
        first = -1 - change if last else 0
        found = cls._written(place, first) or cls._drawn(place, number, seed, first)
        if change and len(found.described) < 2:
            raise QueryError(f"{place}: a change needs two releases, and there is one; give the series")
        return found

    @classmethod
    def _drawn(cls, place: Path, number: int, seed: int, first: int) -> Self:
        folders = releases_in(place)[first:]

        def tables(begin: Begin, _columns: set[str]) -> Iterator[pl.DataFrame]:
            for folder in folders:
                yield from drawn_copies(folder, number, seed, begin)

        return cls(place, [one for folder in folders for one in described(folder)], number, tables)

    @classmethod
    def _written(cls, place: Path, first: int) -> Self | None:
        releases: dict[str, list[Path]] = {}
        for file in sorted(place.glob("*_copy_*.*")) if place.is_dir() else ():
            if (name := re.fullmatch(r"(\d{4}-\d\d-\d\d)_copy_\d+\.(parquet|csv)", file.name)) is not None:
                releases.setdefault(name[1], []).append(file)
        if not releases:
            return None
        number = len(next(iter(releases.values())))
        if number < 2 or any(len(files) != number for files in releases.values()):
            raise PublishedFolderError(f"{place}: must have as many copies of each release, and two at least")
        said = described_beside(place)
        asked = list(releases)[first:]
        described = [said.get(one) or Described.of_copy(one, _read(releases[one][0])) for one in asked]

        def tables(begin: Begin, columns: set[str]) -> Iterator[pl.DataFrame]:
            for one in described:
                for copy, file in enumerate(releases[one.release], 1):
                    if begin is not None:
                        begin(f"{one.release}, copy {copy}")
                    yield _read(file, one.types, {RELEASE, *columns})

        return cls(place, described, number, tables)


@dataclass(frozen=True)
class Answer:
    """What copies say, and sentences on it."""

    table: pl.DataFrame
    remarks: Sequence[str]
    held_back: Mapping[str, int]
    of_rows: bool


def answer(
    source: Source,
    where: str,
    by: Sequence[str],
    of: str,
    *,
    change: bool = False,
    begin: Begin = None,
) -> Answer:
    """What `estimate` returns, and what there is to say of it; `begin` is told of each copy."""
    columns = list(dict.fromkeys(name for one in source.described for name in (RELEASE, *one.columns)))
    labels: dict[str, list[str]] = {}
    for name, values in (pair for one in source.described for pair in one.labels.items()):
        labels[name] = sorted({*labels.get(name, ()), *values})
    met, *parts, aggregate = (
        Expression.of(option, asked, columns, labels)
        for option, asked in (("--where", where), *(("--by", one) for one in by), ("--of", of))
    )
    question = Question(met, [*{one.name: one for one in parts}.values()], aggregate)
    for one in question.expressions:
        one.refuse_other_labels(labels)
    answers, people = [], np.zeros(len(source.described), np.int64)
    with named(source.place), fitting(source.place), Asker.open(question, labels) as asker:
        for at, table in enumerate(source.tables(begin, question.columns)):
            answers.append(asker.ask(table))
            people[at // source.number] = table.height
    seen = {name: sorted(values) for name, values in asker.seen.items() if values}
    for one in question.expressions:
        one.refuse_other_labels(seen)
    said = Said.of(
        answers,
        [dt.date.fromisoformat(one.release) for one in source.described],
        people,
        _headings([one.name for one in question.by]),
        is_count=question.of.is_count,
        of_dates=asker.of_dates,
    )
    asker.refuse_many(int(said.is_there.sum(axis=1).max()))
    # A missing one among numbers is NULL, as it is understood.
    finds_missing = {name for one in question.expressions for name in one.finds_missing} - {
        *(asker.kinds or ())
    }
    undecided = said.undecided(of_changes=change)
    cant_tell = [CANT_TELL.format(undecided)] if undecided else []
    return Answer(
        said.changes() if change else said.table(),
        [*cant_tell, *remarks(source.described, question.columns, finds_missing)],
        held_back(source.described),
        any(one.of_rows for one in source.described),
    )


def _headings(names: Sequence[str]) -> list[str]:
    """The names of columns beside the figures of an answer."""
    taken, found = {*FIGURES}, list[str]()
    for name in names:
        numbered = (name, *(f"{name}_{number}" for number in range(1, len(names) + 2)))
        found.append(next(one for one in numbered if one.lower() not in taken))
        taken.add(found[-1].lower())
    return found


def _read(
    file: Path, types: Mapping[str, str] = MappingProxyType({}), columns: set[str] | None = None
) -> pl.DataFrame:
    """Those of some columns that a copy has which was written; `types` are those of a CSV file, if known."""
    try:
        check(file, "megabytes", file.stat().st_size)
        if file.suffix == ".parquet":
            there = [name for name in read_columns(file) if columns is None or name in columns]
            return scan_parts([file]).select(map(exactly, there)).collect()
        kinds = {name: getattr(pl, kind) for name, kind in types.items()}
        table = pl.read_csv(file, schema=kinds or None, try_parse_dates=True, glob=False)
    except (AttributeError, HomeError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        raise PublishedFolderError(f"{file}: is no file that republish copies wrote") from None
    # What a spreadsheet would run was written behind an apostrophe.
    return table.with_columns(pl.col(pl.String).str.replace(r"^'([=+\-@\t\r])", "$1"))
