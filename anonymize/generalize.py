"""From groups to published tables: intervals, minimum widths, canonical order."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from anonymize.codes import code_domain, decode
from anonymize.contract import Contract, QuasiIdentifier


@dataclass(frozen=True)
class Generalization:
    """T*(n) and R(n), ready to be published, and the key from groups to published group ids."""

    microdata: pl.DataFrame
    """`group_id`, `<qi>_low`, `<qi>_high` …, `<sensitive>`; sorted by all columns."""
    counterfeits: pl.DataFrame
    """R(n): `group_id`, `count`, for the groups that have counterfeits."""
    group_ids: pl.DataFrame
    """`group` (as given), `group_id` (as published)."""


def generalize(tuples: pl.DataFrame, contract: Contract) -> Generalization:
    """Publish each group's tuples under the smallest intervals that cover its people.

    Parameters
    ----------
    tuples
        One row per tuple: `group`, the quasi-identifiers' codes (null for counterfeits), the sensitive
        value, `counterfeit` (bool). Every group has a person.
    contract
        Its quasi-identifiers, minimum widths and sensitive attribute.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, Definitions 2 and 3; minimum widths: section 4.1.
    """
    attributes, sensitive = contract.quasi_identifiers, contract.sensitive.name
    groups = (
        tuples.lazy()
        .group_by("group")
        .agg(
            *(pl.col(qi.name).min().alias(f"{qi.name}_low") for qi in attributes),
            *(pl.col(qi.name).max().alias(f"{qi.name}_high") for qi in attributes),
            pl.col("counterfeit").sum().cast(pl.Int64).alias("count"),
            pl.col(sensitive).sort().alias("signature"),
        )
        .select(
            "group",
            *(column for qi in attributes for column in published_interval(qi)),
            "signature",
            "count",
        )
        .collect()
    )
    # Sorted by all that is published of them, groups carry no trace of buckets, rows or counterfeits.
    groups = _in_order_of_content(groups).with_row_index("group_id", offset=1)
    groups = groups.with_columns(pl.col("group_id").cast(pl.Int64))
    intervals = [f"{qi.name}_{end}" for qi in attributes for end in ("low", "high")]
    return Generalization(
        microdata=groups.select("group_id", *intervals, pl.col("signature").alias(sensitive)).explode(
            sensitive
        ),
        counterfeits=groups.filter(pl.col("count") > 0).select("group_id", "count"),
        group_ids=groups.select("group", "group_id"),
    )


def published_interval(attribute: QuasiIdentifier) -> tuple[pl.Expr, pl.Expr]:
    """`<qi>_low` and `<qi>_high` as values, from code intervals of the same names, widened if narrow.

    An interval narrower than `min_width` is widened to whole cells of a grid of that width anchored at
    the domain's lower end: a window placed around the value itself would give the value away.
    """
    low, high = pl.col(f"{attribute.name}_low"), pl.col(f"{attribute.name}_high")
    width = attribute.min_width
    if width:
        narrow = high - low + int(attribute.discrete) < width
        cells = (_cell_low(low, attribute), _cell_high(high, attribute))
        low, high = (
            pl.when(narrow).then(cell).otherwise(end) for cell, end in zip(cells, (low, high), strict=True)
        )
    return (
        decode(low, attribute).alias(f"{attribute.name}_low"),
        decode(high, attribute).alias(f"{attribute.name}_high"),
    )


def _cell(code: pl.Expr, attribute: QuasiIdentifier) -> tuple[pl.Expr, int]:
    """The grid cell a code lies in, and the number of cells; the last one takes what is left over."""
    lowest, highest = code_domain(attribute)
    cells = max(1, int((highest - lowest + int(attribute.discrete)) // attribute.min_width))
    return ((code - lowest) // attribute.min_width).clip(0, cells - 1), cells


def _cell_low(code: pl.Expr, attribute: QuasiIdentifier) -> pl.Expr:
    lowest, _ = code_domain(attribute)
    cell, _ = _cell(code, attribute)
    # The second term of the minimum is for fractions alone, where a product may round to above the code.
    return pl.min_horizontal(cell * attribute.min_width + lowest, code)


def _cell_high(code: pl.Expr, attribute: QuasiIdentifier) -> pl.Expr:
    lowest, highest = code_domain(attribute)
    cell, cells = _cell(code, attribute)
    end = (cell + 1) * attribute.min_width + lowest - int(attribute.discrete)
    return pl.when(cell == cells - 1).then(highest).otherwise(pl.max_horizontal(end, code))


def _in_order_of_content(groups: pl.DataFrame) -> pl.DataFrame:
    """Groups sorted by intervals, signature and count of counterfeits, each in its type's own order."""
    values = groups["signature"].explode().unique().sort()
    digits = len(str(len(values)))
    rank = pl.element().replace_strict(values, range(len(values)), return_dtype=pl.Int64)
    as_text = rank.cast(pl.String).str.zfill(digits)
    content = [column for column in groups.columns if column not in ("group", "signature", "count")]
    return (
        groups.with_columns(pl.col("signature").list.eval(as_text).list.join("").alias("key"))
        .sort(*content, "key", "count", maintain_order=True)
        .drop("key")
    )
