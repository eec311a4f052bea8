"""Composition: the same people in the releases of two publishers who know nothing of each other.

Each series leaves a person some values. Publishers who draw independently leave different ones beside the
true one, so whoever has both series is left with those that are in both. No promise covers that: each is
about one series. Whoever does not know people's groups has the values of all groups that cover them.

References
----------
Ganta, Kasiviswanathan and Smith, Composition attacks and auxiliary information in data privacy, KDD 2008.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from republish.anonymize.attack.coverage import covering
from republish.anonymize.columns import VALUE
from republish.anonymize.formats.published import Published

SAME = 1e-9
"""Probabilities that differ by less are one."""


@dataclass(frozen=True)
class Left:
    """How much is left unknown of some people."""

    people: int
    certain: float
    """The share of the people who have one value left."""
    right: float
    """The share of right guesses of the likeliest value, one of several by lot."""
    candidates: float
    """The mean number of values left."""


def covering_groups(known: pl.DataFrame, published: Published) -> pl.DataFrame:
    """`person`, `group_id`: the groups that cover each person, for who does not know which one is theirs.

    The truth of a release has `person` and a column of codes per quasi-identifier.
    """
    names = [column.removesuffix("_low") for column in published.boxes.columns if column.endswith("_low")]
    person, box = covering(known.select(names), published.boxes)
    return pl.DataFrame([known["person"].gather(person), published.boxes["group_id"].gather(box)]).unique()


def possible(
    known: pl.DataFrame, published: Published, groups: pl.DataFrame, before: pl.DataFrame | None = None
) -> pl.DataFrame:
    """What a series leaves possible after one more release: `person`, `value`, `candidate`, `probability`.

    Probabilities are the shares of the values in a person's groups, multiplied over the releases in which the
    person has the same value.

    Parameters
    ----------
    known
        `person`, `value`: the truth of the release.
    published
        The release.
    groups
        `person`, `group_id`: the group of each person, or all groups that may be theirs.
    before
        What this returned for the release before.
    """
    held = published.values.select("group_id", "tuples", candidate=VALUE)
    tuples = groups.join(held, on="group_id").group_by("person", "candidate").agg(pl.col("tuples").sum())
    now = known.select("person", VALUE).join(tuples, on="person")
    now = _normal(now.select("person", VALUE, "candidate", probability=pl.col("tuples").cast(pl.Float64)))
    if before is None:
        return now
    alone = [
        one.join(other, on=["person", VALUE], how="anti") for one, other in ((now, before), (before, now))
    ]
    return pl.concat([in_both(now, before), *alone])


def in_both(one: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    """What two series together leave possible of the people in both; each as `possible` returned it."""
    both = one.join(other, on=["person", VALUE, "candidate"], suffix="_other")
    product = pl.col("probability") * pl.col("probability_other")
    return _normal(both.select("person", VALUE, "candidate", probability=product))


def left(found: pl.DataFrame) -> Left:
    """Count what is left of people; as `possible` or `in_both` returned it."""
    largest = pl.col("probability").max().over("person", VALUE)
    likeliest = found.with_columns(is_likeliest=pl.col("probability") >= largest - SAME)
    is_right = pl.col("is_likeliest") & (pl.col("candidate") == pl.col(VALUE))
    people = likeliest.group_by("person", VALUE).agg(
        candidates=pl.len(), right=is_right.sum() / pl.col("is_likeliest").sum()
    )
    shares = people.select(
        (pl.col("candidates") == 1).mean(), pl.col("right").mean(), mean=pl.col("candidates").mean()
    )
    return Left(people.height, *shares.row(0))


def _normal(found: pl.DataFrame) -> pl.DataFrame:
    return found.with_columns(pl.col("probability") / pl.col("probability").sum().over("person", VALUE))
