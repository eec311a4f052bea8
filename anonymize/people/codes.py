"""Quasi-identifiers as numbers: what intervals, widths and distances are computed on.

A number is its own code, a date the days since 1970-01-01, a category its label's position in the
declared order (Xiao and Tao, m-Invariance, SIGMOD 2007, section 2, footnote 1). A missing value has no
code: it is null in tables of codes, widens no interval, and comes before all values.
"""

from __future__ import annotations

import polars as pl

from republish.anonymize.arrays import Floats
from republish.anonymize.contract import CategoryAttribute, DateAttribute, QuasiIdentifier, Table
from republish.anonymize.contract.scalars import MISSING

MIXED = 0.05
"""A group in which some people lack a value, and some do not, is longer by so much of the domain. With 0.2
intervals are 1 % longer, and with 0 groups are mixed where that gains nothing."""


def code_domain(attribute: QuasiIdentifier) -> tuple[float, float]:
    """The lowest and the highest code an attribute's values can have."""
    if isinstance(attribute, CategoryAttribute):
        return 0, len(attribute.labels) - 1
    if isinstance(attribute, DateAttribute):
        low, high = pl.Series(attribute.domain, dtype=pl.Date).cast(pl.Int32).to_list()
        return low, high
    return attribute.domain


def code_dtype(attribute: QuasiIdentifier) -> pl.DataType:
    """Int64 for whole numbers, dates and categories, else Float64."""
    return pl.Int64() if attribute.discrete else pl.Float64()


def encode(values: pl.Expr, attribute: QuasiIdentifier) -> pl.Expr:
    """Codes of values of an attribute's own type; null where one is missing, or a label is unknown."""
    if isinstance(attribute, CategoryAttribute):
        codes = dict(zip(attribute.labels, range(len(attribute.labels)), strict=True))
        return values.replace_strict(codes, default=None, return_dtype=pl.Int64)
    if isinstance(attribute, DateAttribute):
        return values.cast(pl.Int32).cast(pl.Int64)
    return values.cast(code_dtype(attribute))


def decode(codes: pl.Expr, attribute: QuasiIdentifier) -> pl.Expr:
    """Values of an attribute's own type for its codes, a missing one for null: the inverse of `encode`."""
    if isinstance(attribute, CategoryAttribute):
        labels = list(attribute.labels)
        values = codes.replace_strict(range(len(labels)), labels, return_dtype=pl.String)
        return values.fill_null(MISSING) if attribute.publishes_missing else values
    if isinstance(attribute, DateAttribute):
        return codes.cast(pl.Int32).cast(pl.Date)
    return codes.cast(attribute.dtype)


def encode_columns(people: pl.DataFrame, schema: Table) -> pl.DataFrame:
    """The codes of each quasi-identifier, in columns `qi_0`, `qi_1`, … alone."""
    return people.select(encode(pl.col(column), qi).alias(column) for column, qi in schema.attributes())


def as_shares(codes: pl.DataFrame, schema: Table, missing: float) -> Floats:
    """float64[N, d]: quasi-identifiers, given as codes, as shares of their domains, or `missing`."""
    return codes.select(_shares(schema, missing)).to_numpy()


def as_points(codes: pl.DataFrame, schema: Table, missing: float) -> Floats:
    """The same, with one more column for each quasi-identifier that may be missing: whether it is known.

    A number that may be missing is two: its value, and whether there is one, at a distance of `MIXED`. So
    nothing that forms groups of points asks what is missing.
    """
    known = [
        (pl.col(column).is_not_null() * MIXED).alias(f"{column}_known")
        for column, qi in schema.attributes()
        if qi.publishes_missing
    ]
    return codes.select(*_shares(schema, missing), *known).to_numpy()


def _shares(schema: Table, missing: float) -> list[pl.Expr]:
    ends = {column: code_domain(qi) for column, qi in schema.attributes()}
    return [
        ((pl.col(column) - low) / ((high - low) or 1)).cast(pl.Float64).fill_null(missing)
        for column, (low, high) in ends.items()
    ]
