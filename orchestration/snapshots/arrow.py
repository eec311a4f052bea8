"""Columns as polars has them, of the same kind whichever source they are from."""

from __future__ import annotations

from typing import Any

import polars as pl
import pyarrow as pa

from anonymize.errors import SnapshotError
from orchestration.limits import check

LONGEST = 38
"""Digits of a decimal number."""


def from_arrow(answer: pa.Table, columns: list[str], where: str) -> pl.DataFrame:
    """Those of the columns that an answer has, as a Parquet file with the same values would have them.

    Parameters
    ----------
    answer
        What a database or a table format's library gives.
    columns
        The columns that are wanted.
    where
        What a message begins with.

    Raises
    ------
    SnapshotError
        If it has one of them twice, or of a type that polars can't read.
    LimitError
        If it has too many rows.
    """
    check(where, "rows", answer.num_rows)
    present = [column for column in columns if column in answer.column_names]
    if twice := [column for column in present if answer.column_names.count(column) > 1]:
        raise SnapshotError(f"{where}: the query answers with {twice[0]} twice; name its columns one by one")
    frame = pl.DataFrame([_series(column, answer[column], where) for column in present])
    return frame.with_columns(uuid_text(answer.schema, present))


def uuid_text(schema: pa.Schema, columns: list[str]) -> list[pl.Expr]:
    """Those of the columns that are UUIDs of 16 bytes, as they are written elsewhere: 8-4-4-4-12 digits."""
    return [_uuid_text(column) for column in columns if isinstance(schema.field(column).type, pa.UuidType)]


def _series(name: str, column: pa.ChunkedArray, where: str) -> pl.Series:
    try:
        series = pl.Series(name, _plain(column))
    except pl.exceptions.PolarsError:
        raise SnapshotError(
            f"{where}: {name}: is of a type that can't be read ({column.type}); give it as text, a number or"
            " a date"
        ) from None
    return _numbers(series) if getattr(column.type, "type_name", None) == "numeric" else series


def _plain(column: pa.ChunkedArray) -> Any:
    """A column of a type that Arrow knows; PostgreSQL's numeric arrives as text."""
    return column.cast(column.type.storage_type) if isinstance(column.type, pa.BaseExtensionType) else column


def _numbers(text: pl.Series) -> pl.Series:
    """PostgreSQL's numeric as decimal numbers; as text if these have several scales, or too many digits."""
    parts = text.drop_nulls().str.extract_groups(r"^-?(?<whole>\d+)(?:\.(?<decimals>\d+))?$").struct.unnest()
    scales = parts["decimals"].fill_null("").str.len_bytes().unique()
    longest = (parts["whole"] + parts["decimals"].fill_null("")).str.len_bytes().max()
    if parts["whole"].has_nulls() or len(scales) != 1 or int(str(longest)) > LONGEST:
        return text
    return text.cast(pl.Decimal(LONGEST, scales[0]))


def _uuid_text(column: str) -> pl.Expr:
    digits = pl.col(column).bin.encode("hex")
    parts = [
        digits.str.slice(start, length) for start, length in ((0, 8), (8, 4), (12, 4), (16, 4), (20, 12))
    ]
    return pl.concat_str(parts, separator="-").alias(column)
