"""Anatomy: exact quasi-identifiers and values in two tables that share nothing but group ids.

Xiao and Tao, Anatomy, VLDB 2006; He, Barman and Naughton, ICDE 2011, section IV-A.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from republish.anonymize.arrays import Bools, Ints
from republish.anonymize.columns import VALUE
from republish.anonymize.contract import Schema
from republish.anonymize.formats.format import COUNTERFEITS, Format, PublishedColumn, Tables
from republish.anonymize.formats.published import GROUP, Published, stated_counterfeits
from republish.anonymize.people.codes import encode

QUASI_IDENTIFIERS = "quasi_identifiers"
"""The main table: a row for each tuple."""
SENSITIVE = "sensitive"
"""The values of each group, with how often the group has them."""


@dataclass(frozen=True)
class Anatomy:
    """T*(n) as two tables, and R(n), ready to be published, and which published group each tuple is in."""

    tables: dict[str, pl.DataFrame]
    """`quasi_identifiers` (`group_id`, `<qi>` …: one row per tuple), `sensitive` (`group_id`, `<sensitive>`,
    `count`) and `counterfeits` (R(n): `group_id`, `count`); each sorted by all columns."""
    group_id: Ints
    """int64[N]: the published group of each tuple."""


def anatomize(
    quasi_identifiers: pl.DataFrame,
    values: pl.Series,
    group: Ints,
    counterfeit: Bools,
    schema: Schema,
) -> Anatomy:
    """Publish each group's quasi-identifiers and its values apart.

    Rows are sorted by their content and groups numbered by theirs, so that neither order says who has
    which value, who is a counterfeit, or which group was which in the release before.

    Parameters
    ----------
    quasi_identifiers
        N tuples in columns `qi_0`, …, people and counterfeits alike.
    values
        Their sensitive values.
    group
        int[N]: their groups, 0, 1, ….
    counterfeit
        bool[N]: which of them nobody stands behind.
    schema
        The quasi-identifiers and the sensitive attribute.
    """
    values, qis = schema.sensitive.published(values), [column for column, _ in schema.attributes()]
    tuples = quasi_identifiers.select(qis).with_columns(
        pl.Series("group", group), values.alias(VALUE), pl.Series("counterfeit", counterfeit)
    )
    counts = tuples.group_by("group", VALUE).agg(pl.len().cast(pl.Int64).alias("count"))
    stated = tuples.group_by("group").agg(pl.col("counterfeit").sum().cast(pl.Int64).alias("count"))
    numbers = _numbered_by_content(tuples.select("group", *qis), counts, stated)
    numbered = tuples.join(numbers, on="group", maintain_order="left")
    tables = {
        QUASI_IDENTIFIERS: numbered.sort("group_id", *qis),
        SENSITIVE: counts.join(numbers, on="group").sort("group_id", VALUE),
        "counterfeits": stated.filter(pl.col("count") > 0).join(numbers, on="group").sort("group_id"),
    }
    return Anatomy(tables=ANATOMY.published(tables, schema), group_id=numbered["group_id"].to_numpy())


def _numbered_by_content(tuples: pl.DataFrame, counts: pl.DataFrame, stated: pl.DataFrame) -> pl.DataFrame:
    """`group`, `group_id`: groups in the order of their first row, then of the values they hold.

    Groups that are alike in both follow the number of their counterfeits, then the order of all their rows.
    Those that are alike in everything are the same to a reader.
    """
    qis = [name for name in tuples.columns if name != "group"]
    rows = tuples.sort(qis).with_columns(row=pl.struct(qis).rle_id())
    signatures = counts.sort(VALUE).group_by("group", maintain_order=True).agg(pl.col(VALUE))
    values = counts[VALUE].unique().sort()
    rank = pl.element().replace_strict(values, range(len(values)), return_dtype=pl.Int64).cast(pl.String)
    held = pl.col(VALUE).list.eval(rank.str.zfill(len(str(len(values))))).list.join("").alias("held")
    groups = (
        rows.group_by("group").agg(pl.col("row").min()).join(signatures.select("group", held), on="group")
    )
    alike = groups.filter(pl.struct("row", "held").is_duplicated()).select("group")
    width = len(str(rows.height))
    all_rows = (
        rows.join(alike, on="group", how="semi", maintain_order="left")
        .group_by("group", maintain_order=True)
        .agg(pl.col("row").cast(pl.String).str.zfill(width))
        .select("group", pl.col("row").list.join("").alias("all_rows"))
    )
    return (
        groups.join(all_rows, on="group", how="left")
        .join(stated, on="group")
        .sort("row", "held", "count", "all_rows")
        .select("group", pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("group_id"))
    )


FIRST, HELD, STATED, ROWS, TIMES = "first", "held", "count", "rows", "times"
"""What groups are ordered by, as in `_numbered_by_content`: their first row of quasi-identifiers, the values
that they hold, their counterfeits, all rows, and how many times they hold each value."""


def _as_groups(tables: Tables, schema: Schema) -> pl.DataFrame:
    """`group_id`, and what groups are ordered by."""
    row = pl.struct(column for column, _ in schema.attributes())
    rows = tables[QUASI_IDENTIFIERS].group_by("group_id", maintain_order=True)
    values = tables[SENSITIVE].group_by("group_id", maintain_order=True)
    counts = pl.col("count")
    return (
        rows.agg(row.first().alias(FIRST), row.alias(ROWS))
        .join(values.agg(pl.col(VALUE).alias(HELD), counts.alias(TIMES)), on="group_id")
        .join(tables["counterfeits"].select("group_id", counts.alias(STATED)), on="group_id", how="left")
        .select("group_id", FIRST, HELD, pl.col(STATED).fill_null(0), ROWS, TIMES)
    )


def _of_groups(groups: pl.DataFrame, _schema: Schema) -> Tables:
    return {
        QUASI_IDENTIFIERS: groups.select("group_id", ROWS).explode(ROWS).unnest(ROWS),
        SENSITIVE: groups.select("group_id", pl.col(HELD).alias(VALUE), pl.col(TIMES).alias("count")).explode(
            VALUE, "count"
        ),
        "counterfeits": groups.filter(pl.col(STATED) > 0),
    }


def _columns(schema: Schema) -> dict[str, list[PublishedColumn]]:
    group = PublishedColumn(
        "group_id", "group_id", "Int64", "all that the tables share; groups are numbered by content"
    )
    exact = [
        PublishedColumn(
            column,
            qi.name,
            str(qi.dtype),
            f"{qi.name} of somebody in the group, or a counterfeit",
            column,
        )
        for column, qi in schema.attributes()
    ]
    values = [
        PublishedColumn(
            column,
            one.name,
            one.dtype,
            "in a table of its own: held in the group",
            column,
        )
        for column, one in schema.sensitive_columns()
    ]
    count = PublishedColumn("count", "count", "Int64", "how many tuples of the group have the value")
    return {
        QUASI_IDENTIFIERS: [group, *exact],
        SENSITIVE: [group, *values, count],
        "counterfeits": COUNTERFEITS,
    }


def _refuse_widths(schema: Schema) -> list[tuple[str, str]]:
    """Minimum widths can't be kept where exact quasi-identifiers are published."""
    wide = [qi.name for qi in schema.quasi_identifiers if qi.min_width > int(qi.discrete)]
    if not wide:
        return []
    fault = (
        f"min_width of {', '.join(wide)} can't be kept: the format anatomy publishes exact quasi-identifiers."
        " Leave it out, or make the column coarser in the source"
    )
    return [("", fault)]


def _read(tables: Tables, schema: Schema) -> Published:
    """Two tables that share nothing but the group id, and their R(n): a box of no width for each tuple.

    References
    ----------
    He, Barman and Naughton, Preventing equivalence attacks, ICDE 2011, section IV-A.
    """
    bounds = [
        encode(pl.col(column), qi).alias(f"{column}_{end}")
        for column, qi in schema.attributes()
        for end in ("low", "high")
    ]
    values = tables[SENSITIVE].select(GROUP, VALUE, pl.col("count").cast(pl.Int64).alias("tuples"))
    return Published(
        boxes=tables[QUASI_IDENTIFIERS].select(GROUP, *bounds).unique(maintain_order=True),
        values=values.sort("group_id", VALUE),
        counterfeits=stated_counterfeits(tables),
    )


ANATOMY = Format(
    name="anatomy",
    columns=_columns,
    read=_read,
    counterfeit_key=lambda schema: [column for column, _ in schema.attributes()],
    refused=_refuse_widths,
    as_groups=_as_groups,
    of_groups=_of_groups,
)
