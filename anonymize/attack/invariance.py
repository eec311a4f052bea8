"""Definition 17 as it stands: m-unique groups, and one signature through an uninterrupted stay.

Candidate sets that are large enough say less: they may be those of other people's values, shrink from
release to release, and still count m.
"""

from __future__ import annotations

import polars as pl

from republish.anonymize.attack.finding import AttackResult, one
from republish.anonymize.attack.input import AttackInput
from republish.anonymize.attack.judged import Bounds, promised
from republish.anonymize.attack.numbers import joined
from republish.anonymize.attack.stays import Stays


def moved_people(stays: Stays, before: Stays | None, release: int) -> pl.DataFrame:
    """List each `person` who stayed with the same value and is in groups of another signature than before.

    There are none in any release of an m-invariant series. By Lemma 4 it is enough to compare with the
    release before. Whether R(n) and hosting groups are as stated is not asked here. `before` is what
    `follow_stays` returned for the release before; None at the first.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, Definitions 16 and 17, Lemma 4.
    """
    now = stays.people.filter(pl.col("until") == release).select("person", "value", "signature")
    if before is None:
        return now.clear().select("person")
    earlier = before.people.filter(pl.col("until") == release - 1).select("person", "value", "signature")
    both = joined(now, earlier, on=["person", "value"], suffix="_before")
    return both.filter(pl.col("signature") != pl.col("signature_before")).select("person")


def attack_regularity(seen: AttackInput, given: Bounds[str], least: Bounds[int]) -> AttackResult:
    """Judge whether groups hold each value once (`unique`) or all equally often (`even`), as promised."""
    if given[-1] is None:
        return AttackResult()
    groups = seen.guarded.filter(pl.col("stated") > 0)
    is_irregular = pl.col("most") > 1 if given[-1] == "unique" else pl.col("most") != pl.col("fewest")
    if not seen.is_linked:
        return one(groups.height, groups.filter(is_irregular).height)
    owed = seen.owed.group_by("group_id").agg(least=promised(least).max().cast(pl.Int64))
    table = seen.guarded.join(owed, on="group_id", how="left").with_columns(pl.col("least").fill_null(2))
    return one(groups.height, groups.filter(is_irregular).height, table=table)
