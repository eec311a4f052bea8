"""Numbers and dates as other programs write them, read as the contract's source says they are written."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

import polars as pl

from republish.anonymize.columns import entries
from republish.anonymize.contract import Dialect, Table, Written
from republish.anonymize.errors import SnapshotError
from republish.anonymize.spelling import SEVERAL
from republish.orchestration.contracts.yaml_text import on_a_line
from republish.orchestration.snapshots.bounds import bounds_in, read_bounds
from republish.orchestration.snapshots.no_value import says_nothing

UNREADABLE = "?"
"""Stands for text that is not written as declared: it can be read as no number and no date."""
THOUSANDS = {".": r"\.", ",": ",", " ": "[ \u00a0\u202f]", "'": "['\u2019]"}
"""Signs between thousands, as patterns. A space may be one that does not break."""
AMBIGUOUS = r"^[+-]?[1-9]\d{0,2}\.\d{3}$"
"""3.575 is three and a half thousand to some programs, and three and a half to others."""
NUMBERS = (
    Written(decimal=","),
    Written(decimal=".", thousands=","),
    Written(decimal=",", thousands="."),
    Written(decimal=".", thousands=" "),
    Written(decimal=",", thousands=" "),
    Written(decimal=".", thousands="'"),
    Written(decimal=",", thousands="'"),
)
DATES = tuple(
    Written(date_format=written)
    for written in (
        *("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d"),
        *("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M"),
    )
)
"""How numbers and dates are often written. Where all of a column are, a message proposes the line."""


AMBIGUOUS_COUNTED = {"where": pl.String, "rows": pl.Int64, "pointed": pl.Int64, "ambiguous_numbers": pl.Int64}


def plainly(table: pl.DataFrame, schema: Table, source: Dialect) -> pl.DataFrame:
    """A file's table with text as our own programs write it: 3575.5, 1980-01-31, and null for no value.

    It has its own column names. Columns with types lose what stands for no value, and are else as they are.
    """
    table = table.with_columns(_in_their_zones(table, schema, source))
    texts = {
        name: read_bounds(text, read_plainly(text, kind, written), written.bounds or {}).alias(name)
        for name, text, kind, written in _texts(table, schema, source)
    }
    return table.with_columns(*texts.values(), *_typed(table, schema, source, texts))


def ambiguous_numbers(table: pl.DataFrame, schema: Table, source: Dialect, where: str) -> pl.DataFrame:
    """How many numbers can be read in two ways, of the columns of text of which nothing is declared.

    Returns
    -------
    polars.DataFrame
        `where`, which names the column, too; `rows`; `pointed`, those with a point in them;
        `ambiguous_numbers`, those that can be read in two ways.
    """
    counted = []
    for name, text, kind, written in _texts(table, schema, source):
        if kind == "number" and written.decimal is None and written.thousands is None:
            pointed = text.str.contains(".", literal=True)
            either = text.str.contains(AMBIGUOUS)
            counted.append((f"{where}: {name}", len(text), pointed.sum(), either.sum()))
    return pl.DataFrame(counted, AMBIGUOUS_COUNTED, orient="row")


def refuse_ambiguous_numbers(counted: Sequence[pl.DataFrame]) -> None:
    """Raise SnapshotError if all numbers of a column that have a point can be read in two ways.

    `counted` is what `ambiguous_numbers` has counted, of all parts of a table.
    """
    together = pl.concat(counted).group_by("where", maintain_order=True).sum()
    for where, rows, pointed, either in together.iter_rows():
        if pointed and pointed == either:
            raise SnapshotError(
                f"{where}: {pointed:,} of {rows:,} rows can be read in two ways, as 3.575 can: with decimals,"
                " or as thousands; write decimal: '.' or thousands: '.' under source in the contract"
            )


def _in_their_zones(table: pl.DataFrame, schema: Table, source: Dialect) -> Iterator[pl.Series]:
    """Moments that are meant as dates, as clocks of the declared time zone show them."""
    for name in (one.name for _, one in schema.attributes() if one.kind == "date"):
        zone = source.written(name).zone
        if zone is not None and isinstance(table.schema.get(name), pl.Datetime):
            yield _local(entries(table, name), zone).alias(name)


def _local(moments: pl.Series, zone: str) -> pl.Series:
    """Moments, in UTC where they have no time zone, as clocks of a zone show them."""
    zoned = moments if moments.dtype.time_zone else moments.dt.replace_time_zone("UTC")  # type: ignore[attr-defined]
    return zoned.dt.convert_time_zone(zone).dt.replace_time_zone(None)


def _typed(
    table: pl.DataFrame, schema: Table, source: Dialect, texts: Collection[str]
) -> Iterator[pl.Series]:
    """Columns with types, all but those that are read as `texts`, without what stands for no value."""
    for name in schema.source_columns():
        written = source.written(name)
        if written.null_values and name in table.columns and name not in texts:
            column, words = entries(table, name), pl.Series(written.null_values)
            kind = "date" if column.dtype.is_temporal() else "number"
            nothing = says_nothing(column, read_plainly(words, kind, written).to_list())
            kept = column.zip_with(~nothing.fill_null(value=False), pl.Series([None], dtype=column.dtype))
            yield kept.alias(name)


def _texts(
    table: pl.DataFrame, schema: Table, source: Dialect
) -> Iterator[tuple[str, pl.Series, str | None, Written]]:
    """Columns of text by name, null for no value, with what they are meant as, and how they are written.

    Whole numbers are text if they are meant as dates that are written so: 20240131.
    """
    kinds = {one.name: getattr(one, "written", one.kind) for _, one in schema.attributes()}
    kinds |= {one.name: "number" for _, one in schema.sensitive_columns() if one.bins or one.dtype == "Int64"}
    for name in schema.source_columns():
        dtype, kind, written = table.schema.get(name), kinds.get(name), source.written(name)
        is_date = kind == "date" and written.date_format is not None
        if dtype == pl.String or (is_date and dtype is not None and dtype.is_integer()):
            nothing: dict[str, None] = dict.fromkeys(written.null_values or ())
            text = entries(table, name).cast(pl.String)
            yield name, text.replace(nothing) if nothing else text, kind, written


def proposals(values: pl.Series, kind: str, no_values: Sequence[str] = ()) -> list[str]:
    """The lines to write under a contract's source for text that would then be read, all of it.

    Parameters
    ----------
    values
        Text that can't all be read as it is.
    kind
        What they are meant as: `number` or `date`.
    no_values
        Words, in small letters, that stand for no value where all else can be read.
    """
    values = values.drop_nulls().filter(values.drop_nulls() != "")
    if kind == "number" and (bounds := bounds_in(values, is_whole=True)):
        others = values.filter(~values.is_in(list(bounds)))
        if not others.cast(pl.Float64, strict=False).has_nulls():
            are_of_several = all((values == word).sum() >= SEVERAL for word in bounds)
            return [on_a_line({"bounds": bounds})[1:-1] if are_of_several else "bounds: {…}"]
    ways = [
        written.model_dump(exclude_none=True)
        for written in ways_to_read(values, kind)
        if (read_plainly(values, kind, written) != values).any()
    ]
    is_word = values.str.strip_chars().str.to_lowercase().is_in(no_values) & (values != UNREADABLE)
    if not ways and is_word.any() and not is_word.all():
        words, others = {"null_values": sorted(values.filter(is_word).unique())}, values.filter(~is_word)
        plain = Written(decimal=".") if kind == "number" else Written(date_format="%Y-%m-%d")
        if not (read_plainly(others, kind, plain) == UNREADABLE).any():
            ways = [words]
        else:
            ways = [words | written.model_dump(exclude_none=True) for written in ways_to_read(others, kind)]
    return [on_a_line(written)[1:-1] for written in ways]


def ways_to_read(values: pl.Series, kind: str) -> list[Written]:
    """The usual ways of writing numbers or dates in which all of these values, text, can be read.

    A sign between thousands is among them only where nothing can be read without it.
    """
    found = [
        written
        for written in (NUMBERS if kind == "number" else DATES)
        if not (read_plainly(values, kind, written) == UNREADABLE).any()
    ]
    simple = {written.decimal for written in found if written.thousands is None}
    return [
        written
        for written in found
        if kind != "number" or written.thousands is None or written.decimal not in simple
    ]


def read_plainly(text: pl.Series, kind: str | None, written: Written) -> pl.Series:
    """A column with its numbers and dates plainly written, `UNREADABLE` where they are not as declared."""
    if kind == "number" and (written.decimal or written.thousands):
        return _numbers(text, written)
    if kind == "date" and written.date_format:
        return _dates(text, written)
    return text


def _numbers(text: pl.Series, written: Written) -> pl.Series:
    decimal = written.decimal or ("," if written.thousands == "." else ".")
    sign = THOUSANDS.get(written.thousands or "", "")
    grouped = rf"|\d{{1,3}}(?:{sign}\d{{3}})+" if sign else ""
    as_declared = rf"^[+-]?(?:\d+{grouped})?(?:{re.escape(decimal)}\d*)?(?:[eE][+-]?\d+)?$"
    plain = (text.str.replace_all(sign, "") if sign else text).str.replace(decimal, ".", literal=True)
    return pl.select(
        pl.when(text.str.contains(as_declared)).then(plain).when(text.is_not_null()).then(pl.lit(UNREADABLE))
    ).to_series()


def _dates(text: pl.Series, written: Written) -> pl.Series:
    date_format, zone = written.date_format or "", written.zone
    stamps = (
        text.str.to_datetime(date_format, strict=False)
        if "%H" in date_format
        else text.str.to_date(date_format, strict=False).cast(pl.Datetime)
    )
    stamps = stamps if zone is None else _local(stamps, zone)
    plain = pl.when(stamps.dt.date().cast(pl.Datetime) == stamps).then(stamps.dt.to_string("%Y-%m-%d"))
    return pl.select(pl.coalesce(plain, pl.when(text.is_not_null()).then(pl.lit(UNREADABLE)))).to_series()
