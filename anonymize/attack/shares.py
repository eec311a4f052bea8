"""The share of the most frequent value of each group."""

from __future__ import annotations

import polars as pl

from republish.anonymize.attack.exposure import exposed_by_counterfeits
from republish.anonymize.attack.figures import ShareFigures
from republish.anonymize.attack.finding import AttackResult, Count
from republish.anonymize.attack.input import AttackInput, Bounds, promised, vintages
from republish.anonymize.columns import most_of
from republish.anonymize.rounding import FEW_STEPS


def attack_shares(seen: AttackInput, most: Bounds[float]) -> AttackResult:
    """Judge whether no value has a larger share of a person's group than they were promised.

    A group of which nobody is known is judged by the largest share that was ever promised. As many groups as
    people were held back so far count as undecided instead of broken, where groups are not known.
    """
    given = [share for share in most if share is not None]
    if not given:
        return AttackResult()
    strictest = (
        seen.owed.with_columns(promised(most).alias("promised"))
        .group_by("group_id")
        .agg(pl.col("promised").min())
    )
    table = (
        seen.guarded.select("group_id", tuples="stated", share=pl.col("most") / pl.col("stated"))
        .join(strictest, on="group_id", how="left")
        .with_columns(pl.col("promised").fill_null(max(given)))
        .with_columns(too_large=(pl.col("share") > pl.col("promised") + FEW_STEPS).cast(pl.Int64))
    )
    counts = []
    for since, level in vintages(most):
        own = table.filter(pl.col("promised") == level)
        above = own.filter(pl.col("too_large") > 0).sort("tuples", "group_id", descending=True)
        excused = 0
        if (
            not seen.is_linked
        ):  # an earlier group may cover by chance somebody who was promised more and waits
            convicted = seen.hosts.filter(pl.col("group_id").is_in(above["group_id"].implode()))
            excused = seen.knowledge.by_chance(convicted["person"])
        undecided, broken = (
            int(some["tuples"].sum()) for some in (above.head(excused), above.slice(excused))
        )
        if len(own) or level == most[-1]:
            tuples = int(own["tuples"].sum())
            counts.append(Count(tuples, broken, most_of(own["share"]), level, undecided, since))
    today = most[-1]
    exposed = None if today is None else exposed_by_counterfeits(seen.published, today)
    return AttackResult({"": counts}, ShareFigures(exposed), table)
