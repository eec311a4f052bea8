"""Quasi-identifiers as numbers: what intervals, widths and distances are computed on.

A number is its own code, a date the days since 1970-01-01, a category its label's position in the
declared order (Xiao and Tao, m-Invariance, SIGMOD 2007, section 2, footnote 1). Where missing values are
published, a missing value has a code below all others, which no interval of values covers.
"""

from __future__ import annotations

import polars as pl

from republish.anonymize.contract import CategoryAttribute, DateAttribute, QuasiIdentifier, Table
from republish.anonymize.contract.scalars import MISSING

MISSING_CODE = -(2**54)
"""The code of a missing value, where such are published: below all values, and exact as a fraction."""


def code_domain(attribute: QuasiIdentifier) -> tuple[float, float]:
    """The lowest and the highest code an attribute's values can have; that of a missing one is outside."""
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
    """Codes of values of an attribute's own type; null where a label is unknown.

    Null is the code of a missing value, too, unless missing values are published.
    """
    if isinstance(attribute, CategoryAttribute):
        codes = dict(zip(attribute.labels, range(len(attribute.labels)), strict=True))
        if attribute.publishes_missing:
            codes.setdefault(MISSING, MISSING_CODE)
            values = values.fill_null(MISSING)
        return values.replace_strict(codes, default=None, return_dtype=pl.Int64)
    if isinstance(attribute, DateAttribute):
        coded = values.cast(pl.Int32).cast(pl.Int64)
    else:
        coded = values.cast(code_dtype(attribute))
    if attribute.publishes_missing:
        coded = coded.fill_null(pl.lit(MISSING_CODE, code_dtype(attribute)))
    return coded


def decode(codes: pl.Expr, attribute: QuasiIdentifier) -> pl.Expr:
    """Values of an attribute's own type for its codes: the inverse of `encode`.

    The code of a missing value, and one that is null, become a missing value.
    """
    if isinstance(attribute, CategoryAttribute):
        labels = list(attribute.labels)
        if attribute.publishes_missing:
            known = codes.replace_strict(range(len(labels)), labels, default=MISSING, return_dtype=pl.String)
            return known.fill_null(MISSING)
        return codes.replace_strict(range(len(labels)), labels, return_dtype=pl.String)
    if attribute.publishes_missing:
        codes = pl.when(codes != MISSING_CODE).then(codes)
    if isinstance(attribute, DateAttribute):
        return codes.cast(pl.Int32).cast(pl.Date)
    return codes.cast(attribute.dtype)


def encode_columns(people: pl.DataFrame, schema: Table) -> pl.DataFrame:
    """The codes of each quasi-identifier, in columns `qi_0`, `qi_1`, … alone."""
    return people.select(encode(pl.col(column), qi).alias(column) for column, qi in schema.attributes())
