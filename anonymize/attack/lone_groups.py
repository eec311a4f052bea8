"""Equivalence attacks on groups whose people were in no other group: found without a matrix or a solver.

Nobody is in two groups of a first release, and another tool's table may have a signature for each group.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import polars as pl


class LonePart(NamedTuple):
    """All groups of one signature, whose people are known and were in no other group."""

    signature: tuple[Any, ...]
    """Its values, in order."""
    partitions: int
    people: int
    surplus: int
    """The fewest tuples that have its values in their proportions."""
    e: int | None
    """The smallest attack; None if there is one group alone."""
    pair: tuple[tuple[int, tuple[Any, ...]], ...]
    """The number and the people of two groups that the smallest attack compares."""


def without_copies(
    members: pl.DataFrame, contents: pl.DataFrame, vectors: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Leave out groups that have the people and the values of an earlier one: they say nothing new.

    Parameters
    ----------
    members
        `partition`, `person`.
    contents
        `partition`, `value`, `tuples`.
    vectors
        `partition`, `times`, `signature` of these, as `lone_parts` has them.
    """
    if members.is_duplicated().any():
        return members, contents
    inside = members.select("partition", first=pl.col("partition").min().over("person"))
    first, kind = pl.col("first"), ["known", "signature", "times"]
    groups = inside.group_by("partition").agg(first.min(), last=first.max(), known=pl.len())
    groups = groups.join(vectors.select("partition", "signature", "times"), on="partition")
    later = groups.filter((first == pl.col("last")) & (first < pl.col("partition")))
    copies = later.join(
        groups.select("partition", *kind), left_on=["first", *kind], right_on=["partition", *kind], how="semi"
    )["partition"]
    is_new = ~pl.col("partition").is_in(copies.implode())
    return members.filter(is_new), contents.filter(is_new)


def lone_parts(members: pl.DataFrame, vectors: pl.DataFrame) -> tuple[list[LonePart], pl.Series]:
    """Find the smallest attack on each signature whose people were in one group each.

    The weight of such a group is what happens to its people, so that it is a whole number. If a group holds
    the values of its signature t times, weights w cancel out where the w t add up to 0. Then the positive
    ones add up to a multiple of the greatest common divisor of all t, and two groups that have this divisor
    as their t are an attack on no more people than that.

    Parameters
    ----------
    members
        `partition`, `person`.
    vectors
        `partition`, `value`, `tuples` (lists), `times` (t), `signature`: the number of the proportions.

    Returns
    -------
    list of LonePart
        In the order of the signatures' numbers.
    Series
        `partition`: all other groups. Their signatures have people who are not known or were in several
        groups, or no two groups with the divisor.

    References
    ----------
    He, Barman and Naughton, Preventing equivalence attacks, ICDE 2011, Definition 10, Lemma 3.
    """
    known = members.select("partition", again=pl.col("person").is_duplicated())
    known = known.group_by("partition").agg(known=pl.len(), again=pl.col("again").any())
    groups = vectors.join(known, on="partition", how="left", maintain_order="left")
    groups = groups.with_columns(size=pl.col("tuples").list.sum())
    times, least = pl.col("times"), pl.col("times").min()
    is_alone = ((pl.col("known") == pl.col("size")) & ~pl.col("again")).fill_null(value=False).all()
    is_settled = (pl.len() == 1) | ((times % least == 0).all() & ((times == least).sum() > 1))
    is_lone = groups.select((is_alone & is_settled).over("signature")).to_series()
    lone, others = groups.filter(is_lone), groups.filter(~is_lone)
    parts = (
        lone.sort("signature", "times", "partition")
        .group_by("signature", maintain_order=True)
        .agg(
            pl.col("value").first(),
            pl.len().alias("partitions"),
            pl.col("size").sum().alias("people"),
            (pl.col("size") // times).first().alias("surplus"),
            pl.col("size").first().alias("e"),
            pl.col("partition").head(2).alias("pair"),
        )
    )
    compared = parts.filter(pl.col("partitions") > 1)["pair"].explode(empty_as_null=False).unique()
    inside = members.filter(pl.col("partition").is_in(compared.implode()))
    people = {number: tuple(some) for number, some in inside.group_by("partition").agg("person").rows()}
    found = [
        LonePart(tuple(values), partitions, size, surplus, e, tuple((one, people[one]) for one in pair))
        if partitions > 1
        else LonePart(tuple(values), partitions, size, surplus, None, ())
        for values, partitions, size, surplus, e, pair in parts.drop("signature").iter_rows()
    ]
    return found, others["partition"]
