"""Groups that stay together from release to release, so that fewer releases put people among others.

Two people of a group have different values. A release that puts people into other groups says that of other
pairs, and an adversary who learns how values go with quasi-identifiers puts all of it together.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from anonymize.arrays import Floats, Ints
from anonymize.columns import PSEUDONYM, VALUE
from anonymize.kernels.split import LACKING

TOGETHER = "grouped"
"""The state's table of everybody's group in the last release: `pseudonym`, `group_id`, and the group's
`length`, the sum of its intervals as shares of their domains."""
APART = -1
"""In place of the group of a tuple whose group does not stay."""


def together(pseudonyms: pl.Series, group: Ints, shares: Floats) -> pl.DataFrame:
    """Note who is together with whom, as `TOGETHER`.

    `group`, int64[N], and `shares`, float64[N, d], are those of people in the order of `pseudonyms`.
    """
    noted = pl.DataFrame({PSEUDONYM: pseudonyms, "group_id": pl.Series(group, dtype=pl.Int64)})
    places, length = _places(shares)
    return (
        noted.hstack(places)
        .select(PSEUDONYM, "group_id", length.over("group_id").alias("length"))
        .sort(PSEUDONYM)
    )


def lasting(
    pseudonyms: pl.Series,
    bucket: Ints,
    value: Ints,
    shares: Floats,
    sizes: Ints,
    before: pl.DataFrame,
    regroup: float,
) -> Ints:
    """Number the groups that stay as they were, int64[N + C] from 0 on; `APART` for tuples of all others.

    All groups of a bucket stay if nobody entered or left it, and no group became longer; each gets
    counterfeits of the values that it lacks. In other buckets a group without counterfeits may stay if nobody
    left it, but for a share of `regroup` of these groups, those with the longest intervals first; and so many
    are made anew that none needs more counterfeits than if all were. Values of a bucket are treated alike:
    exchange two of them throughout a bucket, and the same groups stay.

    Parameters
    ----------
    pseudonyms, shares
        Of N people. `shares`, float64[N, d], are quasi-identifiers as shares of their domains.
    bucket, value
        int[N + C], of the people and then of counterfeits.
    sizes
        int[B]: how many values each bucket has.
    before
        The groups of the last release, as `together` noted them. Who was forgotten has another name there.
    """
    people = len(pseudonyms)
    places, length = _places(shares)
    tuples = pl.DataFrame({"bucket": bucket, VALUE: value})
    own = places.hstack(tuples[:people]).with_columns(pseudonyms.alias(PSEUDONYM))
    grouped = own.join(before, on=PSEUDONYM, how="left", maintain_order="left")
    present, forged = (np.bincount(some, minlength=len(sizes)) for some in (bucket[:people], bucket[people:]))
    groups = (present + forged) // np.maximum(sizes, 1)
    counted = pl.DataFrame({"present": present, "groups": groups, "may_stay": _may_stay(groups, forged)})
    counted = (
        counted.with_columns(size=sizes).with_row_index("bucket").cast({"bucket": tuples.schema["bucket"]})
    )
    found = (
        grouped.drop_nulls("group_id")
        .group_by("group_id")
        .agg(
            pl.len().alias("people"),
            pl.col(VALUE).n_unique().alias("values"),
            pl.col("bucket").n_unique().alias("buckets"),
            pl.col("bucket", "length").first(),
            length.alias("now"),
        )
        .join(before["group_id"].value_counts(name="noted"), on="group_id")
        .filter(pl.col("people") == pl.col("noted"), values=pl.col("people"), buckets=1)
        .join(counted, on="bucket")
        .with_columns(
            is_untouched=(pl.col("people").sum() == pl.col("present").first()).over("bucket")
            & (pl.col("now") <= pl.col("length")).all().over("bucket")
            & (pl.len() <= pl.col("groups").first()).over("bucket")
        )
        .filter(pl.col("is_untouched") | (pl.col("people") == pl.col("size")))
        .sort("is_untouched", "now", "group_id", descending=[False, True, False])
    )
    touched = len(found) - int(found["is_untouched"].sum())
    stays = found[int(regroup * touched) :].filter(
        pl.col("is_untouched") | (pl.int_range(pl.len(), 0, -1).over("bucket") <= pl.col("may_stay"))
    )
    numbered = stays.sort("group_id").with_row_index("number").cast({"number": pl.Int64})
    number = grouped.join(
        numbered.select("group_id", "number"), on="group_id", how="left", maintain_order="left"
    )
    held = own.select("bucket", VALUE, number["number"]).drop_nulls("number")
    given = _given_counterfeits(tuples, people, numbered.filter(pl.col("people") < pl.col("size")), held)
    return pl.concat([number["number"], given]).fill_null(APART).to_numpy(writable=True)


def _places(shares: Floats) -> tuple[pl.DataFrame, pl.Expr]:
    """Quasi-identifiers as columns, null where lacking, and the length of a group of their rows."""
    names = [f"length_{column}" for column in range(shares.shape[1])]
    places = pl.DataFrame(dict(zip(names, shares.T, strict=True)), schema=dict.fromkeys(names, pl.Float64))
    return places.with_columns(pl.all().replace(LACKING, None)), pl.sum_horizontal(
        pl.col(name).max() - pl.col(name).min() for name in names
    )


def _may_stay(groups: Ints, forged: Ints) -> Ints:
    """How many groups without counterfeits a bucket can have while the others have no more than they must."""
    most = -(-forged // np.maximum(groups, 1))
    return groups - -(-forged // np.maximum(most, 1))


def _given_counterfeits(
    tuples: pl.DataFrame, people: int, lacking: pl.DataFrame, held: pl.DataFrame
) -> pl.Series:
    """C rows: the number of the group that lacks a counterfeit's value, or null."""
    turn = pl.int_range(pl.len()).over("bucket", VALUE).alias("turn")
    signatures = tuples.unique(["bucket", VALUE])
    free = (
        lacking.select("bucket", "number")
        .join(signatures, on="bucket")
        .join(held, on=["number", VALUE], how="anti")
    )
    free = free.sort("bucket", VALUE, "number").with_columns(turn)
    forged = tuples[people:].with_columns(turn)
    return forged.join(free, on=["bucket", VALUE, "turn"], how="left", maintain_order="left")["number"]
