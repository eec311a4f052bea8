"""From groups to published tables: intervals, minimum widths, canonical order."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import polars as pl

from anonymize.codes import code_domain, decode
from anonymize.contract import Contract, QuasiIdentifier


@dataclass(frozen=True)
class Generalization:
    """T*(n) and R(n), ready to be published, and which published group each tuple is in."""

    microdata: pl.DataFrame
    """`group_id`, `<qi>_low`, `<qi>_high` …, `<sensitive>`; sorted by all columns."""
    counterfeits: pl.DataFrame
    """R(n): `group_id`, `count`, for the groups that have counterfeits."""
    group_id: np.ndarray
    """int64[N]: the published group of each tuple."""


def generalize(
    codes: pl.DataFrame, values: pl.Series, group: np.ndarray, counterfeit: np.ndarray, contract: Contract
) -> Generalization:
    """Publish each group's tuples under the smallest intervals that cover its people.

    Parameters
    ----------
    codes
        N tuples' quasi-identifiers as codes (`encode_columns`), null for counterfeits.
    values
        Their sensitive values.
    group
        int[N]: their groups, 0, 1, …; every group has a person.
    counterfeit
        bool[N]: which of them nobody stands behind.
    contract
        Its quasi-identifiers, minimum widths and sensitive attribute.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, Definitions 2 and 3; minimum widths: section 4.1.
    """
    attributes = contract.quasi_identifiers
    groups = _in_order_of_content(_summarize(codes, values, group, counterfeit, contract))
    groups = groups.with_columns(pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("group_id"))
    intervals = [f"{qi.name}_{end}" for qi in attributes for end in ("low", "high")]
    signatures = pl.col("signature").alias(contract.sensitive.name)
    return Generalization(
        microdata=groups.select("group_id", *intervals, signatures).explode(contract.sensitive.name),
        counterfeits=groups.filter(pl.col("count") > 0).select("group_id", "count"),
        group_id=groups.sort("group")["group_id"].to_numpy()[group],
    )


def _summarize(
    codes: pl.DataFrame, values: pl.Series, group: np.ndarray, counterfeit: np.ndarray, contract: Contract
) -> pl.DataFrame:
    """One row per group: `group`, `<qi>_low`, `<qi>_high` … as published, `signature`, `count`."""
    attributes = contract.quasi_identifiers
    # No column is called as the contract says, before its intervals: any name might be one of ours.
    tuples = codes.select(pl.col(qi.name).alias(f"{qi.name}_code") for qi in attributes).with_columns(
        pl.Series("group", group), values.alias("value"), pl.Series("counterfeit", counterfeit)
    )
    return (
        tuples.lazy()
        .group_by("group")
        .agg(
            *(pl.col(f"{qi.name}_code").min().alias(f"{qi.name}_low") for qi in attributes),
            *(pl.col(f"{qi.name}_code").max().alias(f"{qi.name}_high") for qi in attributes),
            pl.col("value").sort().alias("signature"),
            pl.col("counterfeit").sum().cast(pl.Int64).alias("count"),
        )
        .select(
            "group",
            *(column for qi in attributes for column in published_interval(qi)),
            "signature",
            "count",
        )
        .collect()
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


def _cell_low(code: pl.Expr, attribute: QuasiIdentifier) -> pl.Expr:
    lowest, _ = code_domain(attribute)
    width, cells = _grid(attribute)
    # The second term of the minimum is for fractions alone, where a product may round to above the code.
    return pl.min_horizontal(_cell(code, lowest, width, cells) * width + lowest, code)


def _cell_high(code: pl.Expr, attribute: QuasiIdentifier) -> pl.Expr:
    lowest, highest = code_domain(attribute)
    width, cells = _grid(attribute)
    cell = _cell(code, lowest, width, cells)
    end = (cell + 1) * width + lowest - int(attribute.discrete)
    return pl.when(cell == cells - 1).then(highest).otherwise(pl.max_horizontal(end, code))


def _cell(code: pl.Expr, lowest: float, width: float, cells: int) -> pl.Expr:
    return ((code - lowest) // width).clip(0, cells - 1)


def _grid(attribute: QuasiIdentifier) -> tuple[float, int]:
    """The width of the grid's cells, and how many there are; the last one takes what is left over.

    Cells of fractions are wider by a rounding error: 1.0 - 0.9 is less than 0.1.
    """
    lowest, highest = code_domain(attribute)
    width = attribute.min_width
    if not attribute.discrete:
        width += 4 * sys.float_info.epsilon * max(abs(lowest), abs(highest))
    return width, max(1, int((highest - lowest + int(attribute.discrete)) // width))


def _in_order_of_content(groups: pl.DataFrame) -> pl.DataFrame:
    """Groups sorted by intervals, signature and count of counterfeits, each in its type's own order.

    Sorted by all that is published of them, groups carry no trace of buckets, rows or counterfeits.
    """
    values = groups["signature"].explode().unique().sort()
    digits = len(str(len(values)))
    rank = pl.element().replace_strict(values, range(len(values)), return_dtype=pl.Int64)
    as_text = rank.cast(pl.String).str.zfill(digits)
    intervals = [column for column in groups.columns if column not in ("group", "signature", "count")]
    return (
        groups.with_columns(pl.col("signature").list.eval(as_text).list.join("").alias("key"))
        .sort(*intervals, "key", "count", "group")
        .drop("key")
    )
