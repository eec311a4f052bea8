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
FOOTER = """
    SELECT
        (SELECT count(*) FROM parquet_schema(?) WHERE num_children IS NULL),
        (SELECT num_rows FROM parquet_file_metadata(?)),
        (SELECT list((rows, size) ORDER BY number) FROM (
            SELECT
                row_group_id AS number,
                any_value(row_group_num_rows) AS rows,
                any_value(row_group_bytes) AS size,
            FROM parquet_metadata(?) GROUP BY number
        ))
"""
"""How many columns and rows a file has, and of each row group its rows, and its bytes when it is unpacked."""
FOOTERS = (
    "SELECT file_name, count(*) FROM parquet_schema(?) WHERE num_children IS NULL GROUP BY file_name",
    "SELECT file_name, num_rows FROM parquet_file_metadata(?)",
    """
    SELECT file_name, any_value(row_group_num_rows), any_value(row_group_bytes)
    FROM parquet_metadata(?) GROUP BY file_name, row_group_id ORDER BY row_group_id
    """,
)
"""The same of many files: columns, rows, and row groups."""
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


def footers(files: Sequence[Path]) -> list[Footer]:
    """The footers of Parquet files, read by DuckDB. Files that are not Parquet are passed over."""
    found = []
    for file in files:
        try:
            asked = _connection().cursor().execute(FOOTER, [pattern_of(file)] * 3)
            ((columns, rows, groups),) = asked.fetchall()
        except (duckdb.Error, UnicodeError):
            continue
        found.append(Footer(columns, rows, groups or []))
    return found


def footers_together(files: Sequence[Path]) -> dict[Path, Footer]:
    """The footers of many Parquet files, in a tenth of the time that each by itself takes.

    Where one of `AT_ONCE` files can't be read, there are none of these: ask for them one by one.
    """
    found: dict[Path, Footer] = {}
    for start in range(0, len(files), AT_ONCE):
        some = files[start : start + AT_ONCE]
        patterns = [pattern_of(file) for file in some]
        try:
            answers = [_connection().cursor().execute(asked, [patterns]).fetchall() for asked in FOOTERS]
        except (duckdb.Error, UnicodeError):
            continue
        columns, rows, groups = dict(answers[0]), dict(answers[1]), dict[str, list[tuple[int, int]]]()
        for name, *group in answers[2]:
            groups.setdefault(name, []).append((group[0], group[1]))
        for file in some:
            name = str(file.absolute())
            if name in columns and name in rows:
                found[file] = Footer(columns[name], rows[name], groups.get(name, []))
    return found


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    """One for all files: to make it takes ten times as long as a question."""
    return duckdb.connect(config={"threads": 1})
