"""Columns as polars has them, of the same kind whichever source they are from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from typing import Any, NamedTuple

import polars as pl
import pyarrow as pa

from republish.anonymize.columns import entries, exactly
from republish.anonymize.errors import SnapshotError

LONGEST = 38
"""Digits of a decimal number."""
NUMBER = r"^-?(?<whole>\d+)(?:\.(?<decimals>\d+))?$"


NUMERICS = pl.Schema({"column": pl.String(), "decimals": pl.Int64(), "digits": pl.Int64()})


class Answer(NamedTuple):
    """Rows from a database or a table format's library, read once, from first to last."""

    schema: pa.Schema
    """The rows' columns."""
    batches: Generator[pa.RecordBatch]
    """The rows, some at a time."""

    def pieces(self, rows: int) -> Iterator[pa.Table]:
        """So many rows at a time; the first piece has none, and says what the columns are."""
        yield self.schema.empty_table()
        waiting = self.schema.empty_table()
        for batch in self.batches:
            waiting = pa.concat_tables([waiting, pa.Table.from_batches([batch], self.schema)])
            while waiting.num_rows >= rows:
                yield waiting.slice(0, rows)
                waiting = waiting.slice(rows)
        if waiting.num_rows:
            yield waiting


def from_arrow(answer: pa.Table, columns: list[str], where: str) -> pl.DataFrame:
    """The wanted columns that an answer has, as a Parquet file with the same values would have them.

    PostgreSQL's numeric is text: only all rows together say what else it can be (`numerics`).

    Raises SnapshotError if it has one of them twice, or of a type that polars can't read.
    """
    present = [column for column in columns if column in answer.column_names]
    often = Counter(answer.column_names)
    if twice := [column for column in present if often[column] > 1]:
        raise SnapshotError(f"{where}: the query answers with {twice[0]} twice; name its columns one by one")
    frame = pl.DataFrame([_series(column, answer[column], where) for column in present])
    return frame.with_columns(uuid_text(answer.schema, present))


def numerics(schema: pa.Schema, frame: pl.DataFrame) -> pl.DataFrame:
    """How PostgreSQL's numeric is written in some rows of an answer, as `from_arrow` has made them.

    Returns
    -------
    polars.DataFrame
        For each `column` and number of `decimals`, the most `digits` of a number. Of what is no number (NaN,
        Infinity), decimals are null.
    """
    found = [pl.DataFrame(schema=NUMERICS)]
    for name in frame.columns:
        if getattr(schema.field(name).type, "type_name", None) == "numeric":
            parts = entries(frame, name).drop_nulls().str.extract_groups(NUMBER).struct.unnest()
            decimals = pl.col("decimals").fill_null("")
            found.append(
                parts.select(
                    column=pl.lit(name),
                    decimals=pl.when(pl.col("whole").is_not_null()).then(decimals.str.len_bytes()),
                    digits=(pl.col("whole") + decimals).str.len_bytes(),
                )
                .group_by("column", "decimals")
                .agg(pl.col("digits").max())
                .cast(NUMERICS)
            )
    return pl.concat(found)


def with_numerics(frame: pl.DataFrame, found: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """PostgreSQL's numeric as decimal numbers; as text if these have several scales, or too many digits.

    Parameters
    ----------
    frame
        Rows as `from_arrow` has made them.
    found
        What `numerics` has found, in all rows of the answer.
    """
    together = pl.concat([pl.DataFrame(schema=NUMERICS), *found])
    kinds = together.group_by("column").agg(pl.col("decimals").unique(), pl.col("digits").max())
    return frame.with_columns(
        exactly(column).cast(pl.Decimal(LONGEST, decimals[0]))
        for column, decimals, digits in kinds.iter_rows()
        if column in frame.columns and len(decimals) == 1 and decimals[0] is not None and digits <= LONGEST
    )


def uuid_text(schema: pa.Schema, columns: list[str]) -> list[pl.Expr]:
    """Columns that are UUIDs of 16 bytes, as they are written elsewhere: 8-4-4-4-12 digits."""
    return [_uuid_text(column) for column in columns if isinstance(schema.field(column).type, pa.UuidType)]


def _series(name: str, column: pa.ChunkedArray, where: str) -> pl.Series:
    try:
        return pl.Series(name, _plain(column))
    except pl.exceptions.PolarsError:
        raise SnapshotError(
            f"{where}: {name}: is of a type that can't be read ({column.type}); give it as text, a number or"
            " a date"
        ) from None


def _plain(column: pa.ChunkedArray) -> Any:
    """A column of a type that Arrow knows; PostgreSQL's numeric arrives as text."""
    return column.cast(column.type.storage_type) if isinstance(column.type, pa.BaseExtensionType) else column


def _uuid_text(column: str) -> pl.Expr:
    digits = exactly(column).bin.encode("hex")
    parts = [
        digits.str.slice(start, length) for start, length in ((0, 8), (8, 4), (12, 4), (16, 4), (20, 12))
    ]
    return pl.concat_str(parts, separator="-").alias(column)
