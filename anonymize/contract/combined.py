"""Several sensitive columns as one column of text, whose values are combinations.

Between the snapshot and the published tables everything works with one sensitive value for each person. With
several columns that is a text of all of them. Texts are in the order of the values, column by column.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import polars as pl

from republish.anonymize.columns import VALUE
from republish.anonymize.contract.schema import Table
from republish.anonymize.contract.sensitive import Sensitive

BETWEEN = "\x1f"
"""What stands between the values of two columns: it comes before every letter."""
ESCAPE, ESCAPED, ESCAPED_BETWEEN, WHOLE_NUMBER = "\x1e", "\x1e1", "\x1e0", "\x1e2"
"""What these signs themselves are in a text, and what a whole number begins with."""
LOWEST = 1 << 63
"""Whole numbers are counted from -2 ** 63 on, so that their digits are in their order."""


def combine(table: pl.DataFrame, schema: Table) -> pl.DataFrame:
    """Put text of all sensitive columns, `value_0`, `value_1`, …, into one column `value`; others stay."""
    columns = [column for column, _ in schema.sensitive_columns()]
    if len(columns) < 2 or columns[0] not in table.columns:
        return table
    text = [_as_text(column, table.schema[column]) for column in columns]
    together = table.select(pl.concat_str(text, separator=BETWEEN).alias(VALUE))[VALUE]
    others = [VALUE if name == columns[0] else name for name in table.columns if name not in columns[1:]]
    return table.with_columns(together).select(others)


def separate(table: pl.DataFrame, schema: Table) -> pl.DataFrame:
    """Put columns `value_0`, `value_1`, … in place of `value`: what `combine` put together."""
    columns = list(schema.sensitive_columns())
    if len(columns) < 2 or VALUE not in table.columns:
        return table
    apart = values_of(table[VALUE], schema.sensitive)
    names = [
        ours for name in table.columns for ours in ([c for c, _ in columns] if name == VALUE else [name])
    ]
    return table.with_columns(
        values.alias(column) for values, (column, _) in zip(apart, columns, strict=True)
    ).select(names)


def values_of(values: pl.Series, sensitive: Sensitive | None) -> list[pl.Series]:
    """The values of each sensitive column, from those of all of them together; of one column, as they are."""
    if sensitive is None or not sensitive.is_several:
        return [values]
    return [
        _as_values(part, column.dtype)
        for part, column in zip(_parts(values, len(sensitive.columns)), sensitive.columns, strict=True)
    ]


def readable(values: pl.Series, published: pl.Series, sensitive: Sensitive) -> pl.Series:
    """Boolean[V]: the values that readers know: declared, may be known, or `published` so far.

    A combination of several columns is known if its values are. `published` values are compared as text:
    where there are none yet, nothing tells of which type they are.
    """
    known = pl.repeat(True, len(values), eager=True)
    columns = zip(
        sensitive.columns, values_of(values, sensitive), values_of(published, sensitive), strict=True
    )
    for column, its, seen in columns:
        if column.values is None:
            is_seen = its.cast(pl.String).is_in(seen.cast(pl.String).implode())
            known &= is_seen | column.may_be_known(its)
    return known


def projected(values: pl.Series, columns: Sequence[str], onto: Sequence[str]) -> pl.Series:
    """String[N]: what values of some columns say of fewer of them, whichever type and order these have.

    `columns` are the names of all, and `onto` some of these.
    """
    apart = _parts(values, len(columns)) if len(columns) > 1 else [values]
    named = {
        name: (_as_values(part, "") if len(columns) > 1 else part).cast(pl.String)
        for name, part in zip(columns, apart, strict=True)
    }
    text = [_as_text(name, pl.String()) for name in onto]
    return pl.DataFrame(named).select(pl.concat_str(text, separator=BETWEEN).alias(VALUE))[VALUE]


def kept_apart(table: pl.DataFrame, columns: Collection[str]) -> pl.DataFrame:
    """Do as `separate` for a table that was kept, where nothing but our names of its columns is known."""
    names = [name for name in columns if name.startswith(f"{VALUE}_")]
    if not names or VALUE not in table.columns:
        return table
    parts = (_as_values(part, "") for part in _parts(table[VALUE], len(names)))
    return table.drop(VALUE).with_columns(part.alias(name) for name, part in zip(names, parts, strict=True))


def _parts(values: pl.Series, number: int) -> list[pl.Series]:
    parts = values.str.split(BETWEEN)
    return [parts.list.get(position, null_on_oob=True) for position in range(number)]


def _as_text(column: str, dtype: pl.DataType) -> pl.Expr:
    if dtype == pl.Int64:
        counted = pl.col(column).cast(pl.Int128) + pl.lit(LOWEST, pl.Int128)
        return pl.lit(WHOLE_NUMBER) + counted.cast(pl.String).str.zfill(20)
    text = pl.col(column).cast(pl.String).str.replace_all(ESCAPE, ESCAPED, literal=True)
    return text.str.replace_all(BETWEEN, ESCAPED_BETWEEN, literal=True)


def _as_values(text: pl.Series, dtype: str) -> pl.Series:
    """Values of one column. Of no declared type, they are numbers where all begin as numbers do."""
    if dtype == "Int64" or (dtype != "String" and len(text) and text.str.starts_with(WHOLE_NUMBER).all()):
        counted = pl.lit(text).str.strip_prefix(WHOLE_NUMBER).cast(pl.Int128, strict=False)
        return pl.select((counted - pl.lit(LOWEST, pl.Int128)).cast(pl.Int64, strict=False)).to_series()
    text = text.str.replace_all(ESCAPED_BETWEEN, BETWEEN, literal=True)
    return text.str.replace_all(ESCAPED, ESCAPE, literal=True)
