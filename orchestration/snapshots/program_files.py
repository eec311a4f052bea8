"""Files of spreadsheets and statistics programs, read by a library that not everybody has.

Their columns have types, as those of Parquet have: numbers, dates, text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from republish.anonymize.errors import SnapshotError, as_data
from republish.orchestration.limits import BYTES, check, limits
from republish.orchestration.snapshots.labels import Codes, as_codes, labels_of
from republish.orchestration.snapshots.program_dates import shown_as_moments, with_dates
from republish.orchestration.snapshots.sheet_cells import odd_cells, refuse_odd_cells
from republish.orchestration.snapshots.sheet_size import FIRST_SHEET, Sheet, Size, sheet_size

STATISTICS = {".sas7bdat": "sas7bdat", ".xpt": "xport", ".sav": "sav", ".dta": "dta", ".por": "por"}
"""Files of statistics programs, and the end of the name of pyreadstat's function for each."""
LIBRARIES = {".xlsx": "fastexcel", **dict.fromkeys(STATISTICS, "pyreadstat")}
"""What reads each kind of file."""
PROGRAMS = tuple(LIBRARIES)
"""The ends of their names."""
CATALOGUE = ".sas7bcat"
"""The end of a SAS catalogue, which has the labels of the data sets beside it."""
EXTRAS = {"fastexcel": "excel", "pyreadstat": "statistics"}
"""The extra of republish that has a library."""


def read_program_file(
    source: Path | bytes,
    kind: str,
    where: str,
    codes: Codes,
    wanted: Collection[str] | None = None,
    sheet: Sheet = FIRST_SHEET,
) -> pl.DataFrame:
    """A sheet of a workbook, or the table of a statistics program, with codes as `codes` has them.

    No cell of the columns that are `wanted` (None: of all) may have an error, or a formula without a result.

    Raises
    ------
    SnapshotError
        If its library is not installed, it can't be read, has no such sheet, or its labels can't be told
        apart.
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
    if library == "fastexcel":
        with _readable(where, kind):
            found = sheet_size(source, sheet.name)
        _check_size(where, found)  # before the library unpacks any of it
        with _readable(where, kind):
            book = reader.read_excel(source if isinstance(source, bytes) else str(source))
        if sheet.name is not None and sheet.name not in book.sheet_names:
            there = ", ".join(map(as_data, book.sheet_names))
            raise SnapshotError(
                f"{where}: has no sheet {as_data(sheet.name)}; it has {there}: correct source.sheet"
            )
        with _readable(where, kind):
            table, names, heads = _sheet(book, sheet)
            cells = odd_cells(source, sheet.name)
        if twice := [name for name, often in Counter(heads).items() if often > 1 and _is(name, wanted)]:
            raise SnapshotError(
                f"{where}: the column {twice[0]} is in the header twice; rename one in the source"
            )
        refuse_odd_cells(cells, names, wanted, table.height, where)
        _check_size(where, Size(table.height, table.width))
        return _plain(table)
    with _readable(where, kind):
        found = _stated(reader, source, kind)
    _check_size(where, found)
    return _statistics(reader, source, kind, where, codes)


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


def _is(name: Any, wanted: Collection[str] | None) -> bool:
    return name is not None and (wanted is None or name in wanted)


def _sheet(book: Any, sheet: Sheet) -> tuple[pl.DataFrame, list[tuple[int, str]], tuple[Any, ...]]:
    """The table of a workbook's sheet, its columns with their numbers in the sheet, and its headings.

    The library calls a second column of one name otherwise.
    """
    which = 0 if sheet.name is None else sheet.name
    row = 0 if sheet.header_row is None else sheet.header_row - 1
    read = book.load_sheet(which, header_row=row, schema_sample_rows=None)
    names = [(one.absolute_index + 1, one.name) for one in read.selected_columns]
    above = {"skip_rows": row} if row else {}
    heads = pl.DataFrame(book.load_sheet(which, header_row=None, n_rows=1, dtypes="string", **above))
    return pl.DataFrame(read), names, heads.row(0) if heads.height else ()


def _reader(pyreadstat: Any, source: Path | bytes, kind: str) -> Callable[..., tuple[Any, Any]]:
    return partial(getattr(pyreadstat, f"read_{STATISTICS[kind]}"), str(source))


def _stated(pyreadstat: Any, source: Path | bytes, kind: str) -> Size:
    """What a file of a statistics program says of its size, before its rows are read."""
    stated = _reader(pyreadstat, source, kind)(metadataonly=True)[1]
    rows = max(stated.number_rows or 0, 0)  # some files do not say it
    width = sum(map(int, stated.variable_storage_width.values()))
    return Size(rows, len(stated.column_names), rows * width)


def _statistics(pyreadstat: Any, source: Path | bytes, kind: str, where: str, codes: Codes) -> pl.DataFrame:
    with _readable(where, kind):
        read = partial(_reader(pyreadstat, source, kind), output_format="polars", row_limit=limits().rows + 1)
        displays = read(metadataonly=True)[1].original_variable_types
        table, about = _table(read, list(displays), shown_as_moments(displays, kind))
        # None of these programs knows text that is missing: an empty one says so.
        table = table.with_columns(pl.col(pl.String).replace("", None))
        reasons = _reasons(read, table, kind, codes.columns)
        labels = about.variable_value_labels | _in_catalogue(pyreadstat, source, about)
        table = _plain(with_dates(table, displays, kind, codes.numbers))
    _check_size(where, Size(table.height, table.width))
    return codes.read(table, labels_of(labels), reasons, where)


def _table(read: Callable[..., tuple[Any, Any]], names: list[str], moments: list[str]) -> tuple[Any, Any]:
    """The table, with moments as numbers, and what the file says about it.

    The library takes some moments for days, or for times of a day, and fails where there is no such day.
    """
    if not moments:
        return read()
    table, about = read(usecols=moments, disable_datetime_conversion=True)
    if others := [name for name in names if name not in moments]:
        rest, about = read(usecols=others)
        read_columns = {column.name: column for column in (*table.iter_columns(), *rest.iter_columns())}
        table = pl.DataFrame([read_columns[name] for name in names])
    return table, about


def _in_catalogue(pyreadstat: Any, source: Path | bytes, about: Any) -> dict[str, dict[Any, str]]:
    """The labels of a SAS data set, in the catalogue of the same name, or the only one beside it."""
    if isinstance(source, bytes) or source.suffix != ".sas7bdat":
        return {}
    beside = sorted(source.parent.glob(f"*{CATALOGUE}"))
    found = [one for one in beside if one.stem == source.stem] or (beside if len(beside) == 1 else [])
    if not found:
        return {}
    named = pyreadstat.read_sas7bcat(str(found[0]))[1].value_labels
    return {name: named[one] for name, one in about.variable_to_label.items() if one in named}


def _reasons(
    read: Callable[..., tuple[Any, Any]], table: pl.DataFrame, kind: str, wanted: Collection[str] | None
) -> dict[str, pl.Series]:
    """By column, the codes of values that are missing for a reason, which the library leaves out else.

    SPSS declares them (9, or 97 to 99), Stata and SAS have letters for them (`.a`).
    """
    is_declared = kind == ".sav"
    gaps = [name for name in table.columns if _is(name, wanted) and table[name].has_nulls()]
    if is_declared:  # Python's own values take much memory: read no more of them than may have a reason
        declared = read(user_missing=True, metadataonly=True)[1].missing_ranges
        gaps = [name for name in gaps if name in declared]
    else:
        gaps = [name for name in gaps if table.schema[name] != pl.String]
    if kind in (".xpt", ".por") or not gaps:  # nobody can tell the reasons of these
        return {}
    given, about = read(
        usecols=gaps, user_missing=True, disable_datetime_conversion=True, output_format="dict"
    )
    found = {}
    for name in about.missing_ranges if is_declared else about.missing_user_values:
        if is_declared:
            reasons = as_codes(pl.Series(given[name], strict=False)).replace("", None)
        else:
            letters = about.missing_user_values[name]
            codes = pl.Series(given[name], dtype=pl.String, strict=False)
            reasons = codes.set(~codes.is_in(letters), None)
        found[name] = reasons.zip_with(table[name].is_null(), pl.Series([None], dtype=pl.String))
    return found


def _plain(table: pl.DataFrame) -> pl.DataFrame:
    """Whole numbers as such: these programs know no others than floats."""
    return pl.DataFrame([_whole(column) for column in table.iter_columns()])


def _whole(column: pl.Series) -> pl.Series:
    if not column.dtype.is_float():
        return column
    is_whole = ((column == column.floor()) & (column.abs() < 2**53)).all()
    return column.cast(pl.Int64) if is_whole else column
