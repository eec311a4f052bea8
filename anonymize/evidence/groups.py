"""What the groups of a release consist of, and whether their tuples are accounted for."""

from __future__ import annotations

import polars as pl

from anonymize.columns import PSEUDONYM, VALUE
from anonymize.formats import Published


def group_table(published: Published) -> pl.DataFrame:
    """One row per group of a release.

    Returns
    -------
    polars.DataFrame
        `group_id`, `tuples`, `values` (distinct ones), `fewest` and `most` (tuples of a value), `signature`
        (sorted), `count` (counterfeits by R(n), 0 where it states none).
    """
    held = published.values.group_by("group_id").agg(
        tuples=pl.col("tuples").sum(),
        values=pl.col(VALUE).n_unique().cast(pl.Int64),
        fewest=pl.col("tuples").min(),
        most=pl.col("tuples").max(),
        signature=pl.col(VALUE).unique().sort(),
    )
    counted = held.join(published.counterfeits, on="group_id", how="full", coalesce=True)
    return counted.with_columns(pl.col("tuples", "values", "fewest", "most", "count").fill_null(0)).sort(
        "group_id"
    )


def counterfeit_statistics(groups: pl.DataFrame, hosted: pl.DataFrame, people: pl.DataFrame) -> pl.DataFrame:
    """One row: how many tuples there are, and whether they are accounted for.

    `rows`, `hosted`, `counterfeits`, `wrong_counts`, `empty_groups`, `people`, `held_back`, `strangers`.
    `wrong_counts` are the groups whose tuples are not their people and the counterfeits that R(n) states
    (Definition 3); `strangers` are hosted people who are not in T(n), or in two groups.

    Parameters
    ----------
    groups
        As `group_table` returns it.
    hosted
        `pseudonym`, `group_id`: the people of T(n) that the candidate hosts.
    people
        T(n).

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, Definition 3.
    """
    by_group = hosted.group_by("group_id").agg(pl.len().cast(pl.Int64).alias("people"))
    counted = groups.join(by_group, on="group_id", how="full", coalesce=True).with_columns(
        pl.col("tuples", "count", "people").fill_null(0)
    )
    inside = hosted[PSEUDONYM].n_unique()
    return counted.select(
        pl.col("tuples").sum().alias("rows"),
        pl.lit(hosted.height, pl.Int64).alias("hosted"),
        pl.col("count").sum().alias("counterfeits"),
        (pl.col("tuples") != pl.col("people") + pl.col("count")).sum().cast(pl.Int64).alias("wrong_counts"),
        (pl.col("people") == 0).sum().cast(pl.Int64).alias("empty_groups"),
        pl.lit(people.height, pl.Int64).alias("people"),
        pl.lit(people.height - inside, pl.Int64).alias("held_back"),
        pl.lit(hosted.height - inside, pl.Int64).alias("strangers"),
    )
