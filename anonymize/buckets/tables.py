"""Tables of buckets: all there ever were, and those a release uses."""

from __future__ import annotations

import polars as pl

from republish.anonymize.arrays import Bools, Ints
from republish.anonymize.buckets.counts import Plan


def all_buckets(buckets: pl.DataFrame, plan: Plan, values: pl.Series) -> pl.DataFrame:
    """List the remembered buckets, `bucket_id` and `signature`, and below them the plan's new ones.

    `values` are the sensitive values that the plan's numbers stand for.
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
    """Count what is in the buckets in use: `bucket_id`, `signature`, `people`, `counterfeits`, `groups`.

    `bucket`, `group` and `counterfeit` say of each of N tuples where it is, and whether nobody stands behind
    it; `buckets` are all there are.
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
