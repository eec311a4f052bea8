"""Generalization: a group is published as one interval for each quasi-identifier, and its values."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import polars as pl

from republish.anonymize.arrays import Bools, Ints
from republish.anonymize.columns import VALUE
from republish.anonymize.contract import CategoryAttribute, QuasiIdentifier, Schema
from republish.anonymize.formats.format import COUNTERFEITS, Format, PublishedColumn, Tables
from republish.anonymize.formats.published import GROUP, Published, stated_counterfeits
from republish.anonymize.people.codes import code_domain, decode, encode
from republish.anonymize.people.rows import counted_in
from republish.anonymize.plot import Chart, ShareChart, Steps

MICRODATA = "microdata"
"""The main table: a row for each tuple."""
NAMED = 10
"""Columns that a chart names, those with the widest intervals."""
SHOWN = 300
"""Widths of a column that a chart shows, at most."""


@dataclass(frozen=True)
class Generalization:
    """T*(n) and R(n), ready to be published, and which published group each tuple is in."""

    tables: dict[str, pl.DataFrame]
    """`microdata` (`group_id`, `<qi>_low`, `<qi>_high` …, the sensitive column; sorted by all columns) and
    `counterfeits` (R(n): `group_id`, `count`, for the groups that have counterfeits). Where missing values
    are published, `<qi>_missing` says how many of the group's people have none."""
    group_id: Ints
    """int64[N]: the published group of each tuple."""


def generalize(
    codes: pl.DataFrame, values: pl.Series, group: Ints, counterfeit: Bools, schema: Schema
) -> Generalization:
    """Publish each group's tuples under the smallest intervals that cover its people.

    An interval covers the values that are known. It has no ends where all are missing.

    Parameters
    ----------
    codes
        N tuples' quasi-identifiers `qi_0`, … as codes (`encode_columns`), null for counterfeits.
    values
        Their sensitive values.
    group
        int[N]: their groups, 0, 1, …; every group has a person.
    counterfeit
        bool[N]: which of them nobody stands behind.
    schema
        The quasi-identifiers with their minimum widths, and the sensitive attribute.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, Definitions 2 and 3; minimum widths: section 4.1.
    """
    values = schema.sensitive.published(values)
    groups = _in_order_of_content(_summarize(codes, values, group, counterfeit, schema))
    groups = groups.with_columns(pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("group_id"))
    return Generalization(
        tables=GENERALIZATION.published(_of_groups(groups, schema), schema),
        group_id=groups.sort("group")["group_id"].to_numpy()[group],
    )


def _summarize(
    codes: pl.DataFrame, values: pl.Series, group: np.ndarray, counterfeit: np.ndarray, schema: Schema
) -> pl.DataFrame:
    """One row per group: `group`, `qi_0_low`, `qi_0_high` … as published, `value` (a list), `count`."""
    columns = [column for column, _ in schema.attributes()]
    ends = [end for column, qi in schema.attributes() for end in published_interval(column, qi)]
    missing = [column for column, qi in schema.attributes() if qi.publishes_missing]
    tuples = codes.select(columns).with_columns(
        pl.Series("group", group), values.alias(VALUE), pl.Series("counterfeit", counterfeit)
    )
    return (
        tuples.lazy()
        .group_by("group")
        .agg(
            pl.col(columns).min().name.suffix("_low"),
            pl.col(columns).max().name.suffix("_high"),
            (pl.col(missing).is_null() & ~pl.col("counterfeit")).sum().cast(pl.Int64).name.suffix("_missing"),
            pl.col(VALUE).sort(),
            pl.col("counterfeit").sum().cast(pl.Int64).alias("count"),
        )
        .with_columns(ends)
        .select("group", *_published_columns(schema), VALUE, "count")
        .collect()
    )


def published_interval(column: str, attribute: QuasiIdentifier) -> tuple[pl.Expr, pl.Expr]:
    """`<column>_low` and `<column>_high` as values, from code intervals of the same names.

    Ends that are null, because nobody's value is known, are missing values.

    With `min_width`, an interval becomes the whole cells that it touches, however long it is: those of a grid
    of that width anchored at the domain's lower end, or of a category's hierarchy (`cells_of`). An
    end that is a person's own value gives away who is in the group, and a window placed around the value
    itself would give the value away.
    """
    low, high = pl.col(f"{column}_low"), pl.col(f"{column}_high")
    if isinstance(attribute, CategoryAttribute) and attribute.cells is not None:
        low, high = _ends_of_cells(low, high, attribute.cells, len(attribute.labels))
    elif attribute.min_width:
        low, high = _cell_low(low, attribute), _cell_high(high, attribute)
    return (
        decode(low, attribute).alias(f"{column}_low"),
        decode(high, attribute).alias(f"{column}_high"),
    )


def _ends_of_cells(
    low: pl.Expr, high: pl.Expr, cells: tuple[int, ...], labels: int
) -> tuple[pl.Expr, pl.Expr]:
    """The first code of the cell that `low` is in, and the last one of that of `high`; null for null."""
    lines, codes = np.array([*cells, labels]), np.arange(labels)
    cell = np.searchsorted(lines, codes, side="right")
    return (
        low.replace_strict(codes, lines[cell - 1], return_dtype=pl.Int64),
        high.replace_strict(codes, lines[cell] - 1, return_dtype=pl.Int64),
    )


def _cell_low(code: pl.Expr, attribute: QuasiIdentifier) -> pl.Expr:
    cell = _cell(code, attribute)
    if not attribute.discrete:  # a quotient may be rounded up to the next whole number
        cell -= (_line(cell, attribute) > code).cast(pl.Int64)
    return _line(cell, attribute)


def _cell_high(code: pl.Expr, attribute: QuasiIdentifier) -> pl.Expr:
    _, highest = code_domain(attribute)
    _, cells = _grid(attribute)
    above = _cell(code, attribute) + 1
    if not attribute.discrete:  # or down to the one before
        above += (_line(above, attribute) < code).cast(pl.Int64)
    end = _line(above, attribute) - int(attribute.discrete)
    return pl.when(above >= cells).then(highest).otherwise(end)


def _cell(code: pl.Expr, attribute: QuasiIdentifier) -> pl.Expr:
    lowest, _ = code_domain(attribute)
    width, cells = _grid(attribute)
    return ((code - lowest) // width).clip(0, cells - 1)


def _line(cell: pl.Expr, attribute: QuasiIdentifier) -> pl.Expr:
    """The code at which a cell begins."""
    lowest, _ = code_domain(attribute)
    width, _ = _grid(attribute)
    return cell * width + lowest


def _grid(attribute: QuasiIdentifier) -> tuple[float, int]:
    """The width of the grid's cells, and how many there are; the last one takes what is left over.

    Cells of fractions are wider by a rounding error where lines are rounded: 1.0 - 0.9 is less than 0.1.
    """
    lowest, highest = code_domain(attribute)
    width = attribute.min_width
    furthest = max(abs(lowest), abs(highest))
    if not attribute.discrete and furthest > 2**53 / max(_denominator(lowest), _denominator(width)):
        width += 4 * sys.float_info.epsilon * furthest
    return width, max(1, int((highest - lowest + int(attribute.discrete)) // width))


def _denominator(number: float) -> int:
    return float(number).as_integer_ratio()[1]


def _in_order_of_content(groups: pl.DataFrame) -> pl.DataFrame:
    """Groups sorted by intervals, signature and count of counterfeits, each in its type's own order.

    Sorted by all that is published of them, groups carry no trace of buckets, rows or counterfeits.
    """
    values = groups[VALUE].explode().unique().sort()
    digits = len(str(len(values)))
    rank = pl.element().replace_strict(values, range(len(values)), return_dtype=pl.Int64)
    as_text = rank.cast(pl.String).str.zfill(digits)
    intervals = [column for column in groups.columns if column not in ("group", VALUE, "count")]
    return (
        groups.with_columns(pl.col(VALUE).list.eval(as_text).list.join("").alias("key"))
        .sort(*intervals, "key", "count", "group")
        .drop("key")
    )


def _as_groups(tables: Tables, schema: Schema) -> pl.DataFrame:
    """`group_id`, `qi_0_low`, `qi_0_high`, …, `value` (a list), `count` (of counterfeits)."""
    key = ["group_id", *_published_columns(schema)]
    groups = tables[MICRODATA].group_by(key, maintain_order=True).agg(VALUE)
    return groups.join(tables["counterfeits"], on="group_id", how="left").with_columns(
        pl.col("count").fill_null(0)
    )


def _of_groups(groups: pl.DataFrame, _schema: Schema) -> Tables:
    return {MICRODATA: groups.explode(VALUE), "counterfeits": groups.filter(pl.col("count") > 0)}


def _published_columns(schema: Schema) -> list[str]:
    return [name for column, qi in schema.attributes() for name in published_names(column, qi)]


def published_names(column: str, attribute: QuasiIdentifier) -> list[str]:
    """Our names of the columns that a quasi-identifier is published in."""
    return [f"{column}_{part}" for part in _parts(attribute, "people")]


def _parts(attribute: QuasiIdentifier, counted: str) -> dict[str, str]:
    """What is published of a quasi-identifier, and what it says; `counted` as `counted_in` has it."""
    name = attribute.name
    parts = {
        "low": f"lowest {name} in the group",
        "high": f"highest {name} in the group",
    }
    if attribute.min_width > int(attribute.discrete):
        parts = {
            "low": f"lowest {name} in the group, rounded down to the end of a cell of min_width",
            "high": f"highest {name} in the group, rounded up to the end of a cell of min_width",
        }
    if attribute.publishes_missing:
        people = f"how many people of the group have no {name}"
        rows = f"how many rows of the group have no {name}"
        parts["missing"] = rows if counted == "rows" else people
    return parts


def _columns(schema: Schema) -> dict[str, list[PublishedColumn]]:
    ends = [
        PublishedColumn(
            f"{column}_{part}",
            f"{qi.name}_{part}",
            "Int64" if part == "missing" else str(qi.dtype),
            words,
            column,
        )
        for column, qi in schema.attributes()
        for part, words in _parts(qi, counted_in(schema)).items()
    ]
    group = PublishedColumn("group_id", "group_id", "Int64", "the group; groups are numbered by content")
    values = [
        PublishedColumn(
            column,
            one.name,
            one.dtype,
            "of somebody in the group, or a counterfeit",
            column,
        )
        for column, one in schema.sensitive_columns()
    ]
    return {MICRODATA: [group, *ends, *values], "counterfeits": COUNTERFEITS}


def _read(tables: Tables, schema: Schema) -> Published:
    """A generalized table and its R(n): a box for each group.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, Definitions 2 and 3.
    """
    bounds = []
    for column, qi in schema.attributes():
        bounds += [encode(pl.col(f"{column}_{end}"), qi).alias(f"{column}_{end}") for end in ("low", "high")]
        if qi.publishes_missing:
            bounds.append(pl.col(f"{column}_missing").cast(pl.Int64))
    microdata = tables[MICRODATA]
    # Rows that are alike are mostly next to each other: to find these first takes a third of the time.
    is_other = pl.any_horizontal(pl.all().ne_missing(pl.all().shift()))
    held = microdata.select(GROUP, VALUE).sort("group_id", VALUE)
    runs = held.select(pl.struct("group_id", VALUE).rle().alias("run")).unnest("run")
    return Published(
        boxes=microdata.select(GROUP, *bounds).filter(is_other).unique(maintain_order=True),
        values=runs.unnest("value").select("group_id", VALUE, tuples=pl.col("len").cast(pl.Int64)),
        counterfeits=stated_counterfeits(tables),
    )


def _plots(tables: Tables, schema: Schema) -> list[Chart]:
    """A chart of the widths of published intervals: the share of groups whose interval is at most so wide."""
    groups = tables[MICRODATA].unique("group_id", keep="first")
    shares = {qi.name: groups.select(_share(column, qi)).to_series() for column, qi in schema.attributes()}
    widest_first = sorted(shares.items(), key=lambda one: -float(one[1].sum()))
    lines = tuple(
        Steps(_up_to(covered), name if at < NAMED else None)
        for at, (name, covered) in enumerate(widest_first)
    )
    others = f"{len(shares) - NAMED} others, narrower" if len(shares) > NAMED else ""
    axes = "share of the domain an interval covers", "share of groups"
    return [ShareChart("interval widths", *axes, lines, others)]


def _up_to(covered: pl.Series) -> tuple[tuple[float, float], ...]:
    """For widths of as many groups as are shown, the share of groups whose interval is at most so wide."""
    ordered = covered.sort().to_numpy()
    widths = np.unique(ordered[np.linspace(0, max(0, len(ordered) - 1), min(len(ordered), SHOWN), dtype=int)])
    shares = np.searchsorted(ordered, widths, side="right") / max(1, len(ordered))
    return tuple(zip(widths.tolist(), shares.tolist(), strict=True))


def _figures(tables: Tables, schema: Schema) -> dict[str, float]:
    """The mean interval width of each quasi-identifier: values covered, or a length (fractions)."""
    groups = tables[MICRODATA].unique("group_id", keep="first")
    widths = groups.select(_width(column, qi).mean().alias(column) for column, qi in schema.attributes())
    return {f"mean width of {_with_unit(qi)}": widths[column][0] or 0.0 for column, qi in schema.attributes()}


def _with_unit(attribute: QuasiIdentifier) -> str:
    """An attribute's name, and the unit of its intervals' widths."""
    usual = {"date": "days", "category": "labels"}.get(
        attribute.kind, "values" if attribute.discrete else None
    )
    unit = attribute.unit or usual
    return f"{attribute.name} ({unit})" if unit else attribute.name


def _width(column: str, attribute: QuasiIdentifier) -> pl.Expr:
    """The number of values that a published interval covers, or the length of one of fractions."""
    low, high = (encode(pl.col(f"{column}_{end}"), attribute) for end in ("low", "high"))
    return (high - low).fill_null(0) + int(attribute.discrete)


def _share(column: str, attribute: QuasiIdentifier) -> pl.Expr:
    """The share of an attribute's domain that a published interval covers."""
    lowest, highest = code_domain(attribute)
    return _width(column, attribute) / max(highest - lowest + int(attribute.discrete), 1e-300)


GENERALIZATION = Format(
    name="generalization",
    columns=_columns,
    read=_read,
    counterfeit_key=lambda _schema: [VALUE],
    plots=_plots,
    figures=_figures,
    as_groups=_as_groups,
    of_groups=_of_groups,
)
