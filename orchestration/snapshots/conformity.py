"""Whether a snapshot is what its contract promises, and its columns as the contract has them.

Counts alone come out of here: no identifier and no value that a person has.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from anonymize.columns import IDENTIFIER, VALUE
from anonymize.contract import CategoryAttribute, DateAttribute, QuasiIdentifier, Sensitive, Table

EVIDENCE = {
    "column": pl.String,
    "role": pl.String,
    "rows": pl.Int64,
    "nulls": pl.Int64,
    "duplicates": pl.Int64,
    "wrong_type": pl.Int64,
    "outside_domain": pl.Int64,
    "misspelt": pl.Int64,
}
MEASURES = ("nulls", "duplicates", "wrong_type", "outside_domain", "misspelt")
NO_VALUE = ("#n/a", "#na", "-nan", "<na>", "n/a", "na", "nan", "nil", "null", "?", "-", "--", ".")
"""What other programs write where there is no value, in small letters."""


def snapshot_faults(snapshot: pl.DataFrame, schema: Table) -> pl.DataFrame:
    """How many of a snapshot's values break each rule of the contract.

    Parameters
    ----------
    snapshot
        As `enter` or `conform` has made it: under our own column names.
    schema
        What it is to be.

    Returns
    -------
    polars.DataFrame
        One row per column of the contract: `column`, `role` (identifier, quasi-identifier or column,
        sensitive), `rows`, and the counts `nulls` (empty text counts as null), `duplicates` (rows whose
        identifier an earlier row has), `wrong_type` (values that can't be read as the column's type),
        `outside_domain` and `misspelt` (where no values are declared: with spaces around them, another
        value's spelling in other letters, or what programs write for no value). In a column that is missing
        every row is null.
    """
    rules = _rules(schema)
    present = [rule for rule in rules if rule.column in snapshot.columns]
    counts = snapshot.select(
        pl.struct(**rule.counts(snapshot.schema[rule.column])).alias(rule.column) for rule in present
    ).to_dicts()
    missing = dict.fromkeys(MEASURES, 0) | {"nulls": snapshot.height}
    counted = {rule.column: missing for rule in rules} | (counts[0] if counts else {})
    return pl.DataFrame(
        [
            {"column": rule.name, "role": rule.role, "rows": snapshot.height} | counted[rule.column]
            for rule in rules
        ],
        schema=EVIDENCE,
    )


def conform(snapshot: pl.DataFrame, schema: Table) -> pl.DataFrame:
    """The schema's columns in its order and types, of a snapshot without faults.

    Identifiers are text, whole numbers (Int64) or bytes, as the source has them; attributes have their own
    type; the sensitive column, if there is one, is String or Int64.
    """
    return snapshot.select(
        rule.converted(snapshot.schema[rule.column]).alias(rule.column) for rule in _rules(schema)
    )


def describe_faults(snapshot: pl.DataFrame, schema: Table) -> list[str]:
    """Every fault in a publisher's words: column, count, rule, way out. Empty if there is none."""
    rules = _rules(schema)
    missing = [rule for rule in rules if rule.column not in snapshot.columns]
    faults = [f"the column {rule.name} is missing: {_OUT['missing']}" for rule in missing]
    evidence = snapshot_faults(snapshot, schema)
    for rule, counted in zip(rules, evidence.rows(named=True), strict=True):
        if rule not in missing:
            faults += [
                f"{rule.name}: {counted[measure]:,} of {counted['rows']:,} rows {rule.says(measure)}"
                for measure in MEASURES
                if counted[measure]
            ]
    return faults


_OUT = {
    "missing": "add or rename it in the source, or correct the contract",
    "nulls": "fill them in the source, or leave these people out",
    "duplicates": "a snapshot has one row for each person",
    "wrong_type": "correct them in the source, or what the contract says of the column",
    "outside_domain": "correct them in the source, or widen the domain in the contract",
    "misspelt": "correct them in the source, or list every value under sensitive.values",
}


@dataclass(frozen=True)
class _Rule:
    """What the contract says of one column."""

    column: str
    """Our name of it."""
    name: str
    """The publisher's name of it."""
    role: str
    kind: str
    """What the values are, in words: `whole numbers`."""
    convert: Callable[[pl.Expr, pl.DataType], pl.Expr | None]
    """The values as the contract has them, null where one can't be; None if none can."""
    dtype: pl.DataType
    inside: Callable[[pl.Expr], pl.Expr] | None = None
    """Which of the converted values lie in the domain; None if all do."""
    domain: str = ""
    """The domain, in words: `0 to 120`."""

    def converted(self, dtype: pl.DataType) -> pl.Expr:
        """The column as the contract has it; null where a value is null or of another type."""
        values = _values(self.column, dtype)
        converted = None if dtype == pl.Null else self.convert(values, dtype)
        if converted is None:
            return pl.when(pl.col(self.column).is_null()).then(pl.lit(None, self.dtype)).otherwise(None)
        return converted

    def counts(self, dtype: pl.DataType) -> dict[str, pl.Expr]:
        """The number of rows that break each rule."""
        values, converted = _values(self.column, dtype), self.converted(dtype)
        nothing = pl.lit(0)
        # An unhashable kind of value (a list, say) is of a wrong type as a whole: nothing to compare.
        is_identifier = self.role == "identifier" and not dtype.is_nested()
        free_text = self.inside is None and _is_text(dtype)
        return {
            "nulls": values.null_count(),
            "duplicates": values.count() - values.drop_nulls().n_unique() if is_identifier else nothing,
            "wrong_type": (values.is_not_null() & converted.is_null()).sum(),
            "outside_domain": (~self.inside(converted)).sum() if self.inside else nothing,
            "misspelt": _misspelt(converted).sum() if self.role == "sensitive" and free_text else nothing,
        }

    def says(self, measure: str) -> str:
        """What the rows do that break a rule, and the way out."""
        does = {
            "nulls": "have no value",
            "duplicates": "repeat the identifier of another row",
            "wrong_type": f"are not {self.kind}",
            "outside_domain": f"lie outside the domain ({self.domain})",
            "misspelt": "have spaces around them, differ from another value by capital letters alone, or"
            " stand for no value (null, n/a)",
        }
        return f"{does[measure]}; {_OUT[measure]}"


def _misspelt(values: pl.Expr) -> pl.Expr:
    """Which values are hardly meant as values of their own."""
    trimmed = values.str.strip_chars()
    folded = trimmed.str.to_lowercase()
    several = values.n_unique().over(folded) > 1
    return ((trimmed != values) | several | folded.is_in(NO_VALUE)).fill_null(value=False)


def _values(column: str, dtype: pl.DataType) -> pl.Expr:
    """A column with empty text as null: a value that is not there, however a source writes it."""
    values = pl.col(column)
    if isinstance(dtype, pl.Categorical | pl.Enum):
        values = values.cast(pl.String)
    return values.replace("", None) if _is_text(dtype) else values


def _rules(schema: Table) -> list[_Rule]:
    """One rule per column, in the contract's order."""
    identifier = _Rule(
        IDENTIFIER, schema.identifier, "identifier", "text or whole numbers", _as_identifier, pl.String()
    )
    attributes = [
        _attribute_rule(column, attribute, schema.ROLE) for column, attribute in schema.attributes()
    ]
    sensitive = [] if schema.sensitive is None else [_sensitive_rule(schema.sensitive)]
    return [identifier, *attributes, *sensitive]


def _attribute_rule(column: str, attribute: QuasiIdentifier, role: str) -> _Rule:
    if isinstance(attribute, CategoryAttribute):
        labels = list(attribute.labels)
        inside, domain = (lambda values: values.is_in(labels)), f"{len(labels)} labels"
    else:
        low, high = attribute.domain
        inside, domain = (lambda values: values.is_between(low, high)), f"{low} to {high}"
    if isinstance(attribute, CategoryAttribute):
        kind, convert = "text", _as_label
    elif isinstance(attribute, DateAttribute):
        kind, convert = "dates (YYYY-MM-DD)", _as_date
    elif attribute.discrete:
        kind, convert = "whole numbers", _as_whole_number
    else:
        kind, convert = "numbers", _as_number
    return _Rule(column, attribute.name, role, kind, convert, attribute.dtype, inside, domain)


def _sensitive_rule(sensitive: Sensitive) -> _Rule:
    values = list(sensitive.values or ())
    inside = (lambda column: column.is_in(values)) if values else None
    domain = f"the {len(values)} values that the contract lists"
    if not values:
        kind, convert, dtype = "text or whole numbers", _as_text_or_whole_number, pl.String()
    elif isinstance(values[0], int):
        kind, convert, dtype = "whole numbers", _as_whole_number, pl.Int64()
    else:
        kind, convert, dtype = "text", _as_label, pl.String()
    return _Rule(VALUE, sensitive.name, "sensitive", kind, convert, dtype, inside, domain)


def _as_identifier(values: pl.Expr, dtype: pl.DataType) -> pl.Expr | None:
    """Text and bytes as they are, whole numbers as Int64, or as text where they may be wider than that."""
    if _is_text(dtype) or dtype == pl.Binary:
        return values
    is_wide = dtype in (pl.UInt64, pl.Int128, pl.UInt128) or (
        isinstance(dtype, pl.Decimal) and dtype.scale == 0
    )
    if is_wide:
        return values.cast(pl.String)
    return values.cast(pl.Int64) if dtype.is_integer() else None


def _as_text_or_whole_number(values: pl.Expr, dtype: pl.DataType) -> pl.Expr | None:
    return values if _is_text(dtype) else _as_whole_number(values, dtype)


def _as_label(values: pl.Expr, dtype: pl.DataType) -> pl.Expr | None:
    """Text, and whole numbers and truth values as they are written."""
    if _is_text(dtype):
        return values
    return values.cast(pl.String) if dtype.is_integer() or dtype == pl.Boolean else None


def _as_whole_number(values: pl.Expr, dtype: pl.DataType) -> pl.Expr | None:
    """Whole numbers, also those written with decimals (39.0)."""
    if dtype.is_integer():
        return values.cast(pl.Int64, strict=False)
    number = _as_number(values, dtype)
    if number is None:
        return None
    is_whole = (number == number.floor()) & (number.abs() < 2**53)
    whole = pl.when(is_whole).then(number).cast(pl.Int64, strict=False)
    return pl.coalesce(values.cast(pl.Int64, strict=False), whole) if _is_text(dtype) else whole


def _as_number(values: pl.Expr, dtype: pl.DataType) -> pl.Expr | None:
    if not (dtype.is_numeric() or _is_text(dtype)):
        return None
    return values.cast(pl.Float64, strict=False).fill_nan(None)


def _as_date(values: pl.Expr, dtype: pl.DataType) -> pl.Expr | None:
    """Dates, midnights, and text YYYY-MM-DD."""
    if dtype == pl.Date:
        return values
    if isinstance(dtype, pl.Datetime):
        return pl.when(values.dt.time() == dt.time()).then(values.dt.date())
    if _is_text(dtype):
        is_iso = values.str.contains(r"^\d{4}-\d{2}-\d{2}$")
        return pl.when(is_iso).then(values).str.to_date("%Y-%m-%d", strict=False)
    return None


def _is_text(dtype: pl.DataType) -> bool:
    return isinstance(dtype, pl.String | pl.Categorical | pl.Enum)
