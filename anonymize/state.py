"""What a series remembers of the people it published: signatures, under pseudonyms, never names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

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
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    """Whatever else the series' principle remembers, by name. None before the first release."""

    @classmethod
    def empty(cls, dtype: pl.DataType) -> State:
        """The state before the first release, for sensitive values of a type."""
        return cls(
            memory=pl.DataFrame(schema=MEMORY_SCHEMA),
            buckets=pl.DataFrame(schema={"bucket_id": pl.Int32, "signature": pl.List(dtype)}),
        )


def remember(memory: pl.DataFrame, pseudonyms: pl.Series, buckets: pl.Series, number: int) -> pl.DataFrame:
    """The memory after release `number` hosted people in buckets.

    Parameters
    ----------
    memory
        As in `State`.
    pseudonyms, buckets
        The people in the release, and the `bucket_id` of each.
    number
        The release's number, counted from 1.
    """
    today = pl.DataFrame({"pseudonym": pseudonyms, "bucket_id": buckets}).with_columns(
        first_release=pl.lit(number, pl.Int32), last_release=pl.lit(number, pl.Int32)
    )
    return (
        pl.concat([memory.lazy(), today.lazy()])
        .group_by("pseudonym", "bucket_id")
        .agg(pl.col("first_release").min(), pl.col("last_release").max())
        .sort("pseudonym", "bucket_id")
        .collect()
    )
