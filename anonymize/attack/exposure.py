"""Exposure by counterfeits, to an adversary who knows which values they have, or seldom have."""

from __future__ import annotations

import polars as pl

from republish.anonymize.attack.figures import MinimumPeopleFigures
from republish.anonymize.attack.finding import AttackResult
from republish.anonymize.attack.input import AttackInput
from republish.anonymize.attack.judged import Bounds, judged, promised
from republish.anonymize.attack.numbers import joined
from republish.anonymize.columns import VALUE, least_of, most_of
from republish.anonymize.formats import Published
from republish.anonymize.rounding import FEW_STEPS


def attack_minimum_people(seen: AttackInput, least: Bounds[int]) -> AttackResult:
    """Judge whether no value is that of a larger share of a group's people than they were promised.

    Each release promised one of so many people at most to have the same value. Nothing is promised of values
    that may be known. A group's people are its tuples less its counterfeits by R(n). Where hosting groups are
    known, it is known how many of its people have a value. Where they are not, a value may be that of as many
    people as it has tuples; a group in which some of these may be counterfeits is not decided.
    """
    most = [1 / one if one else 1.0 for one in least]
    people = pl.col("stated") - pl.col("count")
    groups = seen.groups.filter(people > 0).select("group_id", "most", people=people)
    is_owed = ~seen.schema.sensitive.may_be_known(seen.carried[VALUE])
    carried = seen.carried.filter(is_owed).group_by("group_id").agg(carriers=pl.col("people").max())
    bounds = seen.owed.group_by("group_id").agg(promised=promised(most).min())
    groups = groups.join(carried, on="group_id", how="left").join(bounds, on="group_id", how="left")
    carriers = pl.col("carriers") if seen.is_linked else pl.min_horizontal("most", "people")
    table = groups.select(
        "group_id",
        "people",
        "most",
        share=carriers.fill_null(0) / pl.col("people"),
        promised=pl.col("promised").fill_null(max(most)),
    ).with_columns(too_large=(pl.col("share") > pl.col("promised") + FEW_STEPS).cast(pl.Int64))
    figures = _figures(seen, groups)
    if min(most) == 1:
        return AttackResult(figures=figures)
    is_too_large = pl.col("too_large") > 0
    is_certain = pl.lit(seen.is_linked) | (pl.col("most") == 1)
    rows = table.rename({"share": "found", "promised": "bound"}).with_columns(
        is_broken=is_too_large & is_certain, is_open=is_too_large & ~is_certain
    )
    counts = [count for count in judged(rows, most, "max") if count.required != 1]
    return AttackResult({"": counts}, figures, table.drop("most"))


def _figures(seen: AttackInput, groups: pl.DataFrame) -> MinimumPeopleFigures:
    """Counts of people beside counterfeits, and how many have the value that is the commonest in the table.

    The adversary knows everybody's group and how frequent values truly are, and guesses the commonest of a
    group.
    """
    forged = seen.published.counterfeits.filter(pl.col("count") > 0)
    totals = seen.known.group_by(VALUE).agg(total=pl.len())
    guess = (
        seen.published.values.join(forged, on="group_id", how="semi")
        .join(totals, on=VALUE, how="left")
        .sort("total", VALUE, descending=True, nulls_last=True)
        .group_by("group_id", maintain_order=True)
        .agg(guess=pl.col(VALUE).first())
    )
    beside = joined(seen.hosted.select("group_id", VALUE), guess, on="group_id")
    return MinimumPeopleFigures(
        fewest_people=least_of(groups["people"]),
        beside_counterfeits=int(groups.join(forged, on="group_id", how="semi")["people"].sum()),
        guessed_beside=beside.select((pl.col(VALUE) == pl.col("guess")).mean()).item(),
    )


def exposed_by_counterfeits(published: Published, largest_share: float) -> int:
    """Count people in groups where the most frequent value has too large a share without the counterfeits.

    Counterfeits that make a batch eligible are added because one value is too frequent, so they carry another
    one. R(n) says which groups have counterfeits. In such a group, the most frequent value of the release is
    spread over the people alone. Counterfeits bring other values up to it, so that several may be the most
    frequent: of these, the one that exposes the most people counts. The largest share is 1/m, m a whole
    number.
    """
    totals = published.values.group_by("value").agg(pl.col("tuples").sum())
    frequent = totals.filter(pl.col("tuples") == pl.col("tuples").max()).select("value")
    groups = (
        published.counterfeits.filter(pl.col("count") > 0)
        .join(published.sizes, on="group_id")
        .join(published.values.join(frequent, on="value"), on="group_id")
        .with_columns(people=pl.col("size") - pl.col("count"))
    )
    # Compared as whole numbers: 1/49 of 4,900,000 rounds to a little less than 100,000.
    over = groups.filter(pl.col("tuples") * round(1 / largest_share) > pl.col("people"))
    return int(most_of(over.group_by("value").agg(pl.col("people").sum())["people"]) or 0)
