"""Tables put in order by DuckDB, which takes so much memory and then goes on on disk.

Texts are in the order of their bytes, lists in that of their first entries that differ; null comes first.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa

MEMORY = "2GB"
"""Memory of a sort before it goes on on disk."""


def in_order(tables: Iterable[pl.DataFrame], folder: Path, rows: int) -> Iterator[pl.DataFrame]:
    """The rows of several tables in the order of all their columns, the first column first.

    Parameters
    ----------
    tables
        At least one; all have the same columns. They are read one at a time.
    folder
        Where the sort goes on when its memory is full; nothing is left there.
    rows
        So many come at a time, about; where there are none, one table without rows.
    """
    rest = iter(tables)
    first = next(rest)
    columns = first.to_arrow().schema
    batches = (batch for one in chain([first], rest) for batch in one.to_arrow().to_batches())
    settings: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": MEMORY,
        "threads": pl.thread_pool_size(),  # those that a worker has of the machine's
        "temp_directory": str(folder),
        "preserve_insertion_order": "false",
        "autoinstall_known_extensions": "false",
    }
    order = ", ".join(f'"{column}" ASC NULLS FIRST' for column in first.columns)
    is_empty = True
    try:
        with closing(duckdb.connect(config=settings)) as connection:
            unordered = connection.from_arrow(pa.RecordBatchReader.from_batches(columns, batches))
            for batch in unordered.order(order).to_arrow_reader(rows):
                is_empty = False
                yield pl.DataFrame(pl.from_arrow(batch))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if is_empty:
        yield first.clear()
