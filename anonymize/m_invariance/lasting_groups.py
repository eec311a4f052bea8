"""Groups that stay together from release to release, so that fewer releases put people among others.

Two people of a group have different values. A release that puts people into other groups says that of other
pairs, and an adversary who learns how values go with quasi-identifiers puts all of it together.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from anonymize.arrays import Bools, Floats, Ints
from anonymize.columns import PSEUDONYM
from anonymize.kernels.split import LACKING

TOGETHER = "together"
"""The state's table of people in groups without counterfeits: `pseudonym`, `group_id` of the last release."""
APART = -1
"""In place of the group of somebody whose group does not stay."""


def together(pseudonyms: pl.Series, group: Ints, counterfeit: Bools) -> pl.DataFrame:
    """Note who is in a group without a counterfeit, as `TOGETHER`.

    `group` and `counterfeit` are those of all tuples: of people first, in the order of `pseudonyms`.
    """
    own = group[: len(pseudonyms)]
    is_whole = ~np.isin(own, group[counterfeit])
    noted = pl.DataFrame({PSEUDONYM: pseudonyms, "group_id": pl.Series(own, dtype=pl.Int64)})
    return noted.filter(pl.Series(is_whole, dtype=pl.Boolean)).sort(PSEUDONYM)


def lasting(
    pseudonyms: pl.Series,
    bucket: Ints,
    value: Ints,
    shares: Floats,
    sizes: Ints,
    before: pl.DataFrame,
    regroup: float,
) -> Ints:
    """Number the groups that stay as they were, int64[N] from 0 on; `APART` for people of all others.

    A group can stay if all its people are still there, in the same bucket, and have all its values. In a
    bucket that has other people, too, a share of `regroup` of these groups does not, those with the longest
    intervals first. Values of a bucket are treated alike: exchange two of them throughout a bucket, and the
    same groups stay.

    Parameters
    ----------
    pseudonyms, bucket, value, shares
        Of each person: N rows. `shares`, float64[N, d], are quasi-identifiers as shares of their domains.
    sizes
        int[B]: how many values each bucket has. Somebody who was forgotten is missing from `before`, too.
    before
        The groups of the last release, as `together` noted them.
    """
    lengths = [f"length_{column}" for column in range(shares.shape[1])]
    own = pl.DataFrame({PSEUDONYM: pseudonyms, "bucket": bucket, "value": value, "size": sizes[bucket]})
    own = own.with_columns(pl.Series(name, shares[:, at]) for at, name in enumerate(lengths))
    grouped = own.join(before, on=PSEUDONYM, how="left", maintain_order="left")
    known = [pl.col(name).replace(LACKING, None) for name in lengths]
    found = (
        grouped.drop_nulls("group_id")
        .group_by("group_id")
        .agg(
            pl.len().alias("people"),
            pl.col("value").n_unique().alias("values"),
            pl.col("bucket").n_unique().alias("buckets"),
            pl.col("bucket", "size").first(),
            pl.sum_horizontal(one.max() - one.min() for one in known).alias("length"),
        )
        .filter(pl.col("people") == pl.col("size"), values=pl.col("size"), buckets=1)
        .join(own.group_by("bucket").len("present"), on="bucket")
        .with_columns(is_untouched=pl.col("people").sum().over("bucket") == pl.col("present"))
        .sort("is_untouched", "length", "group_id", descending=[False, True, False])
    )
    touched = len(found) - int(found["is_untouched"].sum())
    stays = found[int(regroup * touched) :]
    numbered = stays.select("group_id").sort("group_id").with_row_index("number")
    number = grouped.join(numbered, on="group_id", how="left", maintain_order="left")["number"]
    return number.cast(pl.Int64).fill_null(APART).to_numpy()
