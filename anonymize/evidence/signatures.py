"""Whether signatures are as promised: large enough when new, and never in part an earlier one."""

from __future__ import annotations

import polars as pl

from anonymize.columns import PSEUDONYM

Remembered = tuple[pl.DataFrame, pl.DataFrame]
"""People (`pseudonym`, `bucket_id`) and buckets (`bucket_id`, `signature`) of the releases before."""


def owed(groups: pl.DataFrame, hosted: pl.DataFrame, remembered: Remembered) -> pl.DataFrame:
    """`group_id`, `newcomers`: people in each group who never had its signature before.

    They are owed what is promised today: people who are new, and people whose value changed. The others stay
    among the values they were promised in an earlier release.
    """
    pairs = _pairs(groups, hosted, remembered).filter(pl.col("signature") == pl.col("earlier"))
    new = hosted.join(pairs, on=[PSEUDONYM, "group_id"], how="anti")
    return new.group_by("group_id").agg(pl.len().cast(pl.Int64).alias("newcomers"))


def group_sizes(groups: pl.DataFrame, hosted: pl.DataFrame, remembered: Remembered) -> pl.DataFrame:
    """`group_id`, `tuples`, `values`, `fewest`, `most`, `newcomers`: each group, and how many are owed m.

    Parameters
    ----------
    groups
        As `group_table` returns it.
    hosted
        `pseudonym`, `group_id`: the people of T(n) that the candidate hosts.
    remembered
        People and buckets of the releases before.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, Definition 17 (`tuples` = `values` >= m);
    He, Barman and Naughton, ICDE 2011, section IV-A (`fewest` = `most`).
    """
    counted = groups.select("group_id", "tuples", "values", "fewest", "most")
    new = owed(groups, hosted, remembered)
    return counted.join(new, on="group_id", how="left").fill_null(0).sort("group_id")


def signature_invariance(groups: pl.DataFrame, hosted: pl.DataFrame, remembered: Remembered) -> pl.DataFrame:
    """`bucket_id`, `remembered`, `same`, `disjoint`, `overlapping`: people by how signatures compare.

    Each remembered signature of each hosted person is compared with that of their group today, value by
    value. `remembered` = `same` + `disjoint` + `overlapping`; m-invariance (Definition 17), and its extension
    to changed values, want no overlap.

    Parameters
    ----------
    groups, hosted, remembered
        As for `group_sizes`.
    """
    pairs = (
        _pairs(groups, hosted, remembered)
        .group_by("bucket_id", "signature", "earlier")
        .agg(pl.len().cast(pl.Int64).alias("people"))
    )
    shared = pl.col("signature").list.set_intersection("earlier").list.len()
    same = (shared == pl.col("signature").list.len()) & (shared == pl.col("earlier").list.len())
    disjoint = shared == 0
    return (
        pairs.group_by("bucket_id")
        .agg(
            pl.col("people").sum().alias("remembered"),
            pl.col("people").filter(same).sum().alias("same"),
            pl.col("people").filter(disjoint & ~same).sum().alias("disjoint"),
            pl.col("people").filter(~same & ~disjoint).sum().alias("overlapping"),
        )
        .sort("bucket_id")
    )


def _pairs(groups: pl.DataFrame, hosted: pl.DataFrame, remembered: Remembered) -> pl.DataFrame:
    """Each person with each remembered signature: `bucket_id`, `signature` (today's), `earlier`."""
    people, buckets = remembered
    kinds = (
        hosted.select(PSEUDONYM, "group_id")
        .join(people.select(PSEUDONYM, "bucket_id"), on=PSEUDONYM)
        .with_columns(pl.col("group_id").cast(pl.Int64))
    )
    compared = (
        kinds.select("group_id", "bucket_id")
        .unique()
        .join(groups.select("group_id", "signature"), on="group_id")
        .join(buckets.rename({"signature": "earlier"}), on="bucket_id")
    )
    return kinds.join(compared, on=["group_id", "bucket_id"])
