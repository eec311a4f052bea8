"""Groups that are followed from release to release by what is published of them alone.

This is linkability as regulators ask for it (Article 29 Working Party, opinion 05/2014): whether rows are
about the same people can be seen. No promise excludes it: candidate values are promised against an adversary
who follows every person and every group.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from republish.anonymize.attack.hashes import plain_hashes
from republish.anonymize.columns import VALUE
from republish.anonymize.formats.published import Published


@dataclass(frozen=True)
class Followed:
    """The groups of a release that look like one group of the release before."""

    groups: float | None
    """The share of the groups; None of a first release."""
    tuples: float | None
    """The share of the tuples that they have."""
    contents: pl.DataFrame | None = field(default=None, repr=False)
    """What groups look like, `content` and `tuples`: each that one group alone has. For the next release."""


def follow(published: Published, before: Followed | None = None) -> Followed:
    """Follow groups from the release before, if there is one: they have the same intervals and values.

    Groups that look like others of their release are not followed.
    """
    ends = published.boxes.select(
        "group_id", content=pl.concat_str(pl.exclude("group_id").cast(pl.String).fill_null(""), separator=" ")
    )
    tuples = published.values.join(published.counterfeits, on="group_id", how="left").select(
        "group_id",
        "tuples",
        content=pl.concat_str(pl.col(VALUE, "tuples", "count").cast(pl.String).fill_null(""), separator=" "),
    )
    looks = (
        pl.concat([ends, tuples], how="diagonal")
        .sort("group_id", "content")
        .group_by("group_id", maintain_order=True)
        .agg(pl.col("content").str.join("\n"), pl.col("tuples").sum())
    )
    alone = looks.filter(pl.col("content").is_unique())
    alone = alone.select(content=pl.Series(plain_hashes(alone["content"])), tuples="tuples")
    if before is None or before.contents is None or looks.is_empty():
        return Followed(None, None, alone)
    same = alone.join(before.contents, on="content", how="semi")
    shares = (len(same) / len(looks), int(same["tuples"].sum()) / int(looks["tuples"].sum()))
    return Followed(*shares, alone)
