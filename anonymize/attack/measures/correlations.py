"""Guessing values of several sensitive columns by how these go together.

An adversary who knows that gout goes with a diet, and flu with rest, takes (gout, rest) for a counterfeit
sooner than (gout, diet), and rules out what nobody has. A group without counterfeits whose combinations
differ in every column says nothing more for that: each row is somebody's, and each column has as many
candidates. A value that two rows share, and a counterfeit of values that don't go together, do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from republish.anonymize.attack.measures.guessing import candidates_of, drawn
from republish.anonymize.columns import VALUE
from republish.anonymize.contract import Sensitive
from republish.anonymize.contract.combined import values_of
from republish.anonymize.formats.published import Published

CANDIDATE, WEIGHT = "candidate", "weight"


@dataclass(frozen=True)
class Correlated:
    """The shares of values that an adversary guesses right who knows how values of columns go together."""

    people: int
    """The people who are guessed."""
    by_column: Mapping[str, float]
    """The share of them whose value of a column is guessed right, by the column's name."""
    together: float
    """The share of them all of whose values are guessed right."""
    at_random: Mapping[str, float]
    """As `by_column`, for an adversary who takes all tuples that are left for equally likely."""
    ruled_out: int
    """People of whom a combination is ruled out because nobody ever had it."""


def of_all_shards(several: Sequence[Correlated]) -> Correlated | None:
    """Combine what was guessed in several shards, by their people; None of none."""
    people = sum(one.people for one in several)
    if not people:
        return several[0] if several else None

    def mean(shares: Sequence[float]) -> float:
        right = sum(share * one.people for share, one in zip(shares, several, strict=True))
        return float(right) / people

    names = several[0].by_column
    return Correlated(
        people,
        {name: mean([one.by_column[name] for one in several]) for name in names},
        mean([one.together for one in several]),
        {name: mean([one.at_random[name] for one in several]) for name in several[0].at_random},
        sum(one.ruled_out for one in several),
    )


def guess_by_correlations(
    known: pl.DataFrame,
    published: Published,
    sensitive: Sensitive,
    occur: pl.DataFrame,
    left: pl.DataFrame,
    domain: pl.Series,
    linkage: pl.DataFrame | None = None,
) -> Correlated | None:
    """Guess everybody's values in one release, from what all releases so far leave of them.

    Tuples that may be a person's count alike: of the person's group where groups are known (`linkage`), else
    of all groups. In a group with counterfeits, each counts as often as its values are together among all
    people, divided by how often they would be if columns had nothing to do with each other. The likeliest is
    guessed; of several equally likely ones, each is right with its share. None is returned if no group covers
    anybody.

    Parameters
    ----------
    known
        `person`, `value` (the truth, which only counts what was guessed right), `qi_0`, … as codes.
    occur
        `value`, `people`: how often each combination ever occurred.
    left
        `person`, `value`, `until`, `candidates_0`, …: what is left of everybody after all releases, this one
        included (`intersect`).
    domain
        Every combination, in the order of the bits.
    """
    tuples = _tuples(drawn(known, linkage, len(domain)), published, left, domain, linkage)
    if tuples.is_empty():
        return None
    tuples = tuples.join(together(occur, sensitive), left_on=CANDIDATE, right_on=VALUE, how="left")
    ruled_out = tuples.filter(pl.col("lift").is_null())["person"].n_unique()
    is_forged = pl.col("group_id").is_in(published.counterfeits["group_id"].implode())
    weight = pl.when(is_forged.fill_null(False) | pl.col("lift").is_null()).then(pl.col("lift").fill_null(0))
    tuples = tuples.with_columns((pl.col("tuples") * weight.otherwise(1.0)).alias(WEIGHT))
    own, guessed = values_of(tuples[VALUE], sensitive), values_of(tuples[CANDIDATE], sensitive)
    columns = {
        one.name: tuples.with_columns(true.alias(VALUE), candidate.alias(CANDIDATE))
        for one, true, candidate in zip(sensitive.columns, own, guessed, strict=True)
    }
    return Correlated(
        people=tuples["person"].n_unique(),
        by_column={name: _right(column, WEIGHT) for name, column in columns.items()},
        together=_right(tuples, WEIGHT),
        at_random={name: _right(column, "tuples") for name, column in columns.items()},
        ruled_out=ruled_out,
    )


def together(occur: pl.DataFrame, sensitive: Sensitive) -> pl.DataFrame:
    """Compare how often values are together (`value`, `people`) with chance: `value`, `lift`."""
    people = occur["people"].sum()
    lift = pl.col("people") / people
    own = enumerate(values_of(occur[VALUE], sensitive))
    parts = occur.with_columns(part.alias(f"part_{n}") for n, part in own)
    for n in range(len(sensitive.columns)):
        lift = lift / (pl.col("people").sum().over(f"part_{n}") / people)
    return parts.select(VALUE, lift.alias("lift"))


def _tuples(
    known: pl.DataFrame,
    published: Published,
    left: pl.DataFrame,
    domain: pl.Series,
    linkage: pl.DataFrame | None,
) -> pl.DataFrame:
    """`person`, `value`, `candidate`, `tuples`, `group_id`: what is left of each person, and how many tuples.

    They are those of the person's group; or of all groups, and `group_id` is null, where it isn't known.
    """
    state = left.sort("until").unique(["person", VALUE], keep="last")
    state = known.select("person", VALUE).join(state, on=["person", VALUE], maintain_order="left")
    person, candidate = np.nonzero(candidates_of(state, len(domain)))
    pairs = state.select("person", VALUE)[person].with_columns(domain[candidate].alias(CANDIDATE))
    held = published.values.rename({VALUE: CANDIDATE})
    if linkage is None:
        of_all = held.group_by(CANDIDATE).agg(pl.col("tuples").sum())
        return pairs.join(of_all, on=CANDIDATE).with_columns(group_id=pl.lit(None, pl.Int64))
    hosts = linkage.select("person", "group_id").drop_nulls()
    return pairs.join(hosts, on="person").join(held, on=["group_id", CANDIDATE])


def _right(tuples: pl.DataFrame, weight: str) -> float:
    """The share of people whose value is the one with the largest weight, or one of several such."""
    likely = tuples.group_by("person", VALUE, CANDIDATE).agg(pl.col(weight).sum())
    # Sums in another order differ in the last digits.
    likely = likely.with_columns(pl.col(weight).round(9))
    best = likely.filter(pl.col(weight) == pl.col(weight).max().over("person", VALUE))
    right = best.group_by("person", VALUE).agg((pl.col(VALUE) == pl.col(CANDIDATE)).mean().alias("right"))
    return float(right["right"].sum() / tuples["person"].n_unique())
