"""Tables that programs give: polars DataFrames, and no others."""

from __future__ import annotations

from typing import Any

import polars as pl

from republish.anonymize.errors import SnapshotError

READ_BY = {
    "polars": ".collect() makes a DataFrame of a LazyFrame",
    "pandas": "polars.from_pandas(table, nan_to_null=True) makes one",
    "pyarrow": "polars.from_arrow(table) makes one",
    "duckdb": ".pl() makes one",
}
"""How a DataFrame is made of what other libraries call a table, by the library."""


def as_frame(table: Any, what: str) -> pl.DataFrame:
    """A table that a program gave. Raises SnapshotError if it is no polars DataFrame."""
    if isinstance(table, pl.DataFrame):
        return table
    kind = type(table)
    library = kind.__module__.partition(".")[0].lstrip("_")
    way_out = READ_BY.get(library, "polars.DataFrame(table) or polars.read_parquet(file) may make one")
    given = f"{library}.{kind.__qualname__}"
    raise SnapshotError(f"{what}: must be a polars DataFrame, and is a {given}: {way_out}")
