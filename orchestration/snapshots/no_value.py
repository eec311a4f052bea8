"""Words for no value, in columns that have types: 98, 98.0 and "98" are one code."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from decimal import Decimal

import polars as pl

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")


def says_nothing(column: pl.Series, words: Sequence[str]) -> pl.Series:
    """Which cells of a column with a type are one of the words for no value; bool[N].

    Parameters
    ----------
    column
        Numbers, dates, moments or truth values, of any type of polars. A moment is a date if it is midnight.
    words
        Numbers and dates plainly written: 98 or 9999-12-31. Other words stand for no value of such a column.
    """
    dtype = column.dtype
    if dtype.is_integer():
        whole = [int(number) for number in _numbers(words) if number == number.to_integral_value()]
        return column.cast(pl.Int128).is_in([one for one in whole if abs(one) < 2**126])
    if dtype.is_numeric():
        return column.cast(pl.Float64).is_in([float(number) for number in _numbers(words)])
    if dtype in (pl.Date, pl.Datetime):
        days = pl.Series(words, dtype=pl.String).str.to_date("%Y-%m-%d", strict=False).drop_nulls()
        found = column.dt.date().is_in(days.to_list())
        return found if dtype == pl.Date else found & (column.dt.time() == dt.time())
    if dtype == pl.Boolean:
        return column.cast(pl.String).is_in([word.lower() for word in words])
    return pl.repeat(False, len(column), eager=True)


def _numbers(words: Sequence[str]) -> list[Decimal]:
    return [Decimal(word) for word in words if NUMBER.fullmatch(word)]
