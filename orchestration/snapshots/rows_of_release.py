"""The rows of a release, in a file that has those of several: a panel of years, say."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

import polars as pl

from republish.anonymize.columns import entries
from republish.anonymize.errors import SnapshotError


def of_release(table: pl.DataFrame, where: Mapping[str, str], place: str) -> pl.DataFrame:
    """The rows that have these values, as text, in these columns.

    Parameters
    ----------
    where
        The values by column: 1968 is also 1968.0 and `1968`; a date is YYYY-MM-DD, and a midnight its date.
    place
        Where the table is, for a message.

    Raises
    ------
    SnapshotError
        If there is no such column.

    Examples
    --------
    >>> panel = pl.DataFrame({"person": ["a", "b", "a"], "year": [1968.0, 1968.0, 1969.0]})
    >>> of_release(panel, {"year": "1969"}, "panel.dta")["person"].to_list()
    ['a']
    """
    for column, value in where.items():
        if column not in table.columns:
            raise SnapshotError(f"{place}: has no column {column}, which source.where names")
        table = table.filter(as_text(entries(table, column)).eq(value).fill_null(value=False))
    return table


def as_text(values: pl.Series) -> pl.Series:
    """Values as text: whole numbers without a point, midnights as dates."""
    if values.dtype.is_float() and values.drop_nulls().is_finite().all():
        is_whole = bool((values.drop_nulls() == values.drop_nulls().floor()).all())
        values = values.cast(pl.Int64) if is_whole else values
    if isinstance(values.dtype, pl.Datetime) and bool((values.dt.time() == dt.time()).all()):
        values = values.dt.date()
    return values.cast(pl.String)
