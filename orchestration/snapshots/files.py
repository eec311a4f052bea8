"""Tables of people in files, Parquet or CSV: read whole and strictly, or not at all.

A CSV text that readers disagree about is refused: a reader that guesses reads fewer people than there are.
"""

from __future__ import annotations

import codecs
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
import polars as pl

from anonymize.contract import EACH_FILE, is_in_store
from anonymize.errors import SnapshotError
from orchestration.limits import check, check_parquet
from orchestration.storage.objects import Stored, objects_below, stored
from orchestration.storage.pages import is_decodable

UNFINISHED = "_temporary"
"""In a folder that Spark, or Hadoop, still writes into."""
FAILURES = pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError
"""What polars raises of a file that is damaged."""
SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}


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
    is_parquet = file.name.endswith(".parquet")
    try:
        if is_parquet:
            return _read_parquet(source, where, columns)
        content = source.read_bytes() if isinstance(source, Path) else source
        return _read_csv(_text(content, encoding, where), where, columns, separator)
    except FAILURES:
        kind = "Parquet" if is_parquet else "CSV"
    raise SnapshotError(f"{where}: is no {kind} file that can be read, or a part of one; deliver it again")


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
    chosen = _positions(present, columns)
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
        if not is_decodable(self.file, self.columns, range(self.start, self.start + self.rows)):
            raise _broken(self.where)
        table = pl.scan_parquet(self.file, glob=False, hive_partitioning=False)
        try:
            chosen = pl.nth(_positions(table.collect_schema().names(), self.columns))
            found = _with_uuids(table.select(chosen).slice(self.start, self.rows).collect(), self.file)
        except FAILURES:
            raise _broken(self.where) from None
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
    try:
        table = pl.scan_parquet(file, glob=False)
        present, height = table.collect_schema().names(), table.select(pl.len()).collect().item()
    except FAILURES:
        raise _broken(where) from None
    chosen = [present[position] for position in _positions(present, columns)]
    starts = [(0, 0), *((start, min(rows, height - start)) for start in range(0, height, rows))]
    return [ParquetPiece(file, where, chosen, start, some) for start, some in starts], present


def _broken(where: str) -> SnapshotError:
    return SnapshotError(f"{where}: is no Parquet file that can be read, or a part of one; deliver it again")


def _read_csv(
    content: bytes, where: str, columns: Collection[str] | None, separator: str
) -> tuple[pl.DataFrame, list[str]]:
    header, after_header, records = _checked(content, where, columns, separator)
    chosen = _positions(header, columns)
    if twice := [header[at] for at in chosen if header.count(header[at]) > 1]:
        raise SnapshotError(
            f"{where}: the column {twice[0]} is in the header twice; rename one in the source"
        )
    # Under their positions: polars gives some names, those with a quotation mark say, another form.
    numbers = separator.join(f'"{at}"' for at in range(len(header))).encode()
    rows = pl.read_csv(
        numbers + b"\n" + content[after_header:], separator=separator, infer_schema=False, columns=chosen
    )
    if chosen and rows.height != records:
        raise SnapshotError(
            f"{where}: has {records:,} records, and only {rows.height:,} can be read; deliver it as Parquet"
        )
    return rows.rename({str(at): header[at] for at in chosen}), header


def _checked(
    content: bytes, where: str, columns: Collection[str] | None, separator: str
) -> tuple[list[str], int, int]:
    """The header of a text that can be read in one way only, its end, and the number of records below it."""
    from anonymize.kernels import csv_records as csv  # noqa: PLC0415 - Parquet is read without numba

    records, width, end, fault, at, field = csv.csv_records(np.frombuffer(content, np.uint8), ord(separator))
    first = pl.read_csv(
        content[:end], separator=separator, infer_schema=False, has_header=False, raise_if_empty=False
    )
    header = [name or "" for name in first.row(0)] if first.height else [""] * width
    _refuse_other_separator(header, columns or (), where)
    if header == [""]:
        raise SnapshotError(
            f"{where}: begins with an empty line, and must begin with the names of the columns"
        )
    if fault == csv.FINE:
        check(where, "rows", records - 1)
        return header, end, records - 1
    line = content.count(b"\n", 0, at) + 1
    column = f" (column {header[field]})" if header and field < width else ""
    is_empty = content[at : at + 1] in (b"\n", b"\r")
    fields = "nothing in it" if is_empty else f"{field} field{'s' * (field != 1)}"
    mark = 'a quotation mark in a field belongs in quotes and is written twice, as in "5\'11"""'
    raise SnapshotError(
        f"{where}: "
        + {
            csv.BARE_QUOTE: f"line {line}{column} has a quotation mark in a field that is not quoted; {mark}",
            csv.AFTER_QUOTE: f"line {line}{column} goes on after the end of a quoted field; {mark}",
            csv.NEVER_CLOSED: f"line {line}{column} begins a quoted field that nothing ends; {mark}, and a"
            " file that was cut off is to be delivered again",
            csv.LONE_RETURN: f"line {line}{column} has a carriage return (CR) and no line feed after it; save"
            " it with line ends LF or CR LF",
            csv.OTHER_WIDTH: f"line {line} has {fields}, and the header has {width}; a separator in a field"
            " belongs in quotes, and a file that was cut off is to be delivered again",
        }[fault]
    )


def _text(content: bytes, encoding: str, where: str) -> bytes:
    """The bytes of a CSV file in UTF-8, without the mark that some programs put first."""
    if codecs.lookup(encoding).name != "utf-8":
        try:
            return content.decode(encoding).encode()
        except UnicodeError:
            raise SnapshotError(f"{where}: is not written in {encoding}; correct source.encoding") from None
    try:
        content.decode()
    except UnicodeDecodeError:
        likely = "utf-16" if content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "latin-1"
        raise SnapshotError(
            f"{where}: is not written in UTF-8, and may be {likely}; say so as source.encoding, or deliver it"
            " in UTF-8"
        ) from None
    return content.removeprefix(codecs.BOM_UTF8)


def _refuse_other_separator(header: list[str], wanted: Collection[str], where: str) -> None:
    """Raise SnapshotError if another separator would find the columns."""
    for separator, name in SEPARATORS.items():
        found = {part.strip().strip('"') for part in separator.join(header).split(separator)}
        if len(header) == 1 and len(found & set(wanted)) > 1:
            raise SnapshotError(
                f"{where}: is separated by {name}; say so in the contract, source.separator: {separator!r}"
            )


def _positions(present: list[str], columns: Collection[str] | None) -> list[int]:
    """Where the wanted columns are. Polars would read some names as patterns, never a position."""
    return [at for at, name in enumerate(present) if columns is None or name in columns]
