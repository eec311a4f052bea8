"""The files of a published table: `microdata.parquet`, or in its place `microdata/part-0000.parquet` and on.

The parts of a table are consecutive ranges of its rows. All of them but the last have `PART_ROWS` rows: where
one ends says nothing.
"""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

PART_ROWS = 2_000_000
"""The rows of a part; the last one may have fewer."""
PART = re.compile(r"part-\d{4}\.parquet", re.ASCII)
"""The name of a part's file in the folder of its table. Sorted by name, parts are in the table's order."""
SUFFIX = ".parquet"


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
