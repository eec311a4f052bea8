"""The columns that a contract declares, and how the values of a source are read as the contract has them."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import polars as pl

from republish.anonymize.columns import IDENTIFIER, ROW_NAME, exactly
from republish.anonymize.contract import CategoryAttribute, DateAttribute, QuasiIdentifier, Sensitive, Table
from republish.anonymize.people.rows import has_several_rows

OUTSIDE = "outside all bins"
"""Stands for a number that is in no bin."""
HIERARCHY = "the hierarchy, with a line for each"
"""Where labels are listed, and not in the contract itself."""
WITH_DECIMALS = r"^-?[0-9]+\.0$"
"""A whole number as it is written in a column of numbers that may be missing."""
SPELT = "differ from another identifier by spaces, capital letters or signs that nobody sees alone"
"""What is said of identifiers, where people have several rows, that are one person's."""


@dataclass(frozen=True)
class DeclaredColumn:
    """What the contract says of the values of one column."""

    column: str
    """Our name of it."""
    name: str
    """The publisher's name of it."""
    role: str
    kind: str
    """A word for the values: `whole numbers`."""
    convert: Callable[[pl.Expr, pl.DataType], pl.Expr | None]
    """The values as the contract has them, null where one can't be; None if none can."""
    dtype: pl.DataType
    inside: Callable[[pl.Expr], pl.Expr] | None = None
    """Which of the converted values lie in the domain; None if all do."""
    domain: str = ""
    """The domain, in words: `0 to 120`."""
    labels: tuple[str, ...] = ()
    """The domain, where it consists of labels."""
    listed: str = ""
    """The key of the contract that lists them, or the file with a line for each."""
    written: str = ""
    """`number` or `date`, which text writes in several ways; else something else."""
    repeats: str = ""
    """A verb for the rows that name what another row names, where each is to name something else."""
    missing: Literal["refuse", "some", "accept"] = "refuse"
    """Whether values may be missing: none, not all, or, where these are the people of a shard, any."""

    def values(self, dtype: pl.DataType) -> pl.Expr:
        """The column with empty text as null: a value that is not there, however a source writes it."""
        values = exactly(self.column)
        if isinstance(dtype, pl.Categorical | pl.Enum):
            values = values.cast(pl.String)
        return values.replace("", None) if is_text(dtype) else values

    def converted(self, dtype: pl.DataType) -> pl.Expr:
        """The column as the contract has it; null where a value is null or of another type."""
        converted = None if dtype == pl.Null else self.convert(self.values(dtype), dtype)
        if converted is None:
            return pl.when(exactly(self.column).is_null()).then(pl.lit(None, self.dtype)).otherwise(None)
        return converted


def columns_of(schema: Table) -> list[DeclaredColumn]:
    """The columns of a contract, in its order."""
    may_lack: Literal["some", "accept"] = "some" if getattr(schema, "shards", 1) == 1 else "accept"
    is_several = has_several_rows(schema)
    repeats = {IDENTIFIER: SPELT if is_several else "repeat the identifier of another row"}
    repeats[ROW_NAME] = f"have the same {schema.column_names().get(ROW_NAME)} (`row`) as another row"
    names = [
        DeclaredColumn(
            column, name, role, "text or whole numbers", _as_identifier, pl.String(), repeats=repeats[column]
        )
        for column, role in ((IDENTIFIER, "identifier"), (ROW_NAME, "row"))
        if (name := schema.column_names().get(column)) is not None
    ]
    attributes = [
        (_attribute(column, attribute, schema.ROLE), attribute.missing)
        for column, attribute in schema.attributes()
    ]
    sensitive = [(_sensitive(column, one), one.missing) for column, one in schema.sensitive_columns()]
    others = [
        one if missing == "refuse" else replace(one, missing=may_lack)
        for one, missing in (*attributes, *sensitive)
    ]
    return [*names, *others]


def _attribute(column: str, attribute: QuasiIdentifier, role: str) -> DeclaredColumn:
    declared = partial(
        DeclaredColumn, column, attribute.name, role, dtype=attribute.dtype, written=attribute.kind
    )
    if isinstance(attribute, CategoryAttribute):
        labels = attribute.in_source
        domain = f"{len(labels)} labels"
        inside = lambda values: values.is_in(list(labels))  # noqa: E731 - as the others have it
        listed = "order" if attribute.order else HIERARCHY
        as_label = partial(_as_label, labels=labels)
        return declared("text", as_label, inside=inside, domain=domain, labels=labels, listed=listed)
    if isinstance(attribute, DateAttribute):
        kind, convert = "dates (YYYY-MM-DD, or as declared)", _as_date
    elif attribute.discrete:
        kind, convert = "whole numbers", _as_whole_number
    else:
        kind, convert = "numbers", _as_number
    low, high = attribute.domain
    if (step := getattr(attribute, "step", 1)) > 1:
        stepped = lambda values: values.is_between(low, high) & (values % step == 0)  # noqa: E731
        return declared(kind, convert, inside=stepped, domain=f"{low} to {high} in steps of {step}")
    inside = lambda values: values.is_between(low, high)  # noqa: E731
    return declared(kind, convert, inside=inside, domain=f"{low} to {high}")


def _sensitive(column: str, sensitive: Sensitive) -> DeclaredColumn:
    values = list(sensitive.in_source)
    if sensitive.bins:
        return _bins(column, sensitive)
    inside = (lambda given: given.is_in(values)) if values else None
    domain = f"the {len(values)} values that the contract lists"
    dtype: pl.DataType
    if not values:
        convert = _as_text if sensitive.publishes_missing else _as_text_or_whole_number
        kind, dtype = "text or whole numbers", pl.String()
    elif isinstance(values[0], int):
        kind, convert, dtype = "whole numbers", _as_whole_number, pl.Int64()
    else:
        kind, dtype = "text", pl.String()
        convert = partial(_as_label_of_level, labels=values, above=sensitive.labels)
    written = "number" if dtype == pl.Int64 else ""
    named, listed = tuple(value for value in values if isinstance(value, str)), "values"
    if sensitive.hierarchy:  # what is outside of it is compared with what is in the source, below the level
        named, listed = tuple(path[0] for path in sensitive.hierarchy), HIERARCHY
        domain = f"{len(named)} values"
    return DeclaredColumn(
        *(column, sensitive.name, "sensitive", kind, convert, dtype, inside, domain, named, listed, written)
    )


def _bins(column: str, sensitive: Sensitive) -> DeclaredColumn:
    """Numbers become the names of their bins, which stay as they are."""
    edges, names = sensitive.bins, sensitive.in_source

    def convert(values: pl.Expr, dtype: pl.DataType) -> pl.Expr | None:
        number = _as_number(values, dtype)
        if number is None:
            return None
        position = pl.lit(pl.Series(edges, dtype=pl.Float64)).search_sorted(number, side="right")
        places = dict(enumerate(names, start=1))
        found = pl.when(number.is_not_null()).then(position.replace_strict(places, default=OUTSIDE))
        return pl.when(values.is_in(list(names))).then(values).otherwise(found) if is_text(dtype) else found

    domain = f"{edges[0]} to under {edges[-1]}"
    inside = lambda given: given.is_in(list(names))  # noqa: E731 - as the others have it
    return DeclaredColumn(
        column, sensitive.name, "sensitive", "numbers", convert, pl.String(), inside, domain, (), "", "number"
    )


def _as_identifier(values: pl.Expr, dtype: pl.DataType) -> pl.Expr | None:
    """Text and bytes as they are, whole numbers as Int64, or as text where they may be wider than that."""
    if is_text(dtype) or dtype == pl.Binary:
        return values
    if dtype in (pl.UInt64, pl.Int128, pl.UInt128) or (_is_whole(dtype) and dtype.is_decimal()):
        return values.cast(pl.String)
    return values.cast(pl.Int64) if _is_whole(dtype) else None


def _as_text_or_whole_number(values: pl.Expr, dtype: pl.DataType) -> pl.Expr | None:
    return values if is_text(dtype) else _as_whole_number(values, dtype)


def _as_text(values: pl.Expr, dtype: pl.DataType) -> pl.Expr | None:
    """Text, and whole numbers as they are written: a label for missing ones can be among them."""
    found = _as_text_or_whole_number(values, dtype)
    return None if found is None else found.cast(pl.String)


def _as_label(values: pl.Expr, dtype: pl.DataType, labels: Sequence[str]) -> pl.Expr | None:
    """Text, and dates, whole numbers, decimals and truth values as they are written.

    Where some values are missing, programs write the whole numbers of a column with decimals, as 1.0. They
    are read without, if no label has them, and all that are there do.
    """
    if is_text(dtype):
        if any(re.fullmatch(WITH_DECIMALS, label, re.ASCII) for label in labels):
            return values
        is_whole = values.str.contains(WITH_DECIMALS).all()
        return pl.when(is_whole).then(values.str.strip_suffix(".0")).otherwise(values)
    if dtype.is_float():
        return _as_text(values, dtype)
    if dtype.is_temporal():
        date = _as_date(values, dtype)
        return None if date is None else date.dt.to_string("%Y-%m-%d")
    is_written = dtype.is_integer() or dtype.is_decimal() or dtype == pl.Boolean
    return values.cast(pl.String) if is_written else None


def _as_label_of_level(
    values: pl.Expr, dtype: pl.DataType, labels: Sequence[str], above: Mapping[str, str]
) -> pl.Expr | None:
    """Labels, and in place of the values below one the label: a source may have either, I10 beside I10.9."""
    own = _as_label(values, dtype, [*labels, *above])
    return own if own is None or not above else own.replace(above)


def _as_whole_number(values: pl.Expr, dtype: pl.DataType) -> pl.Expr | None:
    """Whole numbers, also those written with decimals (39.0)."""
    if _is_whole(dtype):
        return values.cast(pl.Int64, strict=False)
    number = _as_number(values, dtype)
    if number is None:
        return None
    is_whole = (number == number.floor()) & (number.abs() < 2**53)
    whole = pl.when(is_whole).then(number).cast(pl.Int64, strict=False)
    return pl.coalesce(values.cast(pl.Int64, strict=False), whole) if is_text(dtype) else whole


def _as_number(values: pl.Expr, dtype: pl.DataType) -> pl.Expr | None:
    if not (dtype.is_numeric() or is_text(dtype)):
        return None
    return values.cast(pl.Float64, strict=False).fill_nan(None)


def _as_date(values: pl.Expr, dtype: pl.DataType) -> pl.Expr | None:
    """Dates, midnights (of moments with a time zone those of UTC), and text YYYY-MM-DD."""
    if dtype == pl.Date:
        return values
    if isinstance(dtype, pl.Datetime):
        if dtype.time_zone is not None:
            # Most sources keep the moment alone, and show it in the zone of the machine that asks.
            values = values.dt.convert_time_zone("UTC")
        return pl.when(values.dt.time() == dt.time()).then(values.dt.date())
    if is_text(dtype):
        is_iso = values.str.contains(r"^\d{4}-\d{2}-\d{2}$")
        return pl.when(is_iso).then(values).str.to_date("%Y-%m-%d", strict=False)
    return None


def is_text(dtype: pl.DataType) -> bool:
    """Whether a type has text."""
    return isinstance(dtype, pl.String | pl.Categorical | pl.Enum)


def _is_whole(dtype: pl.DataType) -> bool:
    """Whether a type has whole numbers alone."""
    return dtype.is_integer() or (isinstance(dtype, pl.Decimal) and dtype.scale == 0)
