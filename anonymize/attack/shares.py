"""The share of the most frequent value of each group."""

from __future__ import annotations

import polars as pl

from republish.anonymize.attack.exposure import exposed_by_counterfeits
from republish.anonymize.attack.figures import ShareFigures
from republish.anonymize.attack.finding import AttackResult
from republish.anonymize.attack.input import AttackInput
from republish.anonymize.attack.judged import Bounds, judged, promised
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
    rows = table.rename({"tuples": "people", "share": "found", "promised": "bound"})
    counts = judged(
        rows.with_columns(is_broken=pl.col("too_large") > 0),
        most,
        "max",
        # An earlier group may cover by chance somebody who was promised more and waits.
        lambda groups: seen.excused(seen.hosts.join(groups, on="group_id", how="semi")),
    )
    today = most[-1]
    exposed = None if today is None else exposed_by_counterfeits(seen.published, today)
    return AttackResult({"": counts}, ShareFigures(exposed), table)
