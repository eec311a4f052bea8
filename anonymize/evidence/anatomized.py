"""Whether the two tables of Anatomy hold their people, and as many rows as values."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from anonymize.columns import VALUE
from anonymize.contract import Schema
from anonymize.formats.anatomy import QUASI_IDENTIFIERS, SENSITIVE


def presence(tables: Mapping[str, pl.DataFrame], hosted: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """`column`, `people`, `uncovered`: hosted people whose group lacks their quasi-identifiers or value.

    People with the same quasi-identifiers in one group need as many rows as they are.

    Parameters
    ----------
    tables
        The published tables, under our own column names.
    hosted
        `group_id`, `qi_0`, …, `value`: the people of T(n) that the candidate hosts.
    schema
        The columns.
    """
    vector = ["group_id", *(column for column, _ in schema.attributes())]
    rows = tables[QUASI_IDENTIFIERS].group_by(vector).len("held")
    values = tables[SENSITIVE].select("group_id", VALUE, held="count")
    missing = [
        hosted.group_by(key)
        .len("needed")
        .join(held, on=key, how="left")
        .select((pl.col("needed").cast(pl.Int64) - pl.col("held").cast(pl.Int64).fill_null(0)).clip(0).sum())
        .item()
        for key, held in ((vector, rows), (["group_id", VALUE], values))
    ]
    return pl.DataFrame(
        {
            "column": ["quasi-identifiers", schema.sensitive.name],
            "people": hosted.height,
            "uncovered": missing,
        },
        schema={"column": pl.String, "people": pl.Int64, "uncovered": pl.Int64},
    )


def stated_tuples(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """`group_id`, `rows`: the rows of quasi-identifiers of each group, to be compared with its values."""
    return tables[QUASI_IDENTIFIERS].group_by("group_id").agg(pl.len().cast(pl.Int64).alias("rows"))
