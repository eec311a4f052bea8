"""The breach probability of values that come and go: ever linked to it, over all releases."""

from __future__ import annotations

import polars as pl


def link_probabilities(hosts: pl.DataFrame, values: pl.DataFrame) -> pl.DataFrame:
    """How likely each person is linked to each value of their group, at one release.

    Parameters
    ----------
    hosts
        `person`, `group_id`: the group that hosts the person.
    values
        `group_id`, `value`, `tuples`.

    Returns
    -------
    pl.DataFrame
        `person`, `value`, `probability`: the value's share of the group, 1/r.
    """
    share = pl.col("tuples") / pl.col("tuples").sum().over("group_id")
    shares = values.select("group_id", "value", share.alias("probability"))
    return hosts.join(shares, on="group_id", how="inner").select("person", "value", "probability")


def breach_probability(links: pl.DataFrame, state: pl.DataFrame | None = None) -> pl.DataFrame:
    """The probability that a person was linked to a value in at least one release so far.

    p = 1 - prod(1 - 1/r_i), over the releases in which the person's group holds the value.

    Parameters
    ----------
    links
        What `link_probabilities` returns for one more release.
    state
        What this returned for the release before; None at the first.

    Returns
    -------
    pl.DataFrame
        `person`, `value`, `breach` in [0, 1].

    References
    ----------
    Wong et al., Preserving individual privacy in serial data publishing, Lemma 4.2.
    """
    now = links.select("person", "value", pl.col("probability").alias("breach"))
    if state is None:
        return now
    # Kept as the probability of having escaped only inside this product: 1 - (1 - p)(1 - q).
    escaped = (1 - pl.col("breach")).product()
    return pl.concat([state, now]).group_by("person", "value").agg((1 - escaped).alias("breach"))


def breach_figures(state: pl.DataFrame, guarantee: float | None = None) -> dict[str, int | float | None]:
    """What the attack came to: `people`, `largest`, and `above`: people above 1/l for some value.

    Parameters
    ----------
    state
        What `breach_probability` returned.
    guarantee
        l, if the publisher promises that nobody's breach probability is above 1/l.
    """
    worst = state.group_by("person").agg(pl.col("breach").max())
    # Products of shares such as 1/3 round; a promise kept with equality is kept.
    above = None if guarantee is None else int((worst["breach"] > 1 / guarantee + 1e-9).sum())
    return {"people": len(worst), "largest": worst["breach"].max(), "above": above}


def forget_absent(state: pl.DataFrame, present: pl.DataFrame, release: int, after: int) -> pl.DataFrame:
    """What a promise that forgets counts: nothing of people absent from so many releases in a row.

    An adversary forgets nothing. This is for judging a publisher whose contract says `forget_after`: people
    who return after such an absence are given the same promise anew.

    Parameters
    ----------
    state
        `person`, `value`, `breach`, and `last_seen` (null at the first call for a person), one row per link.
    present
        `person`: everybody in T(n), in the release or held back.
    release
        n, counted from 1.
    after
        Releases in a row.

    Returns
    -------
    pl.DataFrame
        The state with `last_seen`, without the people who were last seen in release n - `after` or before.
    """
    seen = state.join(present.select("person", is_here=pl.lit(value=True)), on="person", how="left")
    before = pl.col("last_seen") if "last_seen" in state.columns else pl.lit(None, pl.Int64)
    last_seen = pl.when("is_here").then(pl.lit(release, pl.Int64)).otherwise(before.cast(pl.Int64))
    return (
        seen.with_columns(last_seen=last_seen).drop("is_here").filter(pl.col("last_seen") > release - after)
    )
