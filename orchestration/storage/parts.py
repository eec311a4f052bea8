"""The files of a published table: `microdata.parquet`, or in its place `microdata/part-0000.parquet` and on.

The parts of a table are consecutive ranges of its rows. All of them but the last have `PART_ROWS` rows: where
one ends says nothing.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl

from republish.orchestration.storage.home import private_folder, sync
from republish.orchestration.storage.store import PARTIAL, write_table

PART_ROWS = 2_000_000
"""The rows of a part; the last one may have fewer."""
PART = re.compile(r"part-\d{4}\.parquet", re.ASCII)
"""The name of a part's file in the folder of its table. Sorted by name, parts are in the table's order."""
SUFFIX = ".parquet"


def part_name(number: int) -> str:
    """The name of a part's file; parts are counted from 0."""
    return f"part-{number:04}{SUFFIX}"


def write_parts(folder: Path, frames: Iterable[pl.DataFrame], rows: int | None = None) -> list[Path]:
    """Write a table as a folder of parts, which appears under its name when all of them are on disk.

    About two parts are in memory at a time. What a part's file is depends on its rows alone.

    Parameters
    ----------
    folder
        Where the parts go, in place of what is there.
    frames
        The table in its order, in pieces of any size; one without rows for an empty table.
    rows
        Of each part but the last; None for `PART_ROWS`.

    Returns
    -------
    list of Path
        The parts in order. A table without rows is one part without rows.

    Raises
    ------
    HomeError
        If a part can't be written; nothing of the folder is left.
    """
    partial = folder.with_name(f".{folder.name}{PARTIAL}")
    shutil.rmtree(partial, ignore_errors=True)
    private_folder(partial)
    names = []
    try:
        for number, part in enumerate(_cut(frames, rows or PART_ROWS)):
            names.append(part_name(number))
            write_table(partial / names[-1], part)
        sync(partial)
        shutil.rmtree(folder, ignore_errors=True)
        partial.rename(folder)
        sync(folder.parent)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return [folder / name for name in names]


def _cut(frames: Iterable[pl.DataFrame], rows: int) -> Iterator[pl.DataFrame]:
    """Cut a table into pieces of so many rows; the last may have fewer, and none if it is the only one."""
    rest, is_first = pl.DataFrame(), True
    for frame in frames:
        rest = pl.concat([rest, frame], rechunk=False) if rest.width else frame
        while len(rest) > rows:
            yield rest[:rows]
            rest, is_first = rest[rows:], False
    if len(rest) or is_first:
        yield rest


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
