"""Tables of people in files, Parquet or CSV: read strictly, or not at all."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import polars as pl

from anonymize.contract import EACH_FILE, is_in_store
from anonymize.errors import SnapshotError
from orchestration.limits import check, check_parquet, limits
from orchestration.snapshots.csv_text import CsvText, positions
from orchestration.storage.objects import Stored, objects_below, stored
from orchestration.storage.pages import is_decodable

UNFINISHED = "_temporary"
"""In a folder that Spark, or Hadoop, still writes into."""
FAILURES = pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError
"""What polars raises of a file that is damaged."""
AT_A_TIME = 1_000_000
"""Rows of a CSV file."""


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
    """What tells a file from one that replaced it."""
    return file.tag if isinstance(file, Stored) else f"{file.stat().st_mtime_ns} {file.stat().st_size}"


def read_file(
    file: Path | Stored,
    where: str,
    columns: Collection[str] | None = None,
    *,
    separator: str = ",",
    encoding: str = "utf-8",
) -> tuple[pl.DataFrame, list[str]]:
    """The rows of a Parquet or CSV file, and the names of all its columns.

    Parameters
    ----------
    file
        Its name ends in `.parquet`, or it is read as CSV. No letter in its path is a pattern. What is in a
        store is read into memory, and never lies on this machine's disk.
    where
        What a message begins with.
    columns
        Those to read, as far as they are there; None for all. The others are checked, too.
    separator, encoding
        How a CSV file is written. Its columns are text: an identifier's leading zeros are a part of it.

    Raises
    ------
    SnapshotError
        If it can't be read, or not in one way only: with line and column, and without what is written there.
    """
    if isinstance(file, Stored):
        check(where, "megabytes", file.size)
        source: Path | bytes = file.content()
    else:
        check_file(file, where)
        source = file
    if file.name.endswith(".parquet"):
        with _damaged(where, "Parquet"):
            return _read_parquet(source, where, columns)
    with _opened(source, where) as content:
        text = CsvText(content, where, columns, separator, encoding)
        tables, rows, most = [], 0, limits().rows
        for table in text.rows(AT_A_TIME):
            rows += table.height
            tables += [table] if rows <= most else []  # of more than there may be, the number is still said
        check(where, "rows", rows)
        return pl.concat(tables[1:] or tables), text.header


@contextmanager
def _damaged(where: str, kind: str) -> Iterator[None]:
    """What polars raises of a file, in a line."""
    try:
        yield
    except FAILURES:
        raise SnapshotError(
            f"{where}: is no {kind} file that can be read, or a part of one; deliver it again"
        ) from None


@contextmanager
def _opened(source: Path | bytes, where: str) -> Iterator[BinaryIO]:
    """The bytes of a CSV file."""
    with (
        _damaged(where, "CSV"),
        source.open("rb") if isinstance(source, Path) else BytesIO(source) as content,
    ):
        yield content


def check_file(file: Path, where: str) -> None:
    """Raise SnapshotError unless there is a file with something in it that may be read."""
    if not file.exists():
        raise SnapshotError(
            f"{where}: there is no such file; deliver the snapshot, or correct source.path in the contract"
        )
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


def _read_parquet(
    source: Path | bytes, where: str, columns: Collection[str] | None
) -> tuple[pl.DataFrame, list[str]]:
    check_parquet(_readable(source), where, None if columns is None else len(columns))
    with source.open("rb") if isinstance(source, Path) else BytesIO(source) as content:
        present = list(pl.read_parquet_schema(content))
    chosen = positions(present, columns)
    if not is_decodable(_readable(source), [present[position] for position in chosen]):
        raise OSError
    table = pl.read_parquet(_readable(source), columns=chosen, glob=False, hive_partitioning=False)
    return _with_uuids(table, _readable(source)), present


def _readable(source: Path | bytes) -> Path | BytesIO:
    return source if isinstance(source, Path) else BytesIO(source)


def _with_uuids(table: pl.DataFrame, file: Path | BytesIO) -> pl.DataFrame:
    """The table with its UUIDs as text: polars reads them as bytes like any other."""
    binary = [name for name, dtype in table.schema.items() if dtype == pl.Binary]
    if not binary:
        return table
    import pyarrow as pa  # noqa: PLC0415 - a contract is read without it
    import pyarrow.parquet as pq  # noqa: PLC0415

    from orchestration.snapshots.arrow import uuid_text  # noqa: PLC0415

    try:
        return table.with_columns(uuid_text(pq.read_schema(file), binary))
    except (pa.ArrowException, UnicodeError):
        raise OSError from None  # it is no Parquet that can be read


@dataclass(frozen=True)
class ParquetPiece:
    """Some rows of a Parquet file, for any process that sees the file."""

    file: Path
    where: str
    columns: Sequence[str]
    start: int
    rows: int

    def read(self) -> pl.DataFrame:
        """Its rows. Raises SnapshotError if they can't be read, or are no longer there."""
        if not self.file.exists():
            raise SnapshotError(
                f"{self.where}: was there when its division began, and one of the processes that divide it"
                " does not find it; deliver it where all machines that work on the release see it"
            )
        with _damaged(self.where, "Parquet"):
            if not is_decodable(self.file, self.columns, range(self.start, self.start + self.rows)):
                raise OSError
            table = pl.scan_parquet(self.file, glob=False, hive_partitioning=False)
            at = positions(table.collect_schema().names(), self.columns)
            found = _with_uuids(table.select(pl.nth(at)).slice(self.start, self.rows).collect(), self.file)
        if found.height != self.rows:
            raise SnapshotError(f"{self.where}: changed while it was read; release again")
        return found


def parquet_pieces(
    file: Path, where: str, columns: Collection[str], rows: int
) -> tuple[list[ParquetPiece], list[str]]:
    """The rows of a Parquet file a few at a time, and the names of all its columns.

    How many rows there are, and how large they are unpacked, has no limit: they are never in memory together.
    Those of one row group may be, which has the limits of a file.

    Parameters
    ----------
    file, where, columns
        As for `read_file`.
    rows
        So many at a time.

    Returns
    -------
    tuple
        The pieces in the order of the file, the first without rows: it says what the columns are.

    Raises
    ------
    SnapshotError
        If it can't be read.
    LimitError
        If a row group is too large.
    """
    check_file(file, where)
    check_parquet(file, where, len(columns), by_group=True)
    with _damaged(where, "Parquet"):
        table = pl.scan_parquet(file, glob=False)
        present, height = table.collect_schema().names(), table.select(pl.len()).collect().item()
    chosen = [present[position] for position in positions(present, columns)]
    starts = [(0, 0), *((start, min(rows, height - start)) for start in range(0, height, rows))]
    return [ParquetPiece(file, where, chosen, start, some) for start, some in starts], present


def csv_header(
    file: Path, where: str, columns: Collection[str], *, separator: str, encoding: str
) -> list[str]:
    """The names of all columns of a CSV file; arguments and errors as those of `read_file`."""
    check_file(file, where)
    with _opened(file, where) as content:
        return CsvText(content, where, columns, separator, encoding).header


def csv_pieces(
    file: Path, where: str, columns: Collection[str], rows: int, *, separator: str, encoding: str
) -> Iterator[pl.DataFrame]:
    """The rows of a CSV file a few at a time; they are read when they are asked for.

    How many rows there are has no limit: they are never in memory together.

    Parameters
    ----------
    file, where, columns, separator, encoding
        As for `read_file`, whose errors it raises.
    rows
        So many at a time. The first piece has none, and says what the columns are.
    """
    with _opened(file, where) as content:
        yield from CsvText(content, where, columns, separator, encoding).rows(rows)
