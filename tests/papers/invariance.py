"""Definition 17 of m-invariance, counted on one release: its groups, and who moved (Lemma 4)."""

from typing import NamedTuple

import polars as pl

from republish.anonymize.attack.invariance import moved_since


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


def check_invariance(people, hosts, published, m, before=None):
    """The counts, and what is to be given for the next release."""
    moved, now = moved_since(people, hosts, published, before)
    groups = published.values.group_by("group_id").agg(
        pl.col("value").n_unique().alias("values"), pl.col("tuples").max().alias("most")
    )
    few, repeating = (groups["values"] < m).sum(), (groups["most"] > 1).sum()
    staying = 0 if before is None else now.join(before, on=["person", "value"], how="semi").height
    return Invariance(few, repeating, staying, moved), now
