"""What counterfeits give away to an adversary who knows that none of them carries the most frequent value."""

from __future__ import annotations

import polars as pl

from anonymize.formats import Published


def exposed_by_counterfeits(published: Published, largest_share: float) -> int:
    """People in groups where the most frequent value belongs to too few, once counterfeits are left out.

    Counterfeits that make a batch eligible are added because one value is too frequent, so they carry
    another one. R(n) says which groups have counterfeits. In such a group, the most frequent value of the
    release is spread over the people alone.

    Parameters
    ----------
    published
        One release.
    largest_share
        The largest probability that a person's value may have, 1/m.

    Returns
    -------
    int
        The people of all groups with counterfeits where that value's share among the people is larger.
    """
    totals = published.values.group_by("value").agg(pl.col("tuples").sum()).sort("tuples", "value")
    if totals.is_empty():
        return 0
    frequent = published.values.filter(pl.col("value") == totals["value"][-1])
    groups = (
        published.counterfeits.filter(pl.col("count") > 0)
        .join(published.sizes, on="group_id")
        .join(frequent.select("group_id", held="tuples"), on="group_id")
        .with_columns(people=pl.col("size") - pl.col("count"))
    )
    over = groups.filter(pl.col("held") > largest_share * pl.col("people") + 1e-12)
    return int(over["people"].sum())
