"""Published entries that no attack can read: missing, unknown to the contract, stated twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from republish.anonymize.attack.finding import Count
from republish.anonymize.columns import VALUE
from republish.anonymize.contract import CategoryAttribute, Schema
from republish.anonymize.contract.combined import values_of
from republish.anonymize.formats import Format
from republish.anonymize.people.codes import encode

Tables = Mapping[str, pl.DataFrame]


def readable_rows(
    tables: Tables, release_format: Format, schema: Schema, earlier: Sequence[str | int] = ()
) -> tuple[dict[str, pl.DataFrame], Count]:
    """Split off the rows that can't be read; returns the tables without them, and the count of both.

    A row is left out if an entry is missing, a label or value is none of the contract's, an interval ends
    before it begins, a count is below 1, or a group's count is stated again. Where missing values are
    published, an interval without ends needs somebody whose value is missing. An `earlier` sensitive value
    that the contract has dropped may still be in signatures, and be published with a counterfeit.
    """
    left, rows, faulty = {}, 0, 0
    for name, entries in release_format.entries(schema).items():
        if (table := tables.get(name)) is None:
            continue
        faults = [*_faults(entries, table.schema, schema), *_undeclared(table, schema, earlier)]
        wrong = table.select(pl.any_horizontal(faults).fill_null(value=True)).to_series()
        left[name] = table.filter(~wrong) if wrong.any() else table
        rows, faulty = rows + len(table), faulty + int(wrong.sum())
    return {**tables, **left}, Count(rows, faulty)


def _faults(entries: list[str], dtypes: Mapping[str, pl.DataType], schema: Schema) -> Iterator[pl.Expr]:
    """Find the rows that break each rule."""
    may_be_missing = {
        f"{column}{end}"
        for column, attribute in schema.attributes()
        if attribute.publishes_missing and not isinstance(attribute, CategoryAttribute)
        for end in ("", "_low", "_high")
    }
    for entry in entries:
        if entry not in may_be_missing:
            yield pl.col(entry).is_null()
        if dtypes[entry].is_float():
            yield (~pl.col(entry).is_finite()).fill_null(value=False)
    for column, attribute in schema.attributes():
        ends = [f"{column}_low", f"{column}_high"]
        if isinstance(attribute, CategoryAttribute):
            for entry in {column, *ends} & set(entries):
                yield ~pl.col(entry).is_in(attribute.in_tables)
        if set(ends) <= set(entries):
            low, high = (encode(pl.col(end), attribute) for end in ends)
            yield (low > high).fill_null(value=False)
            if attribute.publishes_missing:
                without = pl.col(f"{column}_missing")
                yield low.is_null() != high.is_null()
                yield without < low.is_null().cast(pl.Int64)
                yield without > pl.len().over("group_id")
    if "count" in entries:
        yield pl.col("count") < 1
        counted = pl.struct(entry for entry in entries if entry != "count")
        yield ~counted.is_first_distinct()


def _undeclared(table: pl.DataFrame, schema: Schema, earlier: Sequence[str | int]) -> Iterator[pl.Expr]:
    """Find the rows that have a value that no contract of the series declared, by sensitive column."""
    if VALUE not in table.columns:
        return
    there = table[VALUE].unique().drop_nulls()
    known = there.is_in(pl.Series(earlier, dtype=there.dtype).implode())
    for column, values in zip(schema.sensitive.columns, values_of(there, schema.sensitive), strict=True):
        if column.values is not None:
            declared = pl.Series(column.values)
            fits = values.cast(declared.dtype, strict=False).is_in(declared.implode()).fill_null(value=False)
            yield pl.col(VALUE).is_in(there.filter(~(fits | known)).implode())
