"""Tables sorted by DuckDB, which takes so much memory and then goes on on disk, and the keys of that order.

Texts are in the order of their bytes, lists in that of their first entries that differ; null comes first.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import duckdb
import polars as pl

MEMORY = "2GB"
"""Memory of a sort before it goes on on disk."""
KEY = "key"
"""Bytes, in whose order rows are in order."""


def sorted_table(
    rows: pl.DataFrame,
    by: Sequence[str],
    folder: Path,
    since: bytes | None = None,
    until: bytes | None = None,
) -> pl.DataFrame:
    """The rows of a table in the order of some columns.

    Parameters
    ----------
    folder
        Where the sort goes on when its memory is full; nothing is left there.
    since, until
        Only rows whose key (`keys_of`) is at least the one and less than the other; None for no limit.
    """
    limits = [(">=", since), ("<", until)]
    wanted = [f"{_key(by)} {sign} unhex('{key.hex()}')" for sign, key in limits if key is not None]
    order = ", ".join(f'"{column}" ASC NULLS FIRST' for column in by)
    with _relation(rows, folder) as table:
        found = table.filter(" AND ".join(wanted)) if wanted else table
        return _fetched(found.order(order))


def keys_of(rows: pl.DataFrame, by: Sequence[str], folder: Path) -> pl.Series:
    """Bytes for each row of a table, sorted: of two rows, the first in order has the lesser bytes."""
    with _relation(rows, folder) as table:
        return _fetched(table.project(f"{_key(by)} AS {KEY}"))[KEY].sort()


def _key(by: Sequence[str]) -> str:
    columns = ", ".join(f"\"{column}\", 'ASC NULLS FIRST'" for column in by)
    return f"create_sort_key({columns})"


def _fetched(table: duckdb.DuckDBPyRelation) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(table.to_arrow_table()))


@contextmanager
def _relation(rows: pl.DataFrame, folder: Path) -> Iterator[duckdb.DuckDBPyRelation]:
    settings: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": MEMORY,
        "threads": pl.thread_pool_size(),  # those that a worker has of the machine's
        "temp_directory": str(folder),
        "preserve_insertion_order": "false",
        "autoinstall_known_extensions": "false",
    }
    try:
        with closing(duckdb.connect(config=settings)) as connection:
            yield connection.from_arrow(rows.to_arrow())
    finally:
        shutil.rmtree(folder, ignore_errors=True)
