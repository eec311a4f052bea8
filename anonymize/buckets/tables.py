"""Tables of buckets: all there ever were, and those a release uses."""

from __future__ import annotations

import polars as pl

from anonymize.arrays import Bools, Ints
from anonymize.buckets.counts import Plan


def all_buckets(buckets: pl.DataFrame, plan: Plan, values: pl.Series) -> pl.DataFrame:
    """The remembered buckets, and below them the new ones.

    Parameters
    ----------
    buckets
        `bucket_id`, `signature`: the remembered ones, which are the first of the plan's.
    plan
        Its signatures.
    values
        The sensitive values that the plan's columns stand for.
    """
    bucket, value = plan.signatures.bucket, plan.signatures.value
    is_new = bucket >= buckets.height
    signatures = (
        pl.DataFrame(
            {
                "bucket_id": pl.Series(bucket[is_new], dtype=pl.Int32),
                "signature": values.gather(value[is_new]),
            }
        )
        .group_by("bucket_id", maintain_order=True)
        .agg("signature")
    )
    return pl.concat([buckets, signatures])


def buckets_in_use(bucket: Ints, group: Ints, counterfeit: Bools, buckets: pl.DataFrame) -> pl.DataFrame:
    """`bucket_id`, `signature`, `people`, `counterfeits`, `groups` of the buckets that hold any tuple.

    Parameters
    ----------
    bucket, group
        int[N]: the bucket and the group of every tuple.
    counterfeit
        bool[N]: which tuples nobody stands behind.
    buckets
        `bucket_id`, `signature`: every bucket there is.
    """
    tuples = pl.DataFrame(
        {"bucket_id": pl.Series(bucket, dtype=pl.Int32), "counterfeit": counterfeit, "group": group}
    )
    return (
        tuples.group_by("bucket_id")
        .agg(
            (~pl.col("counterfeit")).sum().cast(pl.Int64).alias("people"),
            pl.col("counterfeit").sum().cast(pl.Int64).alias("counterfeits"),
            pl.col("group").n_unique().cast(pl.Int64).alias("groups"),
        )
        .join(buckets, on="bucket_id")
        .select("bucket_id", "signature", "people", "counterfeits", "groups")
        .sort("bucket_id")
    )
