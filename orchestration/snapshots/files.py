"""Tables of people in files, Parquet, CSV or other programs': read strictly, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, TypeVar

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from republish.anonymize.columns import exactly
from republish.anonymize.contract import EACH_FILE, is_in_store
from republish.anonymize.errors import SnapshotError
from republish.orchestration.limits import Footer, check, check_parquet, limits
from republish.orchestration.snapshots.arrow import uuid_text
from republish.orchestration.snapshots.csv_text import CsvText, positions
from republish.orchestration.snapshots.fixed_width import FixedWidthText
from republish.orchestration.snapshots.labels import Codes
from republish.orchestration.snapshots.program_files import PROGRAMS, read_program_file
from republish.orchestration.snapshots.sheet_size import FIRST_SHEET, Sheet
from republish.orchestration.storage.objects import Stored, objects_below, stored
from republish.orchestration.storage.pages import is_decodable

S = TypeVar("S", bound=Sized)
UNFINISHED = "_temporary"
"""In a folder that Spark, or Hadoop, still writes into."""
FAILURES = pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError
"""Errors that polars raises of a file that is damaged."""
AT_A_TIME = 1_000_000
"""Rows of a CSV file."""
PACKED = {".gz": "gzip", ".zst": "zstd"}
"""Ways in which a CSV file may be compressed, by the end of its name."""


def delivered(path: str, folder: Path) -> list[Path | Stored]:
    """The files of a snapshot, by name: one, or all that end so in a folder (`…/*.parquet`).

    Parameters
    ----------
    path
        As a contract has it, its release filled in: a path, or an address in an object store. No other letter
        in it is a pattern.
    folder
        The contract's: relative paths begin there.

    Returns
    -------
    list of pathlib.Path or Stored
        Empty if nothing is there yet, or while a program (Spark, say) still writes into the folder.
    """
    parent, _, name = path.rpartition("/")
    if name not in EACH_FILE:
        if is_in_store(path):
            return [file for file in [stored(path)] if file is not None]
        return [folder / path] if (folder / path).exists() else []
    found: list[Path | Stored] = []
    if is_in_store(path):
        below = objects_below(parent)
        if not any(one.address.startswith(f"{parent}/{UNFINISHED}/") for one in below):
            found += [one for one in below if one.address == f"{parent}/{one.name}"]
    elif (place := folder / parent).is_dir() and not (place / UNFINISHED).exists():
        found += sorted(place.iterdir())
    ending = name.removeprefix("*")
    return [file for file in found if file.name.endswith(ending) and not file.name.startswith((".", "_"))]


def size_of(file: Path | Stored) -> int:
    """Bytes of a file."""
    return file.size if isinstance(file, Stored) else file.stat().st_size


def mark_of(file: Path | Stored) -> str:
    """A mark that tells a file from one that replaced it, and from what it is once more is written."""
    if isinstance(file, Stored):
        return f"{file.name} {file.size} {file.tag}"
    try:
        found = file.stat()
    except FileNotFoundError:
        return f"{file.name} is gone"
    return f"{file.name} {found.st_size} {found.st_mtime_ns} {found.st_ino}"


COMPLETE = "whoever writes it should write it beside, under another name, and rename it in the end"


@contextmanager
def unchanged(where: str, mark: Callable[[], str], way_out: str = COMPLETE) -> Iterator[None]:
    """Read something that stays as it is meanwhile.

    Raises SnapshotError if its mark is another one afterwards, whatever else was found to be wrong with it.
    """
    before = mark()
    try:
        yield
    except SnapshotError:
        if mark() == before:
            raise
    else:
        if mark() == before:
            return
    raise SnapshotError(
        f"{where}: changed while it was read, as it does while it is written. Wait until it is complete;"
        f" {way_out}"
    )


@dataclass(frozen=True)
class OpenedFile:
    """A file of people, whose rows are read when they are asked for."""

    where: str
    """The beginning of a message."""
    present: list[str]
    """The names of all its columns."""
    schema: pl.Schema
    """The wanted columns, with their types."""
    pieces: Iterable[ParquetPiece | ReadPiece]
    """Its rows in their order, some at a time. The first piece has none."""


def open_file(
    file: Path | Stored,
    where: str,
    columns: Collection[str] | None = None,
    rows: int | None = None,
    *,
    separator: str = ",",
    encoding: str = "utf-8",
    final_newline: bool = False,
    places: Mapping[str, tuple[int, int]] | None = None,
    sheet: Sheet = FIRST_SHEET,
    codes: Codes | None = None,
) -> OpenedFile:
    """Open a file of people.

    Parameters
    ----------
    file
        The end of its name says what it is (`contract/source.py`); else it is read as CSV. No letter
        in its path is a pattern. What is in a store is read into memory, and never lies on this machine's
        disk.
    columns
        Those to read, as far as they are there; None for all. The others are checked, too.
    rows
        So many are in memory at a time: then there may be any number of them, and a row group has the limits
        of a file. None for a file that is read whole.
    separator, encoding
        How a CSV file is written. Its columns are text: an identifier's leading zeros are a part of it.
    final_newline
        Whether the last line of a text file must have an end.
    places
        Of a text file without separators, where each column begins in a line, from 0 on, and its letters.
    sheet
        Which sheet of a workbook is read.
    codes
        How the codes of a statistics program are read, and where their labels are noted.

    Raises
    ------
    SnapshotError
        If it can't be read, or not in one way only: with line and column, and without what is written there.
        At once, or when its rows are asked for.
    LimitError
        If it is too large.
    """
    if isinstance(file, Stored):
        check(where, "megabytes", file.size)
        source: Path | bytes = file.content()
    else:
        check_file(file, where)
        source = file
    if file.name.endswith(".parquet"):
        return _opened_parquet(source, where, columns, rows)
    if (kind := Path(file.name).suffix) in PROGRAMS:
        table = read_program_file(source, kind, where, codes or Codes(), columns, sheet)
        chosen = [table.columns[at] for at in positions(table.columns, columns)]
        read = table.select(exactly(*chosen)) if chosen else pl.DataFrame()
        return OpenedFile(where, table.columns, read.schema, map(ReadPiece, (read.clear(), read)))
    packed = PACKED.get(kind)

    @contextmanager
    def opened() -> Iterator[CsvText | FixedWidthText]:
        with _damaged(where, "CSV"), opened_bytes(source, packed) as content:
            if places:
                yield FixedWidthText(content, where, columns, places, encoding)
            else:
                yield CsvText(content, where, columns, separator, encoding)

    with opened() as text:
        header = text.header
    schema = pl.Schema({header[at]: pl.String() for at in positions(header, columns)})

    def pieces() -> Iterator[ReadPiece]:
        with opened() as text:
            yield from map(ReadPiece, text.rows(rows or AT_A_TIME))
            if final_newline:
                text.refuse_open_end()

    return OpenedFile(where, header, schema, pieces())


def read_file(
    file: Path | Stored,
    where: str,
    columns: Collection[str] | None = None,
    *,
    separator: str = ",",
    encoding: str = "utf-8",
    codes: Codes | None = None,
) -> tuple[pl.DataFrame, list[str]]:
    """All rows of a file, and the names of all its columns; arguments and errors as those of `open_file`."""
    with unchanged(where, lambda: mark_of(file)):
        opened = open_file(file, where, columns, separator=separator, encoding=encoding, codes=codes)
        return pl.concat(within_limit((piece.read() for piece in opened.pieces), where)), opened.present


def within_limit(parts: Iterable[S], where: str) -> list[S]:
    """All parts of a table that is read whole. Raises LimitError if they have too many rows together."""
    kept, rows, most = [], 0, limits().rows
    for part in parts:
        rows += len(part)
        kept += [part] if rows <= most else []  # of more than there may be, the number is still said
    check(where, "rows", rows)
    return kept


@contextmanager
def _damaged(where: str, kind: str) -> Iterator[None]:
    """Say what polars raises of a file in a line."""
    try:
        yield
    except FAILURES:
        raise SnapshotError(
            f"{where}: is no {kind} file that can be read, or a part of one; deliver it again"
        ) from None


@contextmanager
def opened_bytes(source: Path | bytes, packed: str | None) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked a part at a time if it is compressed in a way of `PACKED`."""
    with source.open("rb") if isinstance(source, Path) else BytesIO(source) as content:
        if packed is None:
            yield content
            return
        with pa.CompressedInputStream(pa.PythonFile(content, "r"), packed) as unpacked:
            yield unpacked


@dataclass(frozen=True)
class ReadPiece:
    """Some rows of a file that is read from its begin to its end, or was read whole."""

    table: pl.DataFrame

    @property
    def rows(self) -> int:
        """How many it has."""
        return self.table.height

    def read(self) -> pl.DataFrame:
        """Its rows."""
        return self.table


THERE_IS_NONE = "there is no such file; deliver the snapshot, or correct source.path in the contract"


def check_file(file: Path, where: str, there_is_none: str = THERE_IS_NONE) -> None:
    """Raise SnapshotError unless there is a file with something in it that may be read."""
    if not file.exists():
        raise SnapshotError(f"{where}: {there_is_none}")
    if not file.is_file():
        raise SnapshotError(f"{where}: is no file; correct source.path in the contract")
    try:
        size = file.stat().st_size
        file.open("rb").close()
    except OSError as error:
        raise SnapshotError(f"{where}: can't be read: {error.strerror}") from None
    if not size:
        raise SnapshotError(f"{where}: is empty; deliver it again")
    check(where, "megabytes", size)


def _opened_parquet(
    source: Path | bytes, where: str, columns: Collection[str] | None, rows: int | None
) -> OpenedFile:
    wanted = None if columns is None else len(columns)
    check_parquet(_footers(_readable(source)), where, wanted, by_group=rows is not None)
    with _damaged(where, "Parquet"):
        table = pl.scan_parquet(_readable(source), glob=False, hive_partitioning=False)
        present, height = table.collect_schema().names(), table.select(pl.len()).collect().item()
    chosen, rows = [present[position] for position in positions(present, columns)], rows or max(height, 1)
    starts = [(0, 0), *((start, min(rows, height - start)) for start in range(0, height, rows))]
    pieces = [ParquetPiece(source, where, chosen, start, some) for start, some in starts]
    return OpenedFile(where, present, pieces[0].read().schema, pieces)


def _footers(file: Path | BytesIO) -> list[Footer]:
    """Its footer, by pyarrow: DuckDB reads no bytes, which a store gives. None if it is not Parquet."""
    try:
        found = pq.read_metadata(file)
    except (pa.ArrowException, OSError, UnicodeError):
        return []
    groups = [found.row_group(at) for at in range(found.num_row_groups)]
    return [
        Footer(found.num_columns, found.num_rows, [(one.num_rows, one.total_byte_size) for one in groups])
    ]


def _readable(source: Path | bytes) -> Path | BytesIO:
    return source if isinstance(source, Path) else BytesIO(source)


def _with_uuids(table: pl.DataFrame, file: Path | BytesIO) -> pl.DataFrame:
    """The table with its UUIDs as text: polars reads them as bytes like any other."""
    binary = [name for name, dtype in table.schema.items() if dtype == pl.Binary]
    if not binary:
        return table
    try:
        return table.with_columns(uuid_text(pq.read_schema(file), binary))
    except (pa.ArrowException, UnicodeError):
        raise OSError from None  # it is no Parquet that can be read


@dataclass(frozen=True)
class ParquetPiece:
    """Some rows of a Parquet file; of one on disk, for any process that sees it."""

    source: Path | bytes
    where: str
    columns: Sequence[str]
    start: int
    rows: int

    def read(self) -> pl.DataFrame:
        """Its rows. Raises SnapshotError if they can't be read, or are no longer there."""
        if isinstance(self.source, Path) and not self.source.exists():
            raise SnapshotError(
                f"{self.where}: was there when its division began, and one of the processes that divide it"
                " does not find it; deliver it where all machines that work on the release see it"
            )
        with _damaged(self.where, "Parquet"):
            rows = range(self.start, self.start + self.rows)
            if not is_decodable(_readable(self.source), self.columns, rows):
                raise OSError
            table = pl.scan_parquet(_readable(self.source), glob=False, hive_partitioning=False)
            at = positions(table.collect_schema().names(), self.columns)
            found = table.select(pl.nth(at)).slice(self.start, self.rows).collect()
            found = _with_uuids(found, _readable(self.source))
        if at and found.height != self.rows:
            raise SnapshotError(f"{self.where}: changed while it was read; release again")
        return found
