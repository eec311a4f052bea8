"""Snapshots, read column by column from where the contract says they are."""

from __future__ import annotations

import datetime as dt
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

import polars as pl

from republish.anonymize.columns import entries, exactly
from republish.anonymize.contract import FileSource, QuerySource, Table, TableSource, is_in_store
from republish.anonymize.contract.identifier import columns_of_identifier, is_part, join_parts
from republish.anonymize.errors import SnapshotError
from republish.anonymize.people.values import by_own_names
from republish.orchestration.contracts.contract_file import ContractFile
from republish.orchestration.snapshots.arrow import NUMERICS, Answer, from_arrow, numerics, with_numerics
from republish.orchestration.snapshots.crosswalks import crosswalk, under_first_identifiers
from republish.orchestration.snapshots.databases import answer_mark, ask, has_row, place_of
from republish.orchestration.snapshots.files import (
    OpenedFile,
    ParquetPiece,
    ReadPiece,
    delivered,
    mark_of,
    open_file,
    size_of,
    unchanged,
    within_limit,
)
from republish.orchestration.snapshots.labels import Codes
from republish.orchestration.snapshots.likely_names import likely_names
from republish.orchestration.snapshots.locale_formats import (
    AMBIGUOUS_COUNTED,
    ambiguous_numbers,
    plainly,
    refuse_ambiguous_numbers,
)
from republish.orchestration.snapshots.rows_of_release import of_release
from republish.orchestration.snapshots.sheet_size import Sheet
from republish.orchestration.snapshots.tables import read_version, version_at
from republish.orchestration.snapshots.validation import (
    AT_FAULT,
    MEASURES,
    columns_without_values,
    conform,
    counted_together,
    describe_faults,
    rows_at_fault,
    snapshot_faults,
)
from republish.orchestration.storage.objects import Stored

ROW = "republish:row"
"""The number of a row in its source, in a part of a snapshot."""
PIECE = 1_000_000
"""Rows that are read at a time where a snapshot is not read whole."""
FEW = 50_000
"""Rows that tell what a column is likely to be."""


def read_snapshot(source: Source) -> pl.DataFrame:
    """The table of people as it is at a release.

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
    pieces, schema = source.pieces(), source.file.contract
    people = pieces.whole(source.where)
    seen = look_at(people, schema)
    refuse_faults(source.where, [seen], people, schema, pieces.present, source.likely_names(pieces.present))
    return seen.people


@dataclass(frozen=True)
class ValidationResult:
    """The outcome of looking for faults in a snapshot, or in a part of its people."""

    people: pl.DataFrame
    """As `read_snapshot` returns them; no columns if any rule is broken."""
    counted: pl.DataFrame
    """Counts of `snapshot_faults` for what the source has."""
    under_names: Mapping[tuple[str, str], int]
    """Rows with each name of a value that has two (`sensitive.renamed`)."""
    rows: pl.DataFrame
    """The rows at fault, for the publisher alone."""
    without_values: frozenset[str] = frozenset()
    """Columns that may lack values, and of which nobody in this shard has one."""


def look_at(source: pl.DataFrame, schema: Table) -> ValidationResult:
    """Look for faults in people as a source has them; in their order, or with its numbers in `ROW`."""
    entered = enter(source, schema)
    counted, names = snapshot_faults(entered, schema), _under_names(source, schema)
    is_whole = schema.column_names().keys() <= set(entered.columns)
    if is_whole and not counted.select(pl.sum_horizontal(pl.col(MEASURES)).sum()).item():
        people, rows = conform(entered, schema), pl.DataFrame(schema=AT_FAULT)
    else:
        numbers = source.get_column(ROW, default=None)
        people, rows = pl.DataFrame(), rows_at_fault(entered, schema, counted, numbers)
    return ValidationResult(people, counted, names, rows, columns_without_values(entered, schema))


def refuse_faults(
    where: str,
    seen: Sequence[ValidationResult],
    sample: pl.DataFrame,
    schema: Table,
    present: Sequence[str],
    likely: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Raise SnapshotError if a snapshot breaks the contract.

    `sample` is people as the source has them: all, or those of a part that has a fault.
    """
    counted = counted_together([one.counted for one in seen])
    empty = frozenset.intersection(*(one.without_values for one in seen))
    is_empty = pl.col("column").is_in(list(empty))
    counted = counted.with_columns(nulls=pl.when(is_empty).then("rows").otherwise("nulls"))
    entered = enter(sample, schema)
    names = dict(sum((Counter(one.under_names) for one in seen), Counter()))
    faults = [*_merged(names, schema), *describe_faults(entered, schema, present, counted, likely)]
    if not faults:
        return
    lines = "\n  ".join(faults)
    several = f"{len(faults)} faults in the snapshot\n  " if len(faults) > 1 else ""
    rows = pl.concat([one.rows for one in seen], how="diagonal")
    raise SnapshotError(f"{where}: {several}{lines}", rows=rows if rows.height else None, table=entered)


def _under_names(source: pl.DataFrame, schema: Table) -> dict[tuple[str, str], int]:
    """How many rows have each name of a renamed value, by the column's name and that of the value."""
    found: dict[tuple[str, str], int] = {}
    for column, renamed in _renamed(schema).items():
        name = schema.column_names()[column]
        if name in source.columns:
            values = entries(source, name).cast(pl.String, strict=False)
            names = values.filter(values.is_in([*renamed, *renamed.values()]))
            found |= {(name, value): count for value, count in names.value_counts().iter_rows()}
    return found


def _renamed(schema: Table) -> dict[str, Mapping[str, str]]:
    """The values that the source calls otherwise by now, by our name of their column."""
    return {
        column: renamed for column, one in schema.all_columns() if (renamed := getattr(one, "renamed", {}))
    }


def _merged(counts: Mapping[tuple[str, str], int], schema: Table) -> list[str]:
    """The faults of a source that has a renamed value under both names: two values would become one."""
    faults = []
    for column, renamed in _renamed(schema).items():
        name, key = schema.column_names()[column], "sensitive.renamed"
        key = f"renamed of {name}" if column in dict(schema.attributes()) else key
        for own, now in renamed.items():
            under_own, under_new = counts.get((name, own)), counts.get((name, now))
            if under_own is not None and under_new is not None and own not in renamed.values():
                faults.append(
                    f"{name}: {under_own:,} rows have {own}, and {under_new:,} have {now}, its new name by"
                    f" {key}: write {now} for all of them in the source, or take the line out if they are two"
                    " values"
                )
    return faults


def enter(source: pl.DataFrame, schema: Table) -> pl.DataFrame:
    """The schema's columns under our own names. No name of the publisher's is used inside.

    Columns that the schema does not name are left out; of those that it names, any may be missing.
    """
    named = {ours: name for ours, name in schema.column_names().items() if name in source.columns}
    entered = pl.DataFrame([source[name].alias(ours) for ours, name in named.items()])
    return entered.with_columns(
        by_own_names(exactly(column), renamed)
        for column, renamed in _renamed(schema).items()
        if column in entered.columns
    )


@dataclass(frozen=True)
class Rows:
    """Some rows of a snapshot, and what of them can be judged only when all rows are known."""

    table: pl.DataFrame
    """As the source has them, but for numbers of PostgreSQL's numeric: these are text."""
    ambiguous_numbers: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=AMBIGUOUS_COUNTED))
    """Counts of `ambiguous_numbers`."""
    numerics: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=NUMERICS))
    """Results of `arrow.numerics`."""

    def __len__(self) -> int:
        return self.table.height


@dataclass(frozen=True)
class Piece:
    """Some rows of a snapshot."""

    first: int
    """The number of its first row in the source, counted from 1."""
    rows: int
    """How many rows it has."""
    read: Callable[[], Rows]


@dataclass(frozen=True)
class Pieces:
    """A snapshot in pieces; the first has no rows, and says what the columns are."""

    present: list[str]
    """The names of all columns of the source."""
    pieces: Iterable[Piece]
    """In the order of the source. Errors of reading are raised when a piece is asked for, or read."""
    is_anywhere: bool = False
    """Whether any process can read them, in any order: that sees the files."""

    def each(self, changed: Callable[[pl.DataFrame], pl.DataFrame]) -> Pieces:
        """The same with the rows of each changed when it is read."""
        pieces = (replace(one, read=partial(_changed, one, changed)) for one in self.pieces)
        return replace(self, pieces=list(pieces) if self.is_anywhere else pieces)

    def whole(self, where: str) -> pl.DataFrame:
        """All rows as one table. Raises LimitError if they are too many."""
        read = within_limit((piece.read() for piece in self.pieces), where)
        refuse_ambiguous_numbers([one.ambiguous_numbers for one in read])
        table = _in_common_types([one.table for one in read], where)
        return with_numerics(table, [one.numerics for one in read])


def _changed(piece: Piece, change: Callable[[pl.DataFrame], pl.DataFrame]) -> Rows:
    rows = piece.read()
    return replace(rows, table=change(rows.table))


@dataclass(frozen=True)
class Source(ABC):
    """Where the snapshot of a release is, and how it is read."""

    file: ContractFile
    """The contract, and where it lies: paths in it are relative to it."""
    release: str
    """The release's date, `2024-01-01`."""

    @property
    @abstractmethod
    def place(self) -> str:
        """Where it is looked for: a file, a table, or a server without user and password."""

    @property
    def where(self) -> str:
        """The beginning of a message: product, release and source."""
        return f"{self.file.contract.product}, release {self.release}, {self.place}"

    @abstractmethod
    def exists(self) -> bool:
        """Whether it has arrived.

        Raises SnapshotError if a query fails, a server isn't there, or a version is gone.
        """

    @abstractmethod
    def mark(self) -> str:
        """A mark of what it has now: another one if there is more in it, or something else."""

    @property
    def attempt(self) -> str:
        """Another one if a release that was refused is to be tried again."""
        return self.mark()

    def unchanged(self) -> AbstractContextManager[None]:
        """Read it; SnapshotError if it was changed meanwhile."""
        return unchanged(self.where, self.mark)

    def pieces(self, rows: int | None = None) -> Pieces:
        """Its rows, so many at a time, and then there may be any number of them; None if it is read whole.

        Raises SnapshotError if it is missing or can't be read: at once, or when a piece is asked for.
        """
        where, identifier = self.where, self.file.contract.identifier
        joined = partial(with_identifier, identifier=identifier, where=where)
        changes = crosswalk(self.file, self.release)
        known = partial(under_first_identifiers, changes=changes, column=identifier, where=where)
        return self._pieces(rows).each(joined).each(known)

    @abstractmethod
    def _pieces(self, rows: int | None) -> Pieces:
        """The same, with people as the source calls them."""

    def likely_names(self, _present: Sequence[str]) -> Mapping[str, str]:
        """What columns that are missing are likely to be called in it, by what is in the others."""
        return {}

    def stated(self) -> dict[str, Any]:
        """Notes on a snapshot that was taken, to read the same one again."""
        return {}

    def as_noted(self, _noted: Mapping[str, Any]) -> Source:
        """The source of the snapshot that was taken, by what was noted of it."""
        return self

    @property
    def _columns(self) -> list[str]:
        return self.file.contract.source_columns()

    @property
    def _folder(self) -> Path:
        return self.file.path.parent


def source_of(file: ContractFile, release: str, *, is_published: bool = False) -> Source:
    """The source of a release's snapshot; where that is published, nobody asks any more if it is complete."""
    declared = file.contract.source_of(release)
    if isinstance(declared, FileSource):
        declared = _open_ended(declared) if is_published else declared
        return _Files(file, release, declared)
    if isinstance(declared, QuerySource):
        return _Query(file, release, declared)
    return _VersionedTable(file, release, declared)


@dataclass(frozen=True)
class _Files(Source):
    """A file, or all files of a folder; here or in an object store. It has arrived if none is empty."""

    declared: FileSource

    @property
    def place(self) -> str:
        place = self._path if is_in_store(self._path) else str(self.file.resolve(self._path))
        rows = " and ".join(
            f"{column} is {value}" for column, value in self.declared.of(self.release).items()
        )
        return f"{place}, where {rows}" if rows else place

    def exists(self) -> bool:
        # What is there and no file (a folder, say) will never be one: reading it says so.
        files = self._delivered
        is_there = bool(files) and all(
            size_of(one) > 0 for one in files if isinstance(one, Stored) or one.is_file()
        )
        return is_there and (not self.declared.where or self._has_rows())

    def _has_rows(self) -> bool:
        """Whether a file has rows of this release. True also if it can't be read: reading it says why."""
        own = self.declared.of(self.release)
        try:
            opened = (
                open_file(file, self.where, [*own], **_written(self.declared)) for file in self._delivered
            )
            parts = (piece.read() for one in opened for piece in one.pieces)
            return any(len(of_release(part, own, self.where)) for part in parts)
        except SnapshotError:
            return True

    def mark(self) -> str:
        return " ".join(map(mark_of, self._delivered))

    def _pieces(self, rows: int | None) -> Pieces:
        files = self._delivered
        if not files:
            raise SnapshotError(
                f"{self.where}: there is no such file; deliver the snapshot, or correct source.path in the"
                " contract"
            )
        own = self.declared.model_copy(update={"where": self.declared.of(self.release)})
        return file_pieces(files, self.where, self.file.contract, own, rows, self.codes)

    @cached_property
    def codes(self) -> Codes:
        """What the codes in its files mean, once these are read."""
        return Codes.of(self.file.contract, self.declared)

    def likely_names(self, present: Sequence[str]) -> Mapping[str, str]:
        contract, own = self.file.contract, {"where": self.declared.of(self.release)}

        @cache
        def first_rows() -> pl.DataFrame:
            opened = open_file(
                self._delivered[0], self.where, None, FEW, **_written(self.declared), codes=self.codes
            )
            *_, last = islice(opened.pieces, 2)  # before the first rows may be a piece without any
            return last.read()

        def entered(names: Mapping[str, str]) -> pl.DataFrame:
            declared = self.declared.model_copy(update={**own, "names": {**self.declared.names, **names}})
            table = first_rows()
            wanted = [declared.names.get(name, name) for name in contract.source_columns()]
            there = [one for one in dict.fromkeys([*wanted, *declared.where]) if one in table.columns]
            piece = ReadPiece(table.select(exactly(*there)))
            return enter(_as_declared(piece, contract, declared, self.where, 1).table, contract)

        return likely_names(entered, present, contract)

    def stated(self) -> dict[str, Any]:
        return self.codes.stated()

    @property
    def _path(self) -> str:
        return self.declared.at(self.release)

    @property
    def _delivered(self) -> list[Path | Stored]:
        return delivered(self._path, self._folder)


@dataclass(frozen=True)
class _Query(Source):
    """A query of a database, or of files. It has arrived if there is a row."""

    declared: QuerySource

    @property
    def place(self) -> str:
        return place_of(self.declared, self._folder)

    def exists(self) -> bool:
        return has_row(self.declared, self.release, self._folder, self.where)

    def mark(self) -> str:
        """How many rows it answers, and the lowest and the highest identifier: a secret, as these are."""
        column = columns_of_identifier(self.file.contract.identifier)[0]
        return answer_mark(self.declared, self.release, self._folder, self.where, column)

    @property
    def attempt(self) -> str:
        """Today's date: a query may take long, and is not asked every minute until somebody corrects it."""
        return dt.datetime.now(dt.UTC).strftime("%Y-%m-%d")

    def unchanged(self) -> AbstractContextManager[None]:
        return unchanged(self.where, self.mark, "whoever fills its tables should do it in one transaction")

    def _pieces(self, rows: int | None) -> Pieces:
        answer = ask(self.declared, self.release, self._folder, self.where)
        return _answered(answer, answer.schema.names, self._columns, self.where, rows)


@dataclass(frozen=True)
class _VersionedTable(Source):
    """A table that keeps its versions. It has arrived if it had been written to when the release was due."""

    declared: TableSource
    known: int | None = None
    """The version that the release was made from."""

    @property
    def place(self) -> str:
        return self.declared.table

    @cached_property
    def version(self) -> int | None:
        """The one that is known, that the contract names, or the last up to the moment of the release.

        None if there is none yet. Raises SnapshotError if it is gone, or the table can't be read.
        """
        if self.known is not None:
            return self.known
        if self.release in self.declared.versions:
            return self.declared.versions[self.release]
        from republish.orchestration.contracts.schedule import ticks  # noqa: PLC0415 - not in the small install

        cron, date = self.file.contract.releases.cron, dt.date.fromisoformat(self.release)
        midnight = dt.datetime.combine(date, dt.time(), dt.UTC)
        moment = next(ticks(cron, date)) if cron else midnight
        return version_at(self.declared, moment, self._folder, self.where)

    def exists(self) -> bool:
        return self.version is not None

    def mark(self) -> str:
        return str(self.version)

    def _pieces(self, rows: int | None) -> Pieces:
        if self.version is None:
            raise SnapshotError(
                f"{self.where}: there was no such table yet when the release was due; correct source.table,"
                " or name a version under source.versions in the contract"
            )
        read = read_version(self.declared, self.version, self._columns, self._folder, self.where)
        return _answered(*read, self._columns, self.where, rows)

    def stated(self) -> dict[str, Any]:
        return {"table": self.declared.table, "version": self.version}

    def as_noted(self, noted: Mapping[str, Any]) -> Source:
        is_other = noted.get("table") != self.declared.table or self.release in self.declared.versions
        return self if is_other else replace(self, known=noted.get("version"))


def read_as_declared(
    file: Path, schema: Table, source: FileSource, where: str
) -> tuple[pl.DataFrame, list[str]]:
    """The schema's columns that a file has, read as the source is written, and the names of all."""
    whole = _open_ended(source).model_copy(update={"where": {}})
    joined = partial(with_identifier, identifier=schema.identifier, where=where)
    pieces = file_pieces([file], where, schema, whole).each(joined)
    return pieces.whole(where), pieces.present


def _open_ended(source: FileSource) -> FileSource:
    return source.model_copy(update={"final_newline": False})


def with_identifier(table: pl.DataFrame, identifier: str, where: str) -> pl.DataFrame:
    """People as a source has them, with the identifier that several columns make together; else as they are.

    Raises SnapshotError if one of them has neither text nor whole numbers nor dates.
    """
    columns = columns_of_identifier(identifier)
    if len(columns) == 1 or not {*columns} <= {*table.columns}:
        return table
    if wrong := next((name for name in columns if not is_part(table.schema[name])), None):
        raise SnapshotError(
            f"{where}: {wrong}: its values are neither text nor whole numbers nor dates, of which an"
            " identifier is made: write them so in the source"
        )
    return table.with_columns(join_parts([entries(table, name) for name in columns]).alias(identifier))


def file_pieces(
    files: Sequence[Path | Stored],
    where: str,
    schema: Table,
    source: FileSource,
    rows: int | None = None,
    codes: Codes | None = None,
) -> Pieces:
    """The rows of files that are one table, read as the source is written; arguments as `Source.pieces`."""
    opened = _opened(files, where, schema, source, rows, codes or Codes.of(schema, source))
    first = next(opened)
    is_anywhere = all(isinstance(file, Path) and file.name.endswith(".parquet") for file in files)
    pieces = _declared_pieces(chain([first], opened), schema, source)
    return Pieces(first.present, list(pieces) if is_anywhere else pieces, is_anywhere)


def _declared_pieces(files: Iterable[OpenedFile], schema: Table, source: FileSource) -> Iterator[Piece]:
    first = 1
    for one in files:
        for piece in one.pieces:
            yield Piece(first, piece.rows, partial(_as_declared, piece, schema, source, one.where, first))
            first += piece.rows


def _opened(
    files: Sequence[Path | Stored],
    where: str,
    schema: Table,
    source: FileSource,
    rows: int | None,
    codes: Codes,
) -> Iterator[OpenedFile]:
    """Open files one after the other. Raises SnapshotError unless they have the same columns."""
    names = [source.names.get(name, name) for name in schema.source_columns()]
    names += [one for one in source.where if one not in names]
    found: list[pl.DataFrame] = []
    for file in files:
        name = where if len(files) == 1 else f"{where}, {file.name}"
        opened = open_file(file, name, names, rows, **_written(source), codes=codes)
        found.append(opened.schema.to_frame())
        if odd := {*found[-1].columns} ^ {*found[0].columns}:
            raise SnapshotError(
                f"{name}: {min(odd)} is a column here or in the folder's first file, and not in both;"
                " deliver all of them with the same columns"
            )
        _in_common_types([table.select(exactly(*found[0].columns)) for table in found], where)
        yield opened


def _written(source: FileSource) -> dict[str, Any]:
    """How a file is written, as `open_file` takes it."""
    return {
        "separator": source.separator,
        "encoding": source.encoding,
        "final_newline": source.final_newline,
        "places": source.places(),
        "sheet": Sheet(source.sheet, source.header_row),
    }


def _in_common_types(tables: list[pl.DataFrame], where: str) -> pl.DataFrame:
    """Tables of the same columns as one. Raises SnapshotError if their types have none in common."""
    try:
        return pl.concat(tables, how="vertical_relaxed")
    except pl.exceptions.PolarsError:
        raise SnapshotError(
            f"{where}: the files of the folder have the same columns in types that don't go together; deliver"
            " all of them with the same types"
        ) from None


def _as_declared(
    piece: ParquetPiece | ReadPiece, schema: Table, source: FileSource, where: str, first: int
) -> Rows:
    """Rows of a file, with its columns in the order of the schema: in other files they may be in another.

    `first` is the number of its first row. In a file of several releases, each row keeps its number there.
    """
    table, wanted = piece.read(), schema.source_columns()
    if source.where:
        table = of_release(table.with_row_index(ROW, offset=first), source.where, where)
        wanted = [*wanted, ROW]
    table = table.rename({theirs: own for own, theirs in source.names.items() if theirs in table.columns})
    ordered = table.select(exactly(*(name for name in wanted if name in table.columns)))
    return Rows(plainly(ordered, schema, source), ambiguous_numbers(ordered, schema, source, where))


def _answered(answer: Answer, present: list[str], names: list[str], where: str, rows: int | None) -> Pieces:
    def found() -> Iterator[Piece]:
        first = 1
        with closing(answer.batches):  # whatever happens, nobody is left waiting for the database
            for some in answer.pieces(rows or PIECE):
                table = from_arrow(some, names, where)
                read = Rows(table, numerics=numerics(answer.schema, table))
                yield Piece(first, table.height, lambda read=read: read)  # type: ignore[misc]
                first += table.height

    return Pieces(present, found())
