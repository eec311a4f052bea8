"""Tables of people in files, Parquet or CSV: read whole and strictly, or not at all.

A CSV text that readers disagree about is refused: a reader that guesses reads fewer people than there are.
"""

from __future__ import annotations

import codecs
from collections.abc import Collection
from pathlib import Path

import numpy as np
import polars as pl

from anonymize.errors import SnapshotError
from orchestration.limits import check, check_parquet

SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}


def read_file(
    file: Path,
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
        Its name ends in `.parquet`, or it is read as CSV. No letter in its path is a pattern.
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
    check_file(file, where)
    is_parquet = file.suffix == ".parquet"
    try:
        if is_parquet:
            return _read_parquet(file, where, columns)
        return _read_csv(_text(file, encoding, where), where, columns, separator)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
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


def _read_parquet(file: Path, where: str, columns: Collection[str] | None) -> tuple[pl.DataFrame, list[str]]:
    check_parquet(file, where, None if columns is None else len(columns))
    with file.open("rb") as content:
        present = list(pl.read_parquet_schema(content))
    chosen = _positions(present, columns)
    return pl.read_parquet(file, columns=chosen, glob=False, hive_partitioning=False), present


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


def _text(file: Path, encoding: str, where: str) -> bytes:
    """The bytes of a CSV file in UTF-8, without the mark that some programs put first."""
    content = file.read_bytes()
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
