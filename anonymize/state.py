"""What a series remembers of the people it published: signatures, under pseudonyms, never names."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

MEMORY_SCHEMA = {
    "pseudonym": pl.Binary,
    "bucket_id": pl.Int32,
    "first_release": pl.Int32,
    "last_release": pl.Int32,
}


@dataclass(frozen=True)
class State:
    """What release n leaves for release n + 1. Earlier releases need not be kept (Lemma 4).

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, section 3.3, Lemma 4.
    """

    memory: pl.DataFrame
    """`pseudonym`, `bucket_id`, `first_release`, `last_release`: one row per person and signature."""
    buckets: pl.DataFrame
    """`bucket_id` (0, 1, …, in this order), `signature` (sorted list of values): every bucket there was."""

    @classmethod
    def empty(cls, dtype: pl.DataType) -> State:
        """The state before the first release, for sensitive values of a type."""
        return cls(
            memory=pl.DataFrame(schema=MEMORY_SCHEMA),
            buckets=pl.DataFrame(schema={"bucket_id": pl.Int32, "signature": pl.List(dtype)}),
        )


def remember(memory: pl.DataFrame, hosted: pl.DataFrame, number: int) -> pl.DataFrame:
    """The memory after release `number` hosted people in buckets.

    Parameters
    ----------
    memory
        As in `State`.
    hosted
        `pseudonym`, `bucket_id` of the people in the release.
    number
        The release's number, counted from 1.
    """
    today = hosted.select(
        "pseudonym",
        pl.col("bucket_id").cast(pl.Int32),
        first_release=pl.lit(number, pl.Int32),
        last_release=pl.lit(number, pl.Int32),
    )
    known = memory.join(
        today.select("pseudonym", "bucket_id", seen="last_release"), on=["pseudonym", "bucket_id"], how="left"
    )
    known = known.with_columns(pl.coalesce("seen", "last_release").alias("last_release")).drop("seen")
    new = today.join(memory, on=["pseudonym", "bucket_id"], how="anti")
    return pl.concat([known, new]).sort("pseudonym", "bucket_id")
