"""Tables on disk sorted on disk: DuckDB takes so much memory, and no more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import duckdb
import polars as pl

MEMORY = "2GB"
"""Memory of a sort before it goes on on disk."""
BATCH = 200_000
"""Rows that are read at a time."""


def sorted_rows(files: Sequence[Path], by: Sequence[str], folder: Path) -> Iterator[pl.DataFrame]:
    """The rows of Parquet files in the order of some columns, a batch at a time.

    Texts are in the order of their bytes, lists in that of their first entries that differ.

    The sort goes on in the folder when its memory is full.
    """
    keys = ", ".join(f'"{column}" ASC NULLS FIRST' for column in by)
    settings: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": MEMORY,
        "temp_directory": str(folder),
        "preserve_insertion_order": "false",
        "autoinstall_known_extensions": "false",
    }
    with closing(duckdb.connect(config=settings)) as connection:
        table = connection.read_parquet([str(file) for file in files])
        for batch in table.order(keys).to_arrow_reader(BATCH):
            yield pl.DataFrame(pl.from_arrow(batch))
