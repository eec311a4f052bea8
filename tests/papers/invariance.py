"""Definition 17 of m-invariance, counted on one release: its groups, and who moved (Lemma 4)."""

from typing import NamedTuple

import polars as pl

from republish.anonymize.attack.invariance import moved_people
from republish.anonymize.attack.stays import follow_stays


class Invariance(NamedTuple):
    """Counts; of an m-invariant series `too_few`, `repeating` and `moved` are 0 in every release."""

    too_few: int
    """Groups with fewer than m distinct values."""
    repeating: int
    """Groups in which a value occurs more than once."""
    staying: int
    """People who were in the release before, with the same value."""
    moved: int
    """Those of them whose signature is another than in the release before."""


def check_invariance(people, hosts, published, m, release=1, before=None):
    """The counts, and the stays, which are to be given for the next release."""
    present = people.select("person", "value").join(hosts.select("person", "group_id"), on="person")
    forged = pl.DataFrame(schema={"person": pl.Int64, "group_id": pl.Int64})
    stays = follow_stays(present, forged, published.values, release, before)
    groups = published.values.group_by("group_id").agg(
        pl.col("value").n_unique().alias("values"), pl.col("tuples").max().alias("most")
    )
    few, repeating = (groups["values"] < m).sum(), (groups["most"] > 1).sum()
    moved = len(moved_people(stays, before, release))
    staying = 0
    if before is not None:
        earlier = before.people.filter(until=release - 1)
        staying = present.join(earlier, on=["person", "value"], how="semi").height
    return Invariance(few, repeating, staying, moved), stays
