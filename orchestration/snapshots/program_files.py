"""Files of spreadsheets and statistics programs, read by a library that not everybody has.

Their columns have types, as those of Parquet have: numbers, dates, text.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from republish.anonymize.errors import SnapshotError
from republish.orchestration.limits import BYTES, check, limits
from republish.orchestration.snapshots.sheet_size import Size, sheet_size

LIBRARIES = {".xlsx": "fastexcel", ".sas7bdat": "pyreadstat", ".sav": "pyreadstat", ".dta": "pyreadstat"}
"""What reads each kind of file."""
PROGRAMS = tuple(LIBRARIES)
"""The ends of their names."""
SINCE_1970 = (dt.date(1960, 1, 1) - dt.date(1970, 1, 1)) // dt.timedelta(microseconds=1)
"""Where SAS begins to count, in microseconds since 1970."""
EXTRAS = {"fastexcel": "excel", "pyreadstat": "statistics"}
"""The extra of republish that has a library."""


def read_program_file(source: Path | bytes, kind: str, where: str) -> pl.DataFrame:
    """A spreadsheet's first sheet, or the table of a statistics program.

    Raises
    ------
    SnapshotError
        If its library is not installed, or it can't be read.
    LimitError
        If it has more rows or columns than are read.
    """
    library = LIBRARIES[kind]
    if library == "pyreadstat" and isinstance(source, bytes):
        raise SnapshotError(f"{where}: {library} reads files of this machine alone; deliver it as .parquet")
    try:
        reader = import_module(library)
    except ModuleNotFoundError:
        raise SnapshotError(
            f"{where}: a {kind} file is read by {library}, which is not installed: pip install"
            f" 'republish[{EXTRAS[library]}]', or deliver it as .parquet or .csv"
        ) from None
    size, read = (sheet_size, _sheet) if library == "fastexcel" else (partial(_stated, reader), _statistics)
    with _readable(where, kind):
        found = size(source, kind)
    _check_size(where, found)
    with _readable(where, kind):
        table = read(reader, source, kind)
    _check_size(where, Size(table.height, table.width))
    return _plain(table)


@contextmanager
def _readable(where: str, kind: str) -> Iterator[None]:
    """Raise SnapshotError for whatever a library raises; what it says may quote a value."""
    try:
        yield
    except (MemoryError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: BLE001 - panics of Rust, too
        raise SnapshotError(
            f"{where}: is no {kind} file that can be read, or a part of one; deliver it again"
        ) from None


def _check_size(where: str, size: Size) -> None:
    check(where, "rows", size.rows)
    check(where, "columns", size.columns)
    check(where, "megabytes", max(size.unpacked, size.rows * size.columns * BYTES))


def _sheet(fastexcel: Any, source: Path | bytes, _kind: str) -> pl.DataFrame:
    book = fastexcel.read_excel(source if isinstance(source, bytes) else str(source))
    return pl.DataFrame(book.load_sheet(0, schema_sample_rows=None))


def _stated(pyreadstat: Any, source: Path | bytes, kind: str) -> Size:
    """What a file of a statistics program says of its size, before its rows are read."""
    stated = getattr(pyreadstat, f"read_{kind[1:]}")(str(source), metadataonly=True)[1]
    rows = max(stated.number_rows or 0, 0)  # some files do not say it
    width = sum(map(int, stated.variable_storage_width.values()))
    return Size(rows, len(stated.column_names), rows * width)


def _statistics(pyreadstat: Any, source: Path | bytes, kind: str) -> pl.DataFrame:
    reads: Callable[..., tuple[pl.DataFrame, Any]] = getattr(pyreadstat, f"read_{kind[1:]}")
    read = partial(reads, str(source), output_format="polars", row_limit=limits().rows + 1)
    table, about = read()
    if kind == ".sas7bdat" and (moments := _moments_shown_as_days(about.original_variable_types)):
        seconds = read(usecols=moments, disable_datetime_conversion=True)[0]
        table = table.with_columns(map(_moments, seconds.iter_columns()))
    # None of these programs knows text that is missing: an empty one says so.
    return table.with_columns(pl.col(pl.String).replace("", None))


def _moments_shown_as_days(displays: Mapping[str, str | None]) -> list[str]:
    """The columns of SAS that show the day of a moment: pyreadstat takes their seconds for days."""
    return [name for name, display in displays.items() if (display or "").upper().startswith("DTDATE")]


def _moments(seconds: pl.Series) -> pl.Series:
    """Moments of SAS, which counts seconds since 1960."""
    since_1960 = (seconds.cast(pl.Float64) * 1_000_000).round().cast(pl.Int64)
    return (since_1960 + SINCE_1970).cast(pl.Datetime("us"))


def _plain(table: pl.DataFrame) -> pl.DataFrame:
    """Whole numbers as such: these programs know no others than floats."""
    return pl.DataFrame([_whole(column) for column in table.iter_columns()])


def _whole(column: pl.Series) -> pl.Series:
    if not column.dtype.is_float():
        return column
    is_whole = ((column == column.floor()) & (column.abs() < 2**53)).all()
    return column.cast(pl.Int64) if is_whole else column
