"""The files of a published table: `microdata.parquet`, or in its place `microdata/part-0000.parquet` and on.

The parts of a table are consecutive ranges of its rows. All of them but the last have `PART_ROWS` rows: where
one ends says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import duckdb
import polars as pl

from republish.orchestration.limits import Footer

PART_ROWS = 2_000_000
"""The rows of a part; the last one may have fewer."""
PART = re.compile(r"part-\d{4}\.parquet", re.ASCII)
"""The name of a part's file in the folder of its table. Sorted by name, parts are in the table's order."""
SUFFIX = ".parquet"
ENDINGS = (".csv", SUFFIX)
"""The endings of files that may be true tables, or another tool's."""
FOOTERS = (
    "SELECT file_name, count(*) FROM parquet_schema(?) WHERE num_children IS NULL GROUP BY file_name",
    "SELECT file_name, num_rows FROM parquet_file_metadata(?)",
    """
    SELECT file_name, any_value(row_group_num_rows), any_value(row_group_bytes)
    FROM parquet_metadata(?) GROUP BY file_name, row_group_id ORDER BY row_group_id
    """,
)
"""Columns and rows of each file, and of each row group its rows, and its bytes when it is unpacked."""
AT_ONCE = 200
"""How many files are asked for together."""


def part_name(number: int) -> str:
    """The name of a part's file; parts are counted from 0."""
    return f"part-{number:04}{SUFFIX}"


def table_of(name: str) -> str | None:
    """The table whose rows a file has, by its name in the manifest; None if it is no file of a table."""
    table, _, part = name.partition("/")
    if PART.fullmatch(part):
        return table
    return table.removesuffix(SUFFIX) if not part and table.endswith(SUFFIX) else None


def table_files(folder: Path, table: str) -> list[Path]:
    """The files that a table of a release consists of, in the order of its rows; none if it is not there."""
    whole = folder / f"{table}{SUFFIX}"
    if whole.is_file():
        return [whole]
    return sorted(file for file in (folder / table).glob(f"part-*{SUFFIX}") if PART.fullmatch(file.name))


def tables_in(folder: Path) -> dict[str, list[Path]]:
    """The files of each table of a release, by the tables' names."""
    names = {path.name.removesuffix(SUFFIX) for path in folder.iterdir() if not path.name.startswith(".")}
    found = {table: table_files(folder, table) for table in sorted(names)}
    return {table: files for table, files in found.items() if files}


def files_in(folder: Path) -> list[Path]:
    """Everything in a release, sorted by name: its files and those of its folders, and what else is there."""
    found = [
        path
        for entry in folder.iterdir()
        for path in (not entry.is_symlink() and entry.is_dir() and [*entry.iterdir()]) or [entry]
    ]
    return sorted(found, key=lambda path: name_in(folder, path))


def name_in(folder: Path, file: Path) -> str:
    """The name of a file in its release's manifest."""
    return file.relative_to(folder).as_posix()


def scan_parts(files: list[Path]) -> pl.LazyFrame:
    """The files of a table as one table, read where it is asked for."""
    return pl.scan_parquet(files, glob=False, hive_partitioning=False)


def files_of_tables(folder: Path) -> list[Path]:
    """The files of a folder that may be tables by their endings, sorted by name."""
    return sorted(file for file in folder.iterdir() if file.suffix in ENDINGS)


def pattern_of(path: Path) -> str:
    """A path for DuckDB, which takes each for a pattern: `*`, `?` and `[` stand in brackets."""
    return re.sub(r"([*?\[])", r"[\1]", str(path.absolute()))


def footers(files: Sequence[Path]) -> dict[Path, Footer]:
    """The footers of Parquet files, read by DuckDB: many together take a tenth of what each by itself takes.

    Files that are not Parquet are passed over.
    """
    found: dict[Path, Footer] = {}
    for start in range(0, len(files), AT_ONCE):
        some = files[start : start + AT_ONCE]
        try:
            found |= _footers_together(some)
        except (duckdb.Error, UnicodeError):  # one of them is not Parquet
            for file in some if len(some) > 1 else ():
                found |= footers([file])
    return found


def _footers_together(files: Sequence[Path]) -> dict[Path, Footer]:
    patterns = [pattern_of(file) for file in files]
    columns, rows, groups = (
        _connection().cursor().execute(asked, [patterns]).fetchall() for asked in FOOTERS
    )
    columns_of, rows_of, groups_of = dict(columns), dict(rows), dict[str, list[tuple[int, int]]]()
    for name, group_rows, size in groups:
        groups_of.setdefault(name, []).append((group_rows, size))
    return {
        file: Footer(columns_of[name], rows_of[name], groups_of.get(name, []))
        for file in files
        if (name := str(file.absolute())) in columns_of and name in rows_of
    }


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    """One for all files: to make it takes ten times as long as a question."""
    return duckdb.connect(config={"threads": 1})
