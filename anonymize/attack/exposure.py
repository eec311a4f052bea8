"""Exposure by counterfeits: an adversary knows that none of them carries the most frequent value."""

from __future__ import annotations

import polars as pl

from anonymize.columns import most_of
from anonymize.formats import Published


def exposed_by_counterfeits(published: Published, largest_share: float) -> int:
    """People in groups where the most frequent value belongs to too few, once counterfeits are left out.

    Counterfeits that make a batch eligible are added because one value is too frequent, so they carry
    another one. R(n) says which groups have counterfeits. In such a group, the most frequent value of the
    release is spread over the people alone. Counterfeits bring other values up to it, so that several may be
    the most frequent: of these, the one that exposes the most people counts.

    Parameters
    ----------
    published
        One release.
    largest_share
        The largest probability that a person's value may have: 1/m, m a whole number.

    Returns
    -------
    int
        The people of all groups with counterfeits where that value's share among the people is larger.
    """
    totals = published.values.group_by("value").agg(pl.col("tuples").sum())
    frequent = totals.filter(pl.col("tuples") == pl.col("tuples").max()).select("value")
    groups = (
        published.counterfeits.filter(pl.col("count") > 0)
        .join(published.sizes, on="group_id")
        .join(published.values.join(frequent, on="value"), on="group_id")
        .with_columns(people=pl.col("size") - pl.col("count"))
    )
    # Compared as whole numbers: 1/49 of 4,900,000 rounds to a little less than 100,000.
    over = groups.filter(pl.col("tuples") * round(1 / largest_share) > pl.col("people"))
    return int(most_of(over.group_by("value").agg(pl.col("people").sum())["people"]) or 0)
