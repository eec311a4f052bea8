"""Groups that stay together from release to release, so that fewer releases put people among others.

Two people of a group have different values. A release that puts people into other groups says that of other
pairs, and an adversary who learns how values go with quasi-identifiers puts all of it together.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from republish.anonymize.arrays import Bools, Floats, Ints
from republish.anonymize.columns import PSEUDONYM, VALUE
from republish.anonymize.kernels.split import EMPTY
from republish.anonymize.people.persons import joined_by_names

TOGETHER = "grouped"
"""The state's table of each tuple's group in the last release: `pseudonym` (of a counterfeit, bytes by lot),
`group_id`, and the group's `length`, the sum of its intervals as shares of their domains."""
APART = -1
"""In place of the group of a tuple whose group does not stay."""


def together(names: pl.Series, group: Ints, shares: Floats) -> pl.DataFrame:
    """Note which tuples are together, as `TOGETHER`; parameters as those of `lasting`, and int[N] groups."""
    places, length = _places(shares)
    noted = places.with_columns(pl.Series("group_id", group, dtype=pl.Int64), names.alias(PSEUDONYM))
    return noted.select(PSEUDONYM, "group_id", length.over("group_id").alias("length")).sort(PSEUDONYM)


def lasting(
    names: pl.Series,
    bucket: Ints,
    value: Ints,
    shares: Floats,
    counterfeit: Bools,
    sizes: Ints,
    before: pl.DataFrame,
    regroup: float,
) -> Ints:
    """Number the groups that stay as they were, int64[N] from 0 on; `APART` for tuples of all others.

    A group can stay if all its tuples are still there, in one bucket, with different values. All groups of a
    bucket stay if nobody entered or left it, and none became longer. In other buckets groups without
    counterfeits stay, but for a share of `regroup` of them, those with the longest intervals first; and so
    many groups are made anew that none needs more counterfeits than if all were. Values of a bucket are
    treated alike: exchange two of them throughout a bucket, and the same groups stay.

    Parameters
    ----------
    names, bucket, value, shares, counterfeit
        Of each tuple: N rows. `names` are pseudonyms; a counterfeit has the name that it had, if its bucket
        has the same people. `shares`, float64[N, d], are quasi-identifiers as shares of their domains,
        `EMPTY` of counterfeits, which no interval covers.
    sizes
        int[B]: how many values each bucket has.
    before
        The groups of the last release, as `together` noted them. Who was forgotten has another name there.
    """
    places, length = _places(shares)
    tuples = places.with_columns(
        names.alias(PSEUDONYM), pl.Series("bucket", bucket), pl.Series(VALUE, value), forged=counterfeit
    )
    tuples = joined_by_names(tuples, before, how="left")
    present, forged = (np.bincount(some, minlength=len(sizes)) for some in (bucket, bucket[counterfeit]))
    counted = pl.DataFrame({"present": present, "size": sizes, "may_stay": _may_stay(present, forged, sizes)})
    counted = counted.with_row_index("bucket").cast({"bucket": tuples.schema["bucket"]})
    found = (
        tuples.drop_nulls("group_id")
        .group_by("group_id")
        .agg(
            pl.len().alias("tuples"),
            pl.col(VALUE).n_unique().alias("values"),
            pl.col("bucket").n_unique().alias("buckets"),
            pl.col("bucket", "length").first(),
            pl.col("forged").any(),
            length.alias("now"),
        )
        .join(before["group_id"].value_counts(name="noted"), on="group_id")
        .filter(pl.col("tuples") == pl.col("noted"), values=pl.col("tuples"), buckets=1)
        .join(counted, on="bucket")
        .filter(pl.col("tuples") == pl.col("size"))
        .with_columns(
            is_untouched=(pl.col("tuples").sum() == pl.col("present").first()).over("bucket")
            & (pl.col("now") <= pl.col("length")).all().over("bucket")
        )
        .filter(pl.col("is_untouched") | ~pl.col("forged"))
        .sort("is_untouched", "now", "group_id", descending=[False, True, False])
    )
    touched = len(found) - int(found["is_untouched"].sum())
    stays = found[int(regroup * touched) :].filter(
        pl.col("is_untouched") | (pl.int_range(pl.len(), 0, -1).over("bucket") <= pl.col("may_stay"))
    )
    numbered = stays.select("group_id").sort("group_id").with_row_index("number")
    number = tuples.join(numbered, on="group_id", how="left", maintain_order="left")["number"]
    return number.cast(pl.Int64).fill_null(APART).to_numpy(writable=True)


def _places(shares: Floats) -> tuple[pl.DataFrame, pl.Expr]:
    """Quasi-identifiers as columns, null where missing, and the length of a group of their rows."""
    names = [f"length_{column}" for column in range(shares.shape[1])]
    places = pl.DataFrame(dict(zip(names, shares.T, strict=True)), schema=dict.fromkeys(names, pl.Float64))
    return places.with_columns(pl.all().replace(EMPTY, None)), pl.sum_horizontal(
        pl.col(name).max() - pl.col(name).min() for name in names
    )


def _may_stay(present: Ints, forged: Ints, sizes: Ints) -> Ints:
    """How many groups without counterfeits a bucket can have while the others have no more than they must."""
    groups = present // np.maximum(sizes, 1)
    most = -(-forged // np.maximum(groups, 1))
    return groups - -(-forged // np.maximum(most, 1))
