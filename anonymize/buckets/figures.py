"""The counts that every principle of buckets states of a release."""

from __future__ import annotations

import polars as pl

from anonymize.buckets.counts import Plan
from anonymize.buckets.divide import UNDECIDED, Division


def bucket_figures(division: Division, plan: Plan, in_use: pl.DataFrame) -> dict[str, int]:
    """Counts worth plotting over releases.

    Parameters
    ----------
    division
        The people of T(n), divided.
    plan
        What became of the inserted people.
    in_use
        As `buckets_in_use` returns it.
    """
    people, counterfeits, groups = in_use.select(
        pl.col("people", "counterfeits", "groups").sum().cast(pl.Int64)
    ).row(0)
    return {
        "people": people,
        "carried": int((division.bucket != UNDECIDED).sum()),
        "returned": int(division.returned.sum()),
        "inserted": int(division.counts.free.sum()),
        "separated": int(division.counts.separated.sum()),
        "held_back": int(plan.held_back.sum() + plan.held_back_separated.sum()),
        "tuples": people + counterfeits,
        "groups": groups,
        "counterfeits": counterfeits,
        "batch_counterfeits": plan.batch_counterfeits,
        "buckets": in_use.height,
    }
