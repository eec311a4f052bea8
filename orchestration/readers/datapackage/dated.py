"""The first column of every published table: the release, so that `v1/*/…` reads as one dated table."""

from __future__ import annotations

import datetime as dt

import polars as pl

from republish.anonymize.formats.format import RELEASE


def dated(table: pl.DataFrame, release: str) -> pl.DataFrame:
    """The table with its release's date as the first column, the same in every row."""
    date = pl.lit(dt.date.fromisoformat(release), pl.Date)
    return table.select(date.alias(RELEASE), pl.all()) if table.height else _without_rows(table)


def _without_rows(table: pl.DataFrame) -> pl.DataFrame:
    return pl.DataFrame(schema={RELEASE: pl.Date, **table.schema})


def undated(table: pl.DataFrame, release: str) -> pl.DataFrame:
    """The table without that column, if it says no more than the release's date.

    A column of the name that says anything else stays: it is a column that no format has, and an audit
    reports it as one.
    """
    if RELEASE not in table.columns or table.schema[RELEASE] != pl.Date:
        return table
    is_constant = table[RELEASE].null_count() == 0 and table[RELEASE].n_unique() <= 1
    is_right = not table.height or str(table[RELEASE][0]) == release
    return table.drop(RELEASE) if is_constant and is_right else table
