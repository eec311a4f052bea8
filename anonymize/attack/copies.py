"""Values that may be known, as candidates: a group that has one c times hides a person among c tuples of it.

In a group {flu, none, none, none} there are two values, and each person has flu with a probability of 1/4. So
candidates are counted in tuples. The tuples of a value that may be known get numbers, the same ones in every
group: `none`, the 2nd `none`, the 3rd. Sets of numbered values are intersected as sets of values are. What is
left is as many tuples of each value as every release leaves: of {flu, none, none, none} and then {flu, HIV,
ulcer, none}, flu and one `none`, two candidates in place of four.

Nothing published shows numbers. The promise is about numbered tuples (`buckets.lots`); what is counted
without numbers is another figure (`assignments`).

Where a group holds each sensitive value b times, b tuples of the other share a number. A group without any
sensitive value has nothing to hide, and is left as it is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from republish.anonymize.columns import VALUE
from republish.anonymize.contract import Sensitive
from republish.anonymize.formats.published import Published

SIGN = "\ue001"
"""What stands before the number of a copy, in the text of one."""
LOWEST, MOST_COPIES = -(2**63), 2**32
"""Copies of whole numbers are numbers that no table has."""


def numbered(published: Published, sensitive: Sensitive) -> Published:
    """A release in which the tuples of values that may be known have numbers."""
    if not sensitive.not_sensitive:
        return published
    values = _copied(published.values, sensitive)
    return replace(published, values=values.select("group_id", VALUE, "tuples").sort("group_id", VALUE))


def copies(published: Published, sensitive: Sensitive) -> pl.DataFrame:
    """`group_id`, `value`, `copies`: how many numbers the tuples of each group's values have."""
    if not sensitive.not_sensitive:
        return published.values.select("group_id", VALUE, copies=pl.lit(1, pl.Int64))
    return _copied(published.values, sensitive).group_by("group_id", value="whole").agg(copies=pl.len())


def guarded(published: Published, sensitive: Sensitive) -> pl.DataFrame:
    """`group_id`: the groups that hold a sensitive value."""
    values = published.values
    return values.filter(~sensitive.may_be_known(values[VALUE])).select("group_id").unique()


def is_copy(values: pl.Series) -> pl.Series:
    """Boolean[N]: which values are numbered copies."""
    if values.dtype == pl.String:
        return values.str.contains(SIGN, literal=True)
    return values < LOWEST + 2**62 if values.dtype.is_integer() else values.is_null() & False


def _copied(values: pl.DataFrame, sensitive: Sensitive) -> pl.DataFrame:
    """`group_id`, `value` (numbered), `tuples`, `whole` (the value)."""
    known = sensitive.may_be_known(values[VALUE])
    least = values.filter(~known).group_by("group_id").agg(least=pl.col("tuples").min())
    some = values.with_columns(known=known, whole=VALUE).join(least, on="group_id", how="left")
    is_split = pl.col("known") & pl.col("least").is_not_null()
    number = pl.int_ranges(pl.when(is_split).then((pl.col("tuples") - 1) // pl.col("least") + 1).otherwise(1))
    each = some.with_columns(number=number).explode("number")
    left = pl.col("tuples").cast(pl.Int64) - pl.col("number") * pl.col("least")
    tuples = pl.when(is_split).then(pl.min_horizontal("least", left)).otherwise("tuples")
    return each.with_columns(
        _named(values.schema[VALUE], sensitive.not_sensitive),
        tuples.cast(values.schema["tuples"]).alias("tuples"),
    )


def _named(dtype: pl.DataType, not_sensitive: tuple[Any, ...]) -> pl.Expr:
    """The first tuple of a value is called by its name, the others by name and number."""
    number, value = pl.col("number"), pl.col(VALUE)
    if dtype == pl.String:
        name = pl.concat_str(value, pl.lit(SIGN), number)
    else:
        place = value.replace_strict(
            not_sensitive, range(len(not_sensitive)), default=0, return_dtype=pl.Int64
        )
        name = LOWEST + place * MOST_COPIES + number
    return pl.when(number > 0).then(name).otherwise(value).alias(VALUE)
