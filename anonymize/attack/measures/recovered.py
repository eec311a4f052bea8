"""Quasi-identifiers that are recovered from intervals, which are as narrow as their groups allow.

Where everybody in a group has the same value, the interval has no width and says it. And where intervals end
at people's own values, each end is a value of somebody in the group, though it says not whose. On a grid of
`min_width` an end is somebody's value by chance alone. No promise excludes it: candidate values are promised
against an adversary who knows everybody's quasi-identifiers.

References
----------
Cohen, Attacks on deidentification's defenses, USENIX Security 2022, calls it downcoding.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from republish.anonymize.formats.published import Published


@dataclass(frozen=True)
class Recovered:
    """Shares of what intervals hide, which an adversary recovers who knows nobody."""

    exact: float
    """Of the quasi-identifiers of the people in a release: those whose interval is a single value."""
    by_ends: float | None
    """Of the same: these, and one for each other end that is right. None where groups are not known."""
    ends: float | None
    """Of the ends: those that are a value of somebody in the group. None where groups are not known."""


def recover(known: pl.DataFrame, published: Published, linkage: pl.DataFrame | None) -> Recovered | None:
    """Take each end of an interval for the value of one person of its group, and count where this is right.

    A single value is not exact where the group has missing ones, too, because nobody knows whose. None is
    returned of a release without people, and of one that publishes quasi-identifiers as they are.

    Parameters
    ----------
    known
        `person`, `qi_0`, …: the truth of the release, as codes.
    published
        The release.
    linkage
        Everybody's group, `person`, `group_id`; None where it is not known.
    """
    boxes = published.boxes
    forged = pl.col("count").fill_null(0)
    sizes = published.sizes.join(published.counterfeits, on="group_id", how="left")
    people = sizes.select("group_id", people=pl.col("size") - forged).filter(pl.col("people") > 0)
    groups = boxes.join(people, on="group_id")
    columns = [name.removesuffix("_low") for name in boxes.columns if name.endswith("_low")]
    if groups.is_empty() or groups["group_id"].is_duplicated().any():
        return None
    values = int(groups["people"].sum()) * len(columns)
    exact = sum(int(groups.filter(_is_exact(column, boxes))["people"].sum()) for column in columns)
    if linkage is None:
        return Recovered(exact / values, None, None)
    members = known.join(linkage.drop_nulls(), on="person").join(boxes, on="group_id")
    by_ends = ends = 0
    for column in columns:
        low, high = (pl.col(column) == pl.col(f"{column}_{end}") for end in ("low", "high"))
        found = members.group_by("group_id").agg(
            low.any().alias("low"),
            high.any().alias("high"),
            (low & high).sum().alias("alone"),
        )
        hits = pl.col("low").cast(pl.Int64) + pl.col("high").cast(pl.Int64)
        named = pl.when(pl.col("alone") > 0).then("alone").otherwise(hits)
        right, recovered = found.select(hits.sum(), named.sum().alias("recovered")).row(0)
        by_ends, ends = by_ends + recovered, ends + right
    return Recovered(exact / values, by_ends / values, ends / (2 * groups.height * len(columns)))


def _is_exact(column: str, boxes: pl.DataFrame) -> pl.Expr:
    is_single = pl.col(f"{column}_low") == pl.col(f"{column}_high")
    name = f"{column}_missing"
    if name not in boxes.columns:
        return is_single
    missing = pl.col(name).fill_null(0)
    return is_single & ((missing == 0) | (missing == pl.col("people")))
