"""Checks that a snapshot is as its contract says: a table of rules, each with the rows that break it.

Counts alone come out of here: no identifier, and no value but where one has several names or spellings.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import polars as pl

from republish.anonymize.columns import IDENTIFIER, ROW_NAME, VALUE, exactly
from republish.anonymize.contract import Table
from republish.anonymize.contract.identifier import columns_of_identifier
from republish.anonymize.contract.scalars import MISSING
from republish.anonymize.errors import as_data
from republish.anonymize.spelling import SEVERAL, normal_form, spelled_in_two_ways, value_form
from republish.orchestration.contracts.yaml_text import on_a_line
from republish.orchestration.snapshots.columns import HIERARCHY, SPELT, DeclaredColumn, columns_of, is_text
from republish.orchestration.snapshots.locale_formats import proposals
from republish.orchestration.snapshots.no_identifier import (
    LEAVE_OUT,
    SAYS,
    forms_of_none,
    shared_by_many,
    ways_out,
)

MEASURES = ("nulls", "duplicates", "wrong_type", "outside_domain", "misspelt")
"""The rules that a column may have."""
EVIDENCE = {"column": pl.String, "role": pl.String, "rows": pl.Int64, **dict.fromkeys(MEASURES, pl.Int64)}
AT_FAULT = {"row": pl.Int64, "identifier": pl.String, "column": pl.String, "fault": pl.String}
LISTED = 10_000
"""Rows that are listed of each column and fault."""
NAMED = 3
"""Groups of values in several spellings that a message names."""
UNNAMED = 10
"""Columns of a source that a message names because one of them may be a missing one."""
ADDED = 20
"""Labels that a message proposes to add."""
COMPARED = 100
"""Values outside a domain that are compared with its labels."""
NO_VALUE = (MISSING, "#n/a", "#na", "-nan", "<na>", "n/a", "na", "nan", "nil", "null", "?", "-", "--", ".")
"""Words of other programs for no value, in small letters."""
NO_VALUES = (
    *NO_VALUE,
    *("k.a.", "k. a.", "n.a.", "n. a.", "k/a", "keine angabe", "#null!", "(null)", r"\n", ""),
)
"""Words for no value, in small letters, in files that people write, too."""
SUMMER_AND_WINTER = 2
"""Hours of UTC at which it is midnight in some place."""
CORRECT = "correct them in the source, or"
LIST_THEM = "list every value under sensitive.values"
NOBODY_HAS_ONE = "nobody has one: fill them in the source, or take the column out of the contract"
FILL_IN = {
    "identifier": "fill them in the source, or leave these rows out there: a person is known by it",
    "": "fill them in the source, or write beside the column in the contract missing: publish, which makes it"
    " a value of its own, or missing: leave_out, which leaves these people out",
}
NAME_APART = {
    "identifier": "a snapshot has one row for each person. If people have several rows (visits, claims), say"
    " so (rows: several), or choose one of each in the source: the last one, say",
    SPELT: "write a person's identifier in one way in the source, and that of another person otherwise",
    "row": "give each row its own in the source (spaces, capital letters and signs that nobody sees make no"
    " difference), or leave out what is there twice",
}
HARDLY_MEANT = (
    "have spaces around them, differ from another value by capital letters alone, by signs that nobody sees"
    " or by how a letter or a number is written, or stand for no value (null, n/a)"
)
Sentence = Callable[[DeclaredColumn, pl.DataFrame], str]
"""What is said of a column, and of a snapshot in which rows break one of its rules."""


@dataclass(frozen=True)
class Check:
    """A rule of the contract for a column, as one row of the table of them."""

    column: DeclaredColumn
    measure: str
    """Its name among `MEASURES`."""
    breaks: pl.Expr
    """Which rows break it."""
    says: str
    """A verb for these rows: *have no value*."""
    way_out: str | Sentence
    """What the publisher may do about it; a function where that is said of the values, too."""

    @property
    def key(self) -> str:
        """Tells it from all others."""
        return f"{self.measure} {self.column.column}"

    def described(self, counted: Mapping[str, Any], snapshot: pl.DataFrame) -> str:
        """The fault in a publisher's words: so many rows break it, as counted of its column; the way out."""
        said = f"{counted[self.measure]:,} of {counted['rows']:,} rows {self.says}"
        if self.measure == "misspelt" and self.column.role == "sensitive":
            spelled = spelled_in_two_ways(_read(self.column, snapshot), NAMED)
            said = f"{spelled}; {said}" if spelled else said
        out = self.way_out if isinstance(self.way_out, str) else self.way_out(self.column, snapshot)
        return f"{self.column.name}: {said}; {out}"


def checks_of(columns: Sequence[DeclaredColumn], types: pl.Schema) -> list[Check]:
    """The table of rules for the columns that a snapshot has, in their order and that of `MEASURES`."""
    return [
        check for one in columns if one.column in types for check in _checks_of_column(one, types[one.column])
    ]


def _checks_of_column(column: DeclaredColumn, dtype: pl.DataType) -> Iterator[Check]:
    values, read, check = column.values(dtype), column.converted(dtype), partial(Check, column)
    is_lacking = values.is_null()
    lacking = {"refuse": is_lacking, "some": is_lacking & is_lacking.all(), "accept": pl.lit(value=False)}
    fill_in = NOBODY_HAS_ONE if column.missing != "refuse" else FILL_IN.get(column.role, FILL_IN[""])
    yield check("nulls", lacking[column.missing], "have no value", fill_in)
    if column.repeats and not dtype.is_nested():  # a list, say, is of a wrong type: nothing to compare
        again = ~is_lacking & _is_again(column, values, dtype)
        apart = NAME_APART.get(column.repeats, NAME_APART[column.role])
        is_person = column.role == "identifier" and column.repeats != SPELT
        yield check("duplicates", again, column.repeats, _one_each if is_person else apart)
    yield check("wrong_type", ~is_lacking & read.is_null(), f"are not {column.kind}", _as_its_type)
    if column.role == "identifier" and (is_text(dtype) or dtype.is_integer()):
        none = _forms_of_none(column, dtype)
        yield check("misspelt", pl.any_horizontal(none.values()).fill_null(value=False), SAYS, _none_of_whom)
    if column.inside is not None:
        outside = (~column.inside(read)).fill_null(value=False)
        place = "are not in the hierarchy" if column.listed == HIERARCHY else "lie outside the domain"
        yield check("outside_domain", outside, f"{place} ({column.domain})", _into_the_domain)
    elif column.role == "sensitive" and is_text(dtype):
        yield check("misspelt", _misspelt(read), HARDLY_MEANT, f"{CORRECT} {LIST_THEM}")


def _forms_of_none(column: DeclaredColumn, dtype: pl.DataType) -> dict[str, pl.Expr]:
    is_several = column.repeats == SPELT
    return forms_of_none(column.values(dtype), is_text=is_text(dtype), is_several=is_several)


def _is_again(column: DeclaredColumn, values: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Which rows name what another row names."""
    form = normal_form(values) if is_text(dtype) else values
    if column.role == "row":
        return pl.len().over(form) > 1
    return values.n_unique().over(form) > 1 if column.repeats == SPELT else ~form.is_first_distinct()


def _misspelt(values: pl.Expr) -> pl.Expr:
    """Which values are hardly meant as values of their own."""
    distinct = values.unique(maintain_order=True).drop_nulls()  # forms take long
    form = value_form(distinct)
    is_misspelt = (distinct.str.strip_chars() != distinct) | form.is_duplicated() | form.is_in(NO_VALUE)
    return values.is_in(distinct.filter(is_misspelt).implode()).fill_null(value=False)


def snapshot_faults(snapshot: pl.DataFrame, schema: Table) -> pl.DataFrame:
    """How many of a snapshot's values break each rule of the contract, in one pass over it.

    The snapshot is as `enter` or `conform` has made it: under our own column names.

    Returns
    -------
    polars.DataFrame
        One row per column of the contract: `column`, `role` (identifier, quasi-identifier or column,
        sensitive), `rows`, and the counts `nulls` (empty text counts as null), `duplicates` (rows whose
        identifier an earlier row has, or whose row name another one has), `wrong_type` (values that can't be
        read as the column's type), `outside_domain` and `misspelt` (where no values are declared: with spaces
        around them, another value's spelling in other letters, or what programs write for no value; of
        identifiers, those that are none). In a column that is missing every row is null.
    """
    columns = columns_of(schema)
    checks = checks_of(columns, snapshot.schema)
    counted = snapshot.select(check.breaks.sum().alias(check.key) for check in checks)
    counts = counted.row(0, named=True) if checks else {}
    rows = []
    for one in columns:
        own = {measure: counts.get(f"{measure} {one.column}", 0) for measure in MEASURES}
        if one.column not in snapshot.columns:
            own["nulls"] = snapshot.height
        rows.append({"column": one.name, "role": one.role, "rows": snapshot.height, **own})
    return pl.DataFrame(rows, schema=EVIDENCE)


def counted_together(several: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Add up the counts of `snapshot_faults` for the parts of a snapshot."""
    if len(several) == 1:
        return several[0]
    counts = pl.col("rows", *MEASURES).sum()
    return pl.concat(several).group_by("column", "role", maintain_order=True).agg(counts)


def conform(snapshot: pl.DataFrame, schema: Table) -> pl.DataFrame:
    """The schema's columns in its order and types, of a snapshot without faults.

    Identifiers are text, whole numbers (Int64) or bytes, as the source has them; attributes have their own
    type; the sensitive column, if there is one, is String or Int64.
    """
    types = snapshot.schema
    return snapshot.select(one.converted(types[one.column]).alias(one.column) for one in columns_of(schema))


def columns_without_values(snapshot: pl.DataFrame, schema: Table) -> frozenset[str]:
    """The names of columns that may lack values, and of which nobody in a shard has one."""
    columns = [
        one for one in columns_of(schema) if one.missing == "accept" and one.column in snapshot.columns
    ]
    empty = snapshot.select(
        one.values(snapshot.schema[one.column]).is_null().all().alias(one.column) for one in columns
    )
    return frozenset(one.name for one in columns if empty[one.column].all())


def describe_faults(
    snapshot: pl.DataFrame,
    schema: Table,
    present: Sequence[str] = (),
    counted: pl.DataFrame | None = None,
    likely: Mapping[str, str] = MappingProxyType({}),
) -> list[str]:
    """Every fault in a publisher's words: column, count, rule, way out. Empty if there is none.

    Parameters
    ----------
    snapshot
        As `enter` has made it.
    present
        The names of all columns of the source: one of them may be what a missing one is called there.
    counted
        What `snapshot_faults` counted, of more people than these; None to count these.
    likely
        What columns that are missing are likely to be called in the source, by what is in them.
    """
    declared, there = schema.source_columns(), {*present}
    missing = [
        name
        for one in columns_of(schema)
        if one.column not in snapshot.columns
        for name in (columns_of_identifier(one.name) if one.column == IDENTIFIER else (one.name,))
        if name == one.name or name not in there
    ]
    evidence = snapshot_faults(snapshot, schema) if counted is None else counted
    return [
        *(_missing(name, present, declared, likely.get(name)) for name in missing),
        *(check.described(row, snapshot) for check, row in _broken(snapshot, schema, evidence)),
    ]


def _broken(
    snapshot: pl.DataFrame, schema: Table, counted: pl.DataFrame
) -> Iterator[tuple[Check, dict[str, Any]]]:
    """The rules that rows break, each with the counts of its column."""
    rows = {row["column"]: row for row in counted.iter_rows(named=True)}
    for check in checks_of(columns_of(schema), snapshot.schema):
        if (row := rows[check.column.name])[check.measure]:
            yield check, row


def rows_at_fault(
    snapshot: pl.DataFrame, schema: Table, counted: pl.DataFrame, numbers: pl.Series | None = None
) -> pl.DataFrame:
    """Which rows break a rule, for the publisher alone: identifiers are in it.

    `counted` is what `snapshot_faults` counted of them; `numbers` are those of the rows in the source, None
    if these are all.

    Returns
    -------
    polars.DataFrame
        `row` (from 1 on, in the source's order), `identifier` (as text), `column`, `fault` (in words), and
        `row_name` (as text) where people have several rows; the first `LISTED` rows of each column and fault.
    """
    numbered = snapshot.with_row_index("row", offset=1)
    if numbers is not None:
        numbered = numbered.with_columns(numbers.alias("row"))
    names = [ROW_NAME] if ROW_NAME in snapshot.columns else []
    found = [
        numbered.filter(check.breaks)
        .head(LISTED)
        .select(
            pl.col("row").cast(pl.Int64),
            _readable(IDENTIFIER, snapshot.schema),
            pl.lit(check.column.name).alias("column"),
            pl.lit(check.says).alias("fault"),
            *(_readable(name, snapshot.schema) for name in names),
        )
        for check, _ in _broken(snapshot, schema, counted)
    ]
    return pl.concat(found) if found else pl.DataFrame(schema=AT_FAULT)


def _readable(column: str, schema: pl.Schema) -> pl.Expr:
    """Identifiers, or names of rows, as text; null where such a column is not there, or is nested."""
    kind = schema.get(column, pl.Null())
    if kind == pl.Binary:
        return exactly(column).bin.encode("hex")
    is_text = column in schema and not kind.is_nested()
    return exactly(column).cast(pl.String) if is_text else pl.lit(None, pl.String).alias(column)


def _read(column: DeclaredColumn, snapshot: pl.DataFrame) -> pl.Series:
    """A column of a snapshot as the contract has it."""
    return snapshot.select(column.converted(snapshot.schema[column.column]).alias("value"))["value"]


def _as_its_type(column: DeclaredColumn, snapshot: pl.DataFrame) -> str:
    dtype, out = snapshot.schema[column.column], f"{CORRECT} what the contract says of the column"
    if column.written in ("number", "date") and is_text(dtype):
        text = snapshot[column.column].cast(pl.String)
        lines = proposals(text, column.written, NO_VALUES)
        declare = f"if it is a file, write {' or '.join(lines)} under source; else " if lines else ""
        is_whole = column.kind == "whole numbers" and column.role != "sensitive"
        has_decimals = is_whole and (text.cast(pl.Float64, strict=False) % 1 != 0).any()
        hint = "; of numbers with decimals, the domain has some, too: [0.0, 100.0]" if has_decimals else ""
        return f"{declare}{out}{hint}"
    if column.written == "date" and isinstance(dtype, pl.Datetime):
        return f"{_hours(snapshot[column.column])}{out}"
    return out


def _hours(moments: pl.Series) -> str:
    """A hint on moments that are no midnights: all may be midnights of another time zone."""
    of_utc, is_zoned = "of moments with a time zone, midnights of UTC are dates", moments.dtype.time_zone  # type: ignore[attr-defined]
    moments = moments.dt.convert_time_zone("UTC") if is_zoned else moments
    times = moments.drop_nulls().dt.time().alias("time").value_counts(name="people").sort("time")
    # A zone has one hour, and in summer another one.
    if not 1 <= times.height <= SUMMER_AND_WINTER or (times["people"] < SEVERAL).any():
        return f"{of_utc}: " if is_zoned else ""
    hours = " or ".join(f"{time:%H:%M}" for time in times["time"])
    return (
        f"{f'{of_utc}, and ' if is_zoned else ''}all are at {hours}, as midnights of another zone are:"
        " name it under source (zone: Europe/Berlin, say; in a query of duckdb: CAST(… AT TIME ZONE"
        " 'Europe/Berlin' AS DATE)), or "
    )


def _one_each(column: DeclaredColumn, snapshot: pl.DataFrame) -> str:
    """What to do about identifiers that several rows have, some of which may be spelt otherwise."""
    dtype = snapshot.schema[column.column]
    named = snapshot.select(column.values(dtype).alias("identifier")).drop_nulls()
    if many := shared_by_many(named["identifier"]):
        return (
            f"{many:,} rows have one and the same, and no other has nearly as many: if it stands in for"
            f" people whose own is not known, {LEAVE_OUT}; else {NAME_APART[column.role]}"
        )
    if not is_text(dtype):
        return NAME_APART[column.role]
    identifiers = named.unique()
    form = normal_form(pl.col("identifier"))
    alike = identifiers.height - identifiers.select(form.n_unique()).item()
    alone = (
        f"{alike:,} of them differ by spaces, capital letters or signs that nobody sees alone, and are taken"
        " for the same: if they are two people, write one of them otherwise in the source; else "
    )
    return f"{alone if alike else ''}{NAME_APART[column.role]}"


def _none_of_whom(column: DeclaredColumn, snapshot: pl.DataFrame) -> str:
    """The forms of identifiers that are none, with the way out of each."""
    forms = _forms_of_none(column, snapshot.schema[column.column])
    found = snapshot.select(breaks.any().alias(form) for form, breaks in forms.items()).row(0, named=True)
    return ways_out([form for form, is_there in found.items() if is_there])


def _into_the_domain(column: DeclaredColumn, snapshot: pl.DataFrame) -> str:
    out = f"{CORRECT} widen the domain in the contract"
    if column.listed == HIERARCHY:
        out = f"{CORRECT} add them to the hierarchy: a line of its file for each, or a wider domain"
    if not column.labels or column.inside is None:
        return out
    is_inside = column.inside(column.converted(snapshot.schema[column.column]))
    outside = snapshot.filter((~is_inside).fill_null(value=False))
    return f"{_renamed(column, snapshot)}{out}{_to_add(column, outside)}{_close(column, outside)}"


def _renamed(column: DeclaredColumn, snapshot: pl.DataFrame) -> str:
    """A hint if what several people have may be another name, or a part, of a value that nobody has."""
    is_grouped = column.role == "sensitive" and column.listed == HIERARCHY
    if is_grouped or not is_text(snapshot.schema[column.column]):
        return ""
    values = snapshot[column.column].cast(pl.String)
    undeclared = values.filter(~values.is_in(column.labels) & (values != ""))
    unused = set(column.labels) - set(values.unique())
    if len(unused) != 1 or len(undeclared) < SEVERAL:
        return ""
    if undeclared.n_unique() > 1:
        wide = "undo that in the source" if column.role == "sensitive" else "put its parts in its place there"
        return f"nobody has {as_data(unused.pop())}, which the contract lists: if it was split, {wide}; else "
    line = on_a_line({"renamed": {unused.pop(): undeclared[0]}})[1:-1]
    place = "sensitive" if column.column == VALUE else f"sensitive, in the column {column.name}"
    place = place if column.role == "sensitive" else f"the column {column.name}"
    return f"if it is another name of a value that the contract lists, write under {place}: {line}; else "


def _to_add(column: DeclaredColumn, outside: pl.DataFrame) -> str:
    """The labels outside a domain that several people have, as they are to be added."""
    counts = _read(column, outside).value_counts(name="people", sort=True)
    names = counts.filter(pl.col("people") >= SEVERAL)["value"]
    if names.is_empty():
        return ""
    line = on_a_line(sorted(names.head(ADDED).to_list()))[1:-1]
    more = f", and {len(names) - ADDED:,} more" if len(names) > ADDED else ""
    return f"; to add to {column.listed}: {line}{more} ({SEVERAL} people and more have each)"


def _close(column: DeclaredColumn, outside: pl.DataFrame) -> str:
    """The contract's own labels that values outside the domain are close to; no value itself."""
    if not is_text(outside.schema[column.column]):
        return ""
    values = outside[column.column].cast(pl.String).unique().sort().head(COMPARED)
    labels = {label.strip().lower(): label for label in column.labels}
    found = [difflib.get_close_matches(one.strip().lower(), labels, n=1, cutoff=0.75) for one in values]
    close = sorted({labels[label] for label, *_ in filter(None, found)})
    return f"; some are close to {', '.join(close[:5])}: misspelt here or there?" if close else ""


def _missing(name: str, present: Sequence[str], declared: Collection[str], likely: str | None = None) -> str:
    """A sentence on a column that is missing, and its likely name, or all that it may be, in the source."""
    folded = {column.strip().lower(): column for column in present}
    close = difflib.get_close_matches(name.strip().lower(), folded, n=1, cutoff=0.75)
    hint = f"; the source has {folded[close[0]]}, is that the one?" if close else ""
    others = [column for column in present if column not in declared]
    if likely is not None and not close:
        line = on_a_line({"names": {name: likely}})[1:-1]
        hint = f"; of the source's other columns, only {likely} has such values. If that is it, write under"
        hint += f" source, or sources from a release on: {line}"
    elif others and not close and len(others) < len(present):  # else the first line may be a person's
        line, listed = on_a_line({"names": {name: "THAT"}})[1:-1], ", ".join(others[:UNNAMED])
        hint = (
            f"; the contract does not name these of the source: {listed}. If one is it, write under source,"
        )
        hint += f" or sources from a release on: {line}"
    out = "add or rename it in the source, or correct the contract"
    return f"the column {name} is missing: {out}{hint}"
