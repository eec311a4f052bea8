"""The memory of the principles of buckets: the signatures of people who were published, under pseudonyms."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from republish.anonymize.people.persons import persons_of
from republish.anonymize.principle.state import State

PEOPLE = "memory"
"""The state's table of people and the buckets they were in."""
BUCKETS = "buckets"
"""The state's table of signatures."""
MEMORY_SCHEMA = {
    "pseudonym": pl.Binary,
    "bucket_id": pl.Int32,
    "first_release": pl.Int32,
    "last_release": pl.Int32,
}


@dataclass(frozen=True)
class Memory:
    """The signatures that people had in the releases so far. Earlier releases need not be kept (Lemma 4).

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, section 3.3, Lemma 4.
    """

    people: pl.DataFrame
    """`pseudonym`, `bucket_id`, `first_release`, `last_release`: one row per person and signature."""
    buckets: pl.DataFrame
    """`bucket_id` (0, 1, …, in this order), `signature` (sorted list of values): every bucket there was."""

    @classmethod
    def of(cls, state: State, dtype: pl.DataType) -> Memory:
        """The memory in a state; an empty one, for sensitive values of a type, before the first release."""
        if PEOPLE in state.tables:
            return cls(people=state.tables[PEOPLE], buckets=state.tables[BUCKETS])
        return cls(
            people=pl.DataFrame(schema=MEMORY_SCHEMA),
            buckets=pl.DataFrame(schema={"bucket_id": pl.Int32, "signature": pl.List(dtype)}),
        )

    @property
    def published(self) -> pl.Series:
        """String[N]: the values that releases had so far, with repetitions."""
        return self.buckets["signature"].explode().drop_nulls().cast(pl.String)

    def tables(self) -> dict[str, pl.DataFrame]:
        """Itself, for a state to keep."""
        return {PEOPLE: self.people, BUCKETS: self.buckets}

    def after(self, linkage: pl.DataFrame, buckets: pl.DataFrame, number: int) -> Memory:
        """The memory after one more release, with its people, and every bucket there is by now.

        Signatures are those of people, also where they have several rows.
        """
        today = linkage.select(
            persons_of(linkage["pseudonym"]),
            "bucket_id",
            first_release=pl.lit(number, pl.Int32),
            last_release=pl.lit(number, pl.Int32),
        )
        people = (
            pl.concat([self.people.lazy(), today.lazy()])
            .group_by("pseudonym", "bucket_id")
            .agg(pl.col("first_release").min(), pl.col("last_release").max())
            .sort("pseudonym", "bucket_id")
            .collect()
        )
        return Memory(people=people, buckets=buckets)
