"""Whether a snapshot is what its contract promises, and its columns as the contract has them.

Counts alone come out of here: no identifier and no value that a person has.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from anonymize.contract import CategoryAttribute, Contract, DateAttribute, QuasiIdentifier, Sensitive

EVIDENCE = {
    "column": pl.String,
    "role": pl.String,
    "rows": pl.Int64,
    "nulls": pl.Int64,
    "duplicates": pl.Int64,
    "wrong_type": pl.Int64,
    "outside_domain": pl.Int64,
}
MEASURES = ("nulls", "duplicates", "wrong_type", "outside_domain")


def snapshot_faults(snapshot: pl.DataFrame, contract: Contract) -> pl.DataFrame:
    """How many of a snapshot's values break each rule of the contract.

    Parameters
    ----------
    snapshot
        As the source holds it, or as `conform` has made it.
    contract
        What it is to be.

    Returns
    -------
    polars.DataFrame
        One row per column of the contract: `column`, `role` (identifier, quasi-identifier, sensitive),
        `rows`, and the counts `nulls` (empty text counts as null), `duplicates` (rows whose identifier
        an earlier row has), `wrong_type` (values that can't be read as the column's type) and
        `outside_domain`. In a column that is missing every row is null.
    """
    rules = _rules(contract)
    present = [rule for rule in rules if rule.column in snapshot.columns]
    counts = snapshot.select(
        pl.struct(**rule.counts(snapshot.schema[rule.column])).alias(rule.column) for rule in present
    ).to_dicts()
    missing = {"nulls": snapshot.height, "duplicates": 0, "wrong_type": 0, "outside_domain": 0}
    counted = {rule.column: missing for rule in rules} | (counts[0] if counts else {})
    return pl.DataFrame(
        [
            {"column": rule.column, "role": rule.role, "rows": snapshot.height} | counted[rule.column]
            for rule in rules
        ],
        schema=EVIDENCE,
    )


def conform(snapshot: pl.DataFrame, contract: Contract) -> pl.DataFrame:
    """The contract's columns in its order and types, of a snapshot without faults.

    Identifiers are text, whole numbers (Int64) or bytes, as the source has them; quasi-identifiers have
    the attribute's own type; the sensitive column is String or Int64.
    """
    return snapshot.select(
        rule.converted(snapshot.schema[rule.column]).alias(rule.column) for rule in _rules(contract)
    )


def describe_faults(snapshot: pl.DataFrame, contract: Contract) -> list[str]:
    """Every fault in a publisher's words: column, count, rule, way out. Empty if there is none."""
    missing = [name for name in contract.columns if name not in snapshot.columns]
    faults = [f"the column {name} is missing: {_OUT['missing']}" for name in missing]
    evidence = snapshot_faults(snapshot, contract)
    for rule, counted in zip(_rules(contract), evidence.rows(named=True), strict=True):
        if rule.column not in missing:
            faults += [
                f"{rule.column}: {counted[measure]:,} of {counted['rows']:,} rows {rule.says(measure)}"
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
}


@dataclass(frozen=True)
class _Rule:
    """What the contract says of one column."""

    column: str
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
        return {
            "nulls": values.null_count(),
            "duplicates": values.count() - values.drop_nulls().n_unique() if is_identifier else nothing,
            "wrong_type": (values.is_not_null() & converted.is_null()).sum(),
            "outside_domain": (~self.inside(converted)).sum() if self.inside else nothing,
        }

    def says(self, measure: str) -> str:
        """What the rows do that break a rule, and the way out."""
        does = {
            "nulls": "have no value",
            "duplicates": "repeat the identifier of another row",
            "wrong_type": f"are not {self.kind}",
            "outside_domain": f"lie outside the domain ({self.domain})",
        }
        return f"{does[measure]}; {_OUT[measure]}"


def _values(column: str, dtype: pl.DataType) -> pl.Expr:
    """A column with empty text as null: a value that is not there, however a source writes it."""
    values = pl.col(column)
    if isinstance(dtype, pl.Categorical | pl.Enum):
        values = values.cast(pl.String)
    return values.replace("", None) if _is_text(dtype) else values


def _rules(contract: Contract) -> list[_Rule]:
    """One rule per column, in the contract's order."""
    identifier = _Rule(
        contract.identifier, "identifier", "text or whole numbers", _as_identifier, pl.String()
    )
    attributes = [_attribute_rule(attribute) for attribute in contract.quasi_identifiers]
    return [identifier, *attributes, _sensitive_rule(contract.sensitive)]


def _attribute_rule(attribute: QuasiIdentifier) -> _Rule:
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
    return _Rule(attribute.name, "quasi-identifier", kind, convert, attribute.dtype, inside, domain)


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
    return _Rule(sensitive.name, "sensitive", kind, convert, dtype, inside, domain)


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
