"""The counts that every principle of buckets states of a release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import polars as pl

from republish.anonymize.buckets.counts import Plan
from republish.anonymize.buckets.divide import UNDECIDED, Division
from republish.anonymize.figures import Total
from republish.anonymize.principle.candidate import ReleaseFigures


@dataclass(frozen=True, kw_only=True)
class BucketFigures(ReleaseFigures):
    """Counts of a release from buckets."""

    carried: Total
    """People who keep their signature."""
    returned: Total
    """People who were published, though not in the last release."""
    inserted: Total
    """People whom any signature with their value may get: nobody published them yet."""
    separated: Total
    """People who need a new signature: their value is outside their own."""
    buckets: Total
    """Buckets in use."""

    @classmethod
    def counted(cls, division: Division, plan: Plan, in_use: pl.DataFrame, **further: int) -> Self:
        """Count a release, of which `further` are the fields of a subclass.

        `division` divides all people of T(n); `in_use` is what `buckets_in_use` returns.
        """
        people, counterfeits, groups = in_use.select(
            pl.col("people", "counterfeits", "groups").sum().cast(pl.Int64)
        ).row(0)
        return cls(
            people=people,
            carried=int((division.bucket != UNDECIDED).sum()),
            returned=int(division.returned.sum()),
            inserted=int(division.counts.free.sum()),
            separated=int(division.counts.separated.sum()),
            held_back=len(division.bucket) - people,
            tuples=people + counterfeits,
            groups=groups,
            counterfeits=counterfeits,
            batch_counterfeits=plan.batch_counterfeits,
            buckets=in_use.height,
            **further,
        )
