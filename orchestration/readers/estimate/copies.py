"""`republish copies`: tables of people as they may be, from a published folder alone."""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl

from republish.anonymize.arrays import Bools, Floats, Ints
from republish.anonymize.contract.scalars import MISSING
from republish.anonymize.learning.copies import Cells, Copy, Intervals, PublishedGroups, drawn_copies
from republish.orchestration.readers.datapackage.words import sensitive_columns
from republish.orchestration.readers.estimate.command import (
    fitting,
    frame_of,
    package_of,
    prepared,
    refuse_other_figures,
    statements_of,
)
from republish.orchestration.readers.estimate.statements import (
    CopiedQueries,
    column_names,
    copied_queries,
    is_by_rank,
)
from republish.orchestration.storage.manifest import releases_in, verify_tables
from republish.orchestration.storage.statements import statement
from republish.orchestration.storage.store import PARTIAL, write_csv, write_table
from republish.orchestration.unforeseen import named

COPY, RELEASE = "copy", "release"
Columns = dict[str, np.ndarray]


def copies(
    published: str | Path, number: int = 25, seed: int = 1, begin: Callable[[str], None] | None = None
) -> Iterator[pl.DataFrame]:
    """Draw copies of a published table: people as they may be, to be analysed as if they were the true ones.

    What is estimated is the mean of what is found on each copy, and its error follows from how much the
    copies differ (`pooled`): they differ as far as a reader errs. Nobody's row is right but by chance.

    Parameters
    ----------
    published
        A release, or a series.
    number
        How many copies of each release are drawn.
    seed
        The same one gives the same copies; not negative.
    begin
        Is told of each copy before it is drawn.

    Yields
    ------
    polars.DataFrame
        A row for each person of one copy of one release: `copy` (1, 2, …), `release`, the quasi-identifiers
        and the sensitive columns under their own names, or the numbered ones of `column_names`. Counterfeits
        are nobody. All copies of a release come before those of the next one.

    Raises
    ------
    PublishedFolderError
        If the folder is not what its manifest says, or has not what it takes.
    QueryError
        If a release is a view.
    """
    for folder in releases_in(Path(published)):
        with named(folder), fitting(folder):
            stated, (statements, _) = verify_tables(folder), statements_of(folder)
            with prepared(folder, statements) as connection:
                refuse_other_figures(connection, {folder: stated})
                yield from copies_of(connection, package_of(folder), number, seed, begin)


def copies_of(
    connection: duckdb.DuckDBPyConnection,
    package: Mapping[str, Any],
    number: int,
    seed: int,
    begin: Callable[[str], None] | None = None,
) -> Iterator[pl.DataFrame]:
    """Copies of a release on which `estimate.sql` was run, as `copies` has them."""
    release = _Release.of(connection, package)
    date = dt.date.fromisoformat(package["republish"]["release"])
    drawn = drawn_copies(release.groups, number, seed)
    for copy in range(1, number + 1):
        if begin is not None:
            begin(f"{date}, copy {copy}")
        yield release.table(next(drawn), copy, date)


def write_copies(
    folder: Path, tables: Iterator[pl.DataFrame], number: int, form: str = "parquet"
) -> dict[str, int]:
    """Write each copy into a file of a new folder, which appears when all of it is there.

    Parameters
    ----------
    tables
        As `copies` yields them.
    number
        How many copies of each release there are.
    form
        `parquet` or `csv`.

    Returns
    -------
    dict
        How many people a copy of each release has.

    Raises
    ------
    HomeError
        If it can't be written.
    """
    write = {"parquet": write_table, "csv": write_csv}[form]
    partial, people = folder.with_name(f".{folder.name}{PARTIAL}"), dict[str, int]()
    shutil.rmtree(partial, ignore_errors=True)
    try:
        for at, table in enumerate(tables):
            copy, release = f"{at % number + 1:0{len(str(number))}}", str(table[RELEASE].first())
            write(partial / f"{release}_copy_{copy}.{form}", table)
            people[release] = table.height
        partial.rename(folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)  # the disk may be full of it
        raise
    return people


@dataclass(frozen=True)
class _Release:
    """A release that copies are drawn of."""

    connection: duckdb.DuckDBPyConnection
    queries: CopiedQueries
    groups: PublishedGroups
    names: list[str]
    """Of the quasi-identifiers, and of the sensitive columns last."""
    values: pl.DataFrame
    """What each number of a value stands for."""
    words: tuple[pl.DataFrame, ...]
    """Of each attribute whose codes are exact: what each stands for. None of intervals."""
    blanks: tuple[str | None, ...]
    """What stands in each attribute where it is missing."""

    @classmethod
    def of(cls, connection: duckdb.DuckDBPyConnection, package: Mapping[str, Any]) -> _Release:
        queries, own = copied_queries(package), package["republish"]
        is_ordered = tuple(one["kind"] != "category" for one in own["attributes"])
        groups = _groups(connection, queries, is_ordered, by_rank=is_by_rank(own))
        names = column_names(package)
        values = frame_of(connection.sql(queries.sensitive))
        values.columns = names[-len(sensitive_columns(own)) :]
        exact = () if queries.codes is None else tuple(frame_of(connection.sql(one)) for one in queries.words)
        blanks = tuple(MISSING if one["kind"] == "category" else None for one in own["attributes"])
        return cls(connection, queries, groups, names, values, exact, blanks)

    def table(self, drawn: Copy, copy: int, date: dt.date) -> pl.DataFrame:
        """A copy under the release's own names."""
        columns = [self._decoded(at, name, drawn.codes[:, at]) for at, name in enumerate(self._attributes())]
        people = len(drawn.value)
        head = [pl.repeat(copy, people, dtype=pl.Int64, eager=True).alias(COPY)]
        head.append(pl.repeat(date, people, dtype=pl.Date, eager=True).alias(RELEASE))
        return pl.DataFrame([*head, *columns, *self.values[drawn.value].get_columns()])

    def _attributes(self) -> list[str]:
        return self.names[: len(self.names) - self.values.width]

    def _decoded(self, at: int, name: str, codes: Ints) -> pl.Series:
        """What codes of an attribute stand for."""
        if self.words:
            words = self.words[at]
        else:
            asked = {"codes": np.unique(codes[codes >= 0]).tolist()}
            words = frame_of(self.connection.sql(self.queries.words[at], params=asked))
        place = np.searchsorted(words["code"].to_numpy(), codes)
        found = words["word"].gather(pl.Series(place).set(pl.Series(codes < 0), None))
        return found.fill_null(self.blanks[at]).alias(name) if self.blanks[at] else found.alias(name)


def _groups(
    connection: duckdb.DuckDBPyConnection,
    queries: CopiedQueries,
    is_ordered: tuple[bool, ...],
    *,
    by_rank: bool,
) -> PublishedGroups:
    """What a release says of its groups, on whose tables `estimate.sql` was run."""
    found = _columns(connection, "select_copied_groups")
    ids = found["group_id"]
    values = _columns(connection, "select_copied_values")
    forged = _columns(connection, "select_copied_forgeries")
    is_there = np.isin(values["group_id"], ids)
    # The last kind is that of tuples none of which may be a counterfeit.
    fakes = np.zeros((int(forged["draw"].max(initial=-1)) + 1, int(forged["kind"].max(initial=-1)) + 2))
    fakes[forged["draw"], forged["kind"]] = forged["fake"]
    own: tuple[Intervals, ...] = ()
    rows, group_of_row = None, None
    if queries.codes is None:
        own = _intervals(connection, ids, found["people"], is_ordered)
    else:
        codes = _fetched(connection.sql(queries.codes))
        group_of_row = np.searchsorted(ids, codes.pop("group_id"))
        rows = np.stack(list(codes.values()), axis=1)
    return PublishedGroups(
        people=found["people"],
        size=found["size"],
        group=np.searchsorted(ids, values["group_id"][is_there]),
        value=values["value"][is_there],
        tuples=values["tuples"][is_there],
        kind=values["kind"][is_there],
        fakes=fakes,
        intervals=own,
        rows=rows,
        group_of_row=group_of_row,
        is_ordered=is_ordered,
        by_rank=by_rank,
    )


def _intervals(
    connection: duckdb.DuckDBPyConnection, ids: Ints, people: Ints, is_ordered: tuple[bool, ...]
) -> tuple[Intervals, ...]:
    """The intervals of groups on each attribute, and how people are spread over it."""
    ends, density = (_columns(connection, f"select_copied_{name}") for name in ("intervals", "density"))
    is_celled = bool(connection.sql(statement("select_has_cells")).fetchall())
    cells = _columns(connection, "select_copied_cells") if is_celled else {"attribute": np.empty(0, np.int64)}
    found = []
    for at, ordered in enumerate(is_ordered):
        here, steps, own = (
            {name: column[one["attribute"] == at] for name, column in one.items()}
            for one in (ends, density, cells)
        )
        # Groups without an interval have nobody whose value is known.
        place = np.searchsorted(ids, here["group_id"])
        known: Ints = np.zeros(len(ids), np.int64)
        known[place] = np.minimum(here["known"], people[place])

        def spread(name: str, of: Columns = here, place: Ints = place) -> np.ndarray:
            whole = np.zeros(len(ids), of[name].dtype)
            whole[place] = of[name]
            return whole

        found.append(
            Intervals(
                low=spread("low"),
                above=spread("above"),
                upper=spread("upper"),
                high=spread("high"),
                is_free=spread("is_free").astype(bool),
                alike=np.maximum(spread("alike"), 1e-9),
                lacking=people - known,
                start=steps["start"],
                span=steps["span"],
                mass=steps["mass"],
                is_ordered=ordered,
                cells=_cells(own) if len(own["attribute"]) else None,
            )
        )
    return tuple(found)


def _cells(own: Columns) -> Cells:
    """The cells of an attribute; those that nobody is taken to be in are as those that say nothing."""
    last = int(own["cell"].max())
    width = float(own["width"][0])

    def whole(name: str, otherwise: float | Ints | Floats | Bools) -> np.ndarray:
        found = np.broadcast_to(otherwise, last + 1).astype(own[name].dtype)
        found[own["cell"]] = own[name]
        return found

    number = np.arange(last + 1)
    return Cells(
        width,
        start=whole("start", np.round(number * width)),
        span=whole("span", np.maximum(1, np.round((number + 1) * width) - np.round(number * width))),
        is_rising=whole("is_rising", np.zeros(last + 1, bool)),
        nearer=whole("nearer", 1.0),
        filled=whole("filled", 1.0),
        uneven=whole("uneven", 0.0),
    )


def _columns(connection: duckdb.DuckDBPyConnection, name: str) -> Columns:
    return _fetched(connection.sql(statement(name)))


def _fetched(answer: duckdb.DuckDBPyRelation) -> Columns:
    """The columns of an answer without nulls."""
    return {name: np.asarray(column) for name, column in answer.fetchnumpy().items()}
