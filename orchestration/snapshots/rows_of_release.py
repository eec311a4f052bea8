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
        values = entries(table, column)
        is_so = (as_text(values) == value) | (values.cast(pl.String) == value)
        table = table.filter(is_so.fill_null(value=False))
    return table


def as_text(values: pl.Series) -> pl.Series:
    """Each value as text: a whole number without a point, a midnight as its date."""
    plain, text = None, values.cast(pl.String)
    if values.dtype.is_float():
        plain = values.cast(pl.Int64, strict=False)
        is_plain = values == values.floor()
    elif isinstance(values.dtype, pl.Datetime):
        plain, is_plain = values.dt.date(), values.dt.time() == dt.time()
    return text if plain is None else plain.cast(pl.String).zip_with(is_plain & plain.is_not_null(), text)
