"""The intersection attack: candidate sensitive sets, intersected over everything that was published.

A person's value is persistent while they carry it, so it lies in every one of their candidate sets. What
is kept from release to release is one bitset per lifespan of a tuple (a person with one value); how far
an adversary gets who links lifespans, values or whole series follows from it by intersecting further.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import polars as pl

from republish.anonymize.attack.combinations import Combinations
from republish.anonymize.attack.coverage import cover, signatures
from republish.anonymize.attack.numbers import is_repeated, joined
from republish.anonymize.columns import least_of, mean_of
from republish.anonymize.figures import Figures, Least, MeanBy, Total
from republish.anonymize.formats.published import Published

SCOPES = {
    "lifespan": ("person", "value", "since"),
    "value": ("person", "value"),
    "person": ("person",),
}
"""What an adversary may know to belong together: an uninterrupted stay, all stays with the same value,
all stays whatever the value (they don't know, or don't believe, that it changed)."""


def intersect(
    people: pl.DataFrame,
    published: Published,
    domain: pl.Series,
    release: int,
    state: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Intersect candidate sensitive sets with one more release, for an adversary who knows quasi-identifiers.

    Parameters
    ----------
    people
        T(n): `person` (unique), `value`, one column of codes per quasi-identifier. The value tells
        apart a person's tuples and is used for nothing else, so a keyed digest of it will do.
    published
        T*(n).
    domain
        Every sensitive value, in the order of the bits; values may only be added at the end.
    release
        n, counted from 1.
    state
        What this returned for the release before; None at the first.

    Returns
    -------
    pl.DataFrame
        One row per lifespan of a tuple, past and present: `person`, `value`, `since`, `until` (release
        numbers), `promised` and `candidates_0`, `candidates_1`, … (64 bits of the set each).

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, Definition 15, Lemmas 1 and 2.
    """
    return narrow(cover(people, published, domain), release, state)


def intersect_hosts(
    people: pl.DataFrame,
    hosts: pl.DataFrame,
    published: Published,
    domain: pl.Series,
    release: int,
    state: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Intersect candidate sensitive sets, as `intersect` does, with everybody's generalized hosting group.

    Stronger than coverage, and what m-invariance promises to withstand (Definition 17, condition 2). People
    whom `hosts` (`person`, `group_id`) leaves out are not in the release.
    """
    hosted = joined(joined(people, hosts), signatures(published.values, domain), on="group_id", how="left")
    return narrow(hosted.with_columns(pl.col("^candidates_.*$").fill_null(0)), release, state)


def narrow(covered: pl.DataFrame, release: int, state: pl.DataFrame | None) -> pl.DataFrame:
    """Update the state after a release: lifespans that go on are narrowed, ended ones kept, new ones added.

    The people covered have `person`, `value`, `candidates_…` at this release, and `promised`: the release in
    which they got the promise they are judged by.
    """
    now = covered.select(
        "person",
        "value",
        pl.lit(release, pl.Int32).alias("since"),
        pl.lit(release, pl.Int32).alias("until"),
        *(["promised"] if "promised" in covered.columns else [pl.lit(release, pl.Int32).alias("promised")]),
        "^candidates_.*$",
    )
    if state is None:
        return now
    going_on = pl.col("until") == release - 1
    ended = state.filter(~going_on)
    before = state.filter(going_on)
    linked = joined(now, before, on=["person", "value"], how="left", suffix="_before")
    is_linked = set(linked.columns)
    narrowed = linked.select(
        "person",
        "value",
        pl.col("since_before").fill_null(pl.col("since")).alias("since"),
        "until",
        pl.coalesce("promised_before", "promised").alias("promised"),
        *(
            pl.when(pl.col("since_before").is_null())
            .then(pl.col(word))
            .otherwise(pl.col(word) & pl.col(f"{word}_before"))
            if f"{word}_before" in is_linked
            else pl.when(pl.col("since_before").is_null()).then(pl.col(word)).otherwise(pl.lit(0, pl.UInt64))
            for word in words(now)
        ),
    )
    left = joined(before, now, on=["person", "value"], how="anti")
    return pl.concat([ended, left, narrowed], how="diagonal").with_columns(
        pl.col("^candidates_.*$").fill_null(0)
    )


def words(frame: pl.DataFrame) -> list[str]:
    """The columns that hold the candidate sets."""
    return [column for column in frame.columns if column.startswith("candidates_")]


def candidates(
    states: Sequence[pl.DataFrame],
    scope: str = "value",
    combinations: Combinations | None = None,
    enough: int = 2,
) -> pl.DataFrame:
    """Count the candidates that are left, over all releases of all series together.

    There is one state per series of the same product, over the same domain. Lifespans are of one series;
    values and persons, the other `SCOPES`, are linked across series. People to whom nothing is promised are
    left out.

    Returns
    -------
    pl.DataFrame
        The scope's columns, `promised` (the earliest) and `candidates`: how many values are left; of several
        sensitive columns (`combinations`), how many combinations that differ in every column: of three and
        more, no more than `enough` are searched for.
    """
    keys, owed = _keys(scope), left_of(states, scope)
    left = pl.sum_horizontal(pl.col(words(owed)).bitwise_count_ones()).cast(pl.Int32).alias("candidates")
    counted = owed.select(*keys, "promised", left)
    if combinations is None:
        return counted
    return counted.with_columns(combinations.differing(owed.select(words(owed)), enough))


def left_of(states: Sequence[pl.DataFrame], scope: str = "value") -> pl.DataFrame:
    """Intersect all releases of all series, as `candidates` does, for people to whom something is promised.

    The columns are the scope's, `promised` (the earliest), `candidates_0`, `candidates_1`, … (64 bits each).
    """
    together = pl.concat(
        [state.with_columns(pl.lit(n).alias("series")) for n, state in enumerate(states)], how="diagonal"
    ).with_columns(pl.col("^candidates_.*$").fill_null(0))
    keys, bits = _keys(scope), words(together)
    if scope != "lifespan":
        # Nearly everybody has one row, in which there is nothing to intersect.
        several = is_repeated(together["person"])
        groups = together.filter(several).group_by(keys)
        again = groups.agg(pl.col("promised").min(), pl.col(bits).bitwise_and())
        columns = [*keys, "promised", *bits]
        together = pl.concat([together.filter(~several).select(columns), again.select(columns)])
    return together.drop_nulls("promised").select(*keys, "promised", *bits)


def _keys(scope: str) -> list[str]:
    return [*SCOPES[scope], *(["series"] if scope == "lifespan" else [])]


def changed(states: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """`person`: those whose value changed, so that intersecting over everything misleads an adversary."""
    pairs = pl.concat([state.select("person", "value") for state in states])
    pairs = pairs.filter(is_repeated(pairs["person"])).unique()
    return pairs.group_by("person").len().filter(pl.col("len") > 1).select("person")


@dataclass(frozen=True, kw_only=True)
class Intersected(Figures):
    """Counts of an intersection attack, in lifespans, values or people."""

    attacked: Total
    vulnerable: Total
    """Of whom one candidate is left: the value is known (Lemma 1)."""
    empty: Total
    """Of whom none is left: the adversary was misled."""
    smallest: Least
    """The fewest candidates that are left of anybody else."""
    mean: Annotated[float | None, MeanBy("attacked")]
    """The mean number of candidates."""


def intersected(left: pl.DataFrame) -> Intersected:
    """Count what is left: `candidates`, one row per lifespan, value or person."""
    sizes = left["candidates"]
    return Intersected(
        attacked=len(sizes),
        vulnerable=int((sizes == 1).sum()),
        empty=int((sizes == 0).sum()),
        smallest=least_of(sizes.filter(sizes > 0)),
        mean=mean_of(sizes),
    )
