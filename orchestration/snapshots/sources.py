"""Snapshots, read column by column from where the contract says they are."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, chain
from pathlib import Path

import polars as pl

from anonymize.columns import entries, exactly
from anonymize.contract import FileSource, QuerySource, Table, TableSource, is_in_store
from anonymize.errors import SnapshotError
from anonymize.people.values import by_own_names
from orchestration.contracts.contract_file import ContractFile
from orchestration.limits import check
from orchestration.snapshots.arrow import NUMERICS, Answer, from_arrow, numerics, with_numerics
from orchestration.snapshots.conformity import (
    AT_FAULT,
    MEASURES,
    conform,
    counted_together,
    describe_faults,
    rows_at_fault,
    snapshot_faults,
)
from orchestration.snapshots.databases import ask, database_file, place_of
from orchestration.snapshots.files import (
    ParquetPiece,
    csv_header,
    csv_pieces,
    delivered,
    mark_of,
    parquet_pieces,
    read_file,
    size_of,
)
from orchestration.snapshots.tables import read_version, version_at
from orchestration.snapshots.written import TWO_WAYS_COUNTED, plainly, refuse_two_ways, two_ways
from orchestration.storage.objects import Stored

__all__ = ["enter", "read_snapshot", "snapshot_exists", "snapshot_faults"]

ROW = "republish:row"
"""The number of a row in its source, in a part of a snapshot."""
PIECE = 1_000_000
"""Rows that are read at a time where a snapshot is not read whole."""


def read_snapshot(contract_file: ContractFile, release: str, version: int | None = None) -> pl.DataFrame:
    """The table of people as it is at a release.

    Parameters
    ----------
    contract_file
        The contract, and where it lies: paths in it are relative to it.
    release
        The release's date, `2024-01-01`.
    version
        Which version of a table to read; without it, that which `version_of` gives.

    Returns
    -------
    polars.DataFrame
        `identifier`, `qi_0`, `qi_1`, …, `value` (of a view `identifier`, `column_0`, …), one row for each
        person: the identifier as the source has it, attributes of their own type, the value String or
        Int64. No rows if there are no people.

    Raises
    ------
    SnapshotError
        If it is missing, can't be read, or breaks the contract: every fault with its column, count and
        way out; no identifier and no value of a person.
    """
    where = where_of(contract_file, release)
    source, present = _read(contract_file, release, version, where)
    seen = look_at(source, contract_file.contract)
    refuse_faults(where, [seen], source, contract_file.contract, present)
    return seen.people


@dataclass(frozen=True)
class Look:
    """What was found in a snapshot, or in a part of its people."""

    people: pl.DataFrame
    """As `read_snapshot` returns them; no columns if any rule is broken."""
    counted: pl.DataFrame
    """What `snapshot_faults` counts of what the source has."""
    under_names: Mapping[tuple[str, str], int]
    """Rows with each name of a value that has two (`sensitive.renamed`)."""
    rows: pl.DataFrame
    """The rows at fault, for the publisher alone."""


def look_at(source: pl.DataFrame, schema: Table) -> Look:
    """Look for faults in people as a source has them; in their order, or with its numbers in `ROW`."""
    entered = enter(source, schema)
    counted, names = snapshot_faults(entered, schema), _under_names(source, schema)
    is_whole = schema.column_names().keys() <= set(entered.columns)
    if is_whole and not counted.select(pl.sum_horizontal(pl.col(MEASURES)).sum()).item():
        return Look(conform(entered, schema), counted, names, pl.DataFrame(schema=AT_FAULT))
    rows = rows_at_fault(entered, schema, source.get_column(ROW, default=None))
    return Look(pl.DataFrame(), counted, names, rows)


def refuse_faults(
    where: str, seen: Sequence[Look], sample: pl.DataFrame, schema: Table, present: Sequence[str]
) -> None:
    """Raise SnapshotError if a snapshot breaks the contract.

    Parameters
    ----------
    where
        What the message begins with.
    seen
        What was found, in all parts.
    sample
        People as the source has them: all, or those of a part that has a fault.
    schema
        The columns.
    present
        The names of all columns of the source.
    """
    counted = counted_together([one.counted for one in seen])
    entered = enter(sample, schema)
    names = dict(sum((Counter(one.under_names) for one in seen), Counter()))
    faults = [*_merged(names, schema), *describe_faults(entered, schema, present, counted)]
    if not faults:
        return
    lines = "\n  ".join(faults)
    several = f"{len(faults)} faults in the snapshot\n  " if len(faults) > 1 else ""
    rows = pl.concat([one.rows for one in seen])
    raise SnapshotError(f"{where}: {several}{lines}", rows=rows if rows.height else None, table=entered)


def _under_names(source: pl.DataFrame, schema: Table) -> dict[tuple[str, str], int]:
    """How many rows have each name of a renamed value, by the column's name and that of the value."""
    found: dict[tuple[str, str], int] = {}
    for _, one in schema.sensitive_columns():
        if one.renamed and one.name in source.columns:
            column = entries(source, one.name).cast(pl.String, strict=False)
            names = column.filter(column.is_in([*one.renamed, *one.renamed.values()]))
            found |= {(one.name, name): count for name, count in names.value_counts().iter_rows()}
    return found


def _merged(counts: Mapping[tuple[str, str], int], schema: Table) -> list[str]:
    """The faults of a source that has a renamed value under both names: two values would become one."""
    faults = []
    for _, one in schema.sensitive_columns():
        for own, now in one.renamed.items():
            under_own, under_new = counts.get((one.name, own)), counts.get((one.name, now))
            if under_own is not None and under_new is not None and own not in one.renamed.values():
                faults.append(
                    f"{one.name}: {under_own:,} rows have {own}, and {under_new:,} have {now}, its new name"
                    f" by sensitive.renamed: write {now} for all of them in the source, or take the line out"
                    " if they are two values"
                )
    return faults


def enter(source: pl.DataFrame, schema: Table) -> pl.DataFrame:
    """The schema's columns under our own names. No name of the publisher's is used inside.

    Parameters
    ----------
    source
        A table as a source has it. Columns that the schema does not name are left out; of those that it
        names, any may be missing.
    schema
        The columns and their roles.
    """
    named = {ours: name for ours, name in schema.column_names().items() if name in source.columns}
    entered = pl.DataFrame([source[name].alias(ours) for ours, name in named.items()])
    renamed = [(column, one) for column, one in schema.sensitive_columns() if one.renamed]
    return entered.with_columns(
        by_own_names(exactly(column), one) for column, one in renamed if column in entered.columns
    )


def snapshot_exists(contract_file: ContractFile, release: str) -> bool:
    """Whether a release's snapshot has arrived.

    That is a file that isn't empty, a folder of such files, a query that answers with a row, a table that had
    been written to when the release was due.

    Raises
    ------
    SnapshotError
        If the source is a query that fails, a server that isn't there, or a version that is gone.
    """
    source = contract_file.contract.source
    if isinstance(source, TableSource):
        return version_of(contract_file, release) is not None
    if isinstance(source, FileSource):
        files = _files(contract_file, source, release)
        # What is there and no file (a folder, say) will never be one: reading it says so.
        return bool(files) and all(
            size_of(file) > 0 for file in files if isinstance(file, Stored) or file.is_file()
        )
    database = database_file(source, contract_file.path.parent)
    if database is not None and not database.is_file():
        return False
    where = where_of(contract_file, release)
    answer = ask(source, release, contract_file.path.parent, where, any_row=True)
    return bool(answer.whole(where).num_rows)


def arrival_of(contract_file: ContractFile, release: str) -> str:
    """What tells a snapshot that has arrived from one that replaces it.

    What a query would answer can't be told without asking: of a query it is today's date.
    """
    source = contract_file.contract.source
    if isinstance(source, FileSource):
        return " ".join(mark_of(file) for file in _files(contract_file, source, release))
    if isinstance(source, TableSource):
        return str(version_of(contract_file, release))
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%d")


def version_of(contract_file: ContractFile, release: str) -> int | None:
    """The version of a table that is a release's snapshot.

    It is the one that the contract names, or the last one that was written up to the moment at which the
    release is due. None if there is none yet, or the source is no table.

    Raises
    ------
    SnapshotError
        If it is gone, or the table can't be read.
    """
    source, releases = contract_file.contract.source, contract_file.contract.releases
    if not isinstance(source, TableSource):
        return None
    if release in source.versions:
        return source.versions[release]
    from orchestration.contracts.schedule import ticks  # noqa: PLC0415 - not in the small install

    date = dt.date.fromisoformat(release)
    midnight = dt.datetime.combine(date, dt.time(), dt.UTC)
    moment = next(ticks(releases.cron, date)) if releases.cron else midnight
    return version_at(source, moment, contract_file.path.parent, where_of(contract_file, release))


def place(contract_file: ContractFile, release: str) -> str:
    """Where a release's snapshot is looked for: a file, a table, or a server without user and password."""
    source = contract_file.contract.source
    if isinstance(source, TableSource):
        return source.table
    if isinstance(source, FileSource):
        path = source.path.replace("{release}", release)
        return path if is_in_store(path) else str(contract_file.resolve(path))
    return place_of(source, contract_file.path.parent)


def where_of(contract_file: ContractFile, release: str) -> str:
    """What a message begins with: product, release and source."""
    return f"{contract_file.contract.product}, release {release}, {place(contract_file, release)}"


def _read(
    contract_file: ContractFile, release: str, version: int | None, where: str
) -> tuple[pl.DataFrame, list[str]]:
    """Those of the contract's columns that the source has, as it has them, and the names of all it has."""
    contract = contract_file.contract
    source, names = contract.source, list(contract.column_names().values())
    if not isinstance(source, FileSource):
        answer, present = _answer(contract_file, release, version, where)
        table = from_arrow(answer.whole(where), names, where)
        return with_numerics(table, [numerics(answer.schema, table)]), present
    files, named = _delivered(contract_file, source, release, where)
    read = [read_as_declared(file, contract, source, name) for file, name in zip(files, named, strict=True)]
    return _together(read, where, named)


def _answer(
    contract_file: ContractFile, release: str, version: int | None, where: str
) -> tuple[Answer, list[str]]:
    """What a database, or a table that keeps versions, gives, and the names of all columns."""
    contract, folder = contract_file.contract, contract_file.path.parent
    source = contract.source
    if isinstance(source, QuerySource):
        answer = ask(source, release, folder, where)
        return answer, answer.schema.names
    assert isinstance(source, TableSource)
    version = version_of(contract_file, release) if version is None else version
    if version is None:
        raise SnapshotError(
            f"{where}: there was no such table yet when the release was due; correct source.table, or"
            " name a version under source.versions in the contract"
        )
    return read_version(source, version, list(contract.column_names().values()), folder, where)


def _delivered(
    contract_file: ContractFile, source: FileSource, release: str, where: str
) -> tuple[list[Path | Stored], list[str]]:
    """The files of a snapshot, and what messages about each begin with."""
    files = _files(contract_file, source, release)
    if not files:
        raise SnapshotError(
            f"{where}: there is no such file; deliver the snapshot, or correct source.path in the contract"
        )
    return files, [where] if len(files) == 1 else [f"{where}, {file.name}" for file in files]


def _together(
    read: list[tuple[pl.DataFrame, list[str]]], where: str, named: list[str]
) -> tuple[pl.DataFrame, list[str]]:
    """The files of a folder as one table; each has the same columns, in types of its own."""
    first, present = read[0]
    _refuse_other_columns([table.columns for table, _ in read], named)
    whole = _in_common_types([table.select(exactly(*first.columns)) for table, _ in read], where)
    check(where, "rows", whole.height)
    return whole, present


def _in_common_types(tables: list[pl.DataFrame], where: str) -> pl.DataFrame:
    """Tables of the same columns as one. Raises SnapshotError if their types have none in common."""
    try:
        return pl.concat(tables, how="vertical_relaxed")
    except pl.exceptions.PolarsError:
        raise SnapshotError(
            f"{where}: the files of the folder have the same columns in types that don't go together; deliver"
            " all of them with the same types"
        ) from None


def _refuse_other_columns(columns: list[list[str]], named: list[str]) -> None:
    """Raise SnapshotError unless all files of a folder have the columns of the first one."""
    for own, name in zip(columns, named, strict=True):
        if odd := set(own) ^ set(columns[0]):
            raise SnapshotError(
                f"{name}: {min(odd)} is a column here or in the folder's first file, and not in both;"
                " deliver all of them with the same columns"
            )


@dataclass(frozen=True)
class Rows:
    """Some rows of a snapshot, and what of them can be judged only when all rows are known."""

    table: pl.DataFrame
    """As the source has them, but for numbers of PostgreSQL's numeric: these are text."""
    two_ways: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=TWO_WAYS_COUNTED))
    """What `written.two_ways` has counted."""
    numerics: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=NUMERICS))
    """What `arrow.numerics` has found."""


@dataclass(frozen=True)
class Piece:
    """Some rows of a snapshot."""

    first: int
    """The number of its first row in the source, counted from 1."""
    read: Callable[[], Rows]


@dataclass(frozen=True)
class Pieces:
    """A snapshot in pieces of about a million rows; the first has none, and says what the columns are."""

    present: list[str]
    """The names of all columns of the source."""
    in_files: Sequence[Piece] = ()
    """Pieces that any process can read that sees the files."""
    in_order: Iterable[Piece] = ()
    """Pieces that this process has to read, one after the other."""


def read_pieces(contract_file: ContractFile, release: str, version: int | None = None) -> Pieces:
    """A snapshot in pieces of about a million rows. Files in an object store are read whole before.

    Parameters
    ----------
    contract_file, release, version
        As for `read_snapshot`.

    Raises
    ------
    SnapshotError
        If it is missing or can't be read: at once, or when a piece is asked for.
    """
    contract, where = contract_file.contract, where_of(contract_file, release)
    source, names = contract.source, list(contract.column_names().values())
    if not isinstance(source, FileSource):
        answer, present = _answer(contract_file, release, version, where)
        return Pieces(present, in_order=_in_order(_rows_of(answer, names, where)))
    files, named = _delivered(contract_file, source, release, where)
    local = [file for file in files if isinstance(file, Path)]
    if len(local) < len(files):
        table, present = _read(contract_file, release, version, where)
        starts = range(0, table.height, PIECE)
        cut = (Rows(table.slice(at, PIECE)) for at in starts)
        return Pieces(present, in_order=_in_order(chain([Rows(table.clear())], cut)))
    if local[0].suffix == ".parquet":
        read = [parquet_pieces(file, name, names, PIECE) for file, name in zip(local, named, strict=True)]
        _refuse_other_columns([_wanted(present, names) for _, present in read], named)
        columns = _wanted(read[0][1], names)
        _in_common_types(
            [without_rows.read().select(exactly(*columns)) for (without_rows, *_), _ in read], where
        )
        pieces = [piece for some, _ in read for piece in some]
        ends = accumulate((piece.rows for piece in pieces), initial=0)
        readers = (partial(_read_piece, piece, contract, source) for piece in pieces)
        in_files = [Piece(before + 1, one) for before, one in zip(ends, readers, strict=False)]
        return Pieces(read[0][1], in_files)
    written = {"separator": source.separator, "encoding": source.encoding}
    headers = [csv_header(file, name, names, **written) for file, name in zip(local, named, strict=True)]
    _refuse_other_columns([_wanted(header, names) for header in headers], named)
    rows = (
        _as_declared(table, contract, source, name)
        for file, name in zip(local, named, strict=True)
        for table in csv_pieces(file, name, names, PIECE, **written)
    )
    return Pieces(headers[0], in_order=_in_order(rows))


def _wanted(present: list[str], names: list[str]) -> list[str]:
    return [name for name in present if name in names]


def _in_order(rows: Iterable[Rows]) -> Iterator[Piece]:
    """Pieces with the numbers of their rows."""
    first = 1
    for some in rows:
        yield Piece(first, lambda some=some: some)  # type: ignore[misc]
        first += some.table.height


def _rows_of(answer: Answer, names: list[str], where: str) -> Iterator[Rows]:
    for piece in answer.pieces(PIECE):
        table = from_arrow(piece, names, where)
        yield Rows(table, numerics=numerics(answer.schema, table))


def _read_piece(piece: ParquetPiece, schema: Table, source: FileSource) -> Rows:
    return _as_declared(piece.read(), schema, source, piece.where)


def _as_declared(table: pl.DataFrame, schema: Table, source: FileSource, where: str) -> Rows:
    """Rows of a file, with its columns in the order of the schema: in other files they may be in another."""
    ordered = table.select(exactly(*_wanted(list(schema.column_names().values()), table.columns)))
    return Rows(plainly(ordered, schema, source), two_ways(ordered, schema, source, where))


def read_as_declared(
    file: Path | Stored, schema: Table, source: FileSource, where: str
) -> tuple[pl.DataFrame, list[str]]:
    """Those of the schema's columns that a file has, read as the source is written, and the names of all."""
    names = schema.column_names().values()
    table, present = read_file(file, where, names, separator=source.separator, encoding=source.encoding)
    rows = _as_declared(table, schema, source, where)
    refuse_two_ways([rows.two_ways])
    return rows.table, present


def _files(contract_file: ContractFile, source: FileSource, release: str) -> list[Path | Stored]:
    return delivered(source.path.replace("{release}", release), contract_file.path.parent)
