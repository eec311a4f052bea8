"""People with several rows: the values that somebody who knows all their rows takes them to have had, ever.

A row is followed as a person is: by its groups. Beyond that, whoever knows which rows are one person's
collects the signatures of all of them. Rows with equal signatures are taken for rows with one value, and rows
with different ones for rows with different values.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from republish.anonymize.attack.figures import SeveralRowsFigures
from republish.anonymize.attack.finding import AttackResult, Count
from republish.anonymize.attack.input import AttackInput, Bounds, with_holders
from republish.anonymize.attack.numbers import joined
from republish.anonymize.attack.public_values import known_to_readers
from republish.anonymize.columns import VALUE, least_of, mean_of, most_of
from republish.anonymize.people.persons import persons_of
from republish.anonymize.rounding import FEW_STEPS


def attack_several_rows(seen: AttackInput, most: Bounds[float]) -> AttackResult:
    """Count people who may have had a value, ever, with a larger probability than promised (`most`).

    Of a person's rows that are in no group, whoever misses them knows that their value is in none of the
    person's signatures: people are counted of whom too few values are left then. Nothing is found where
    people have one row each, or where groups are not known.
    """
    if seen.schema.rows == "one" or not seen.is_linked:
        return AttackResult()
    rows = pl.DataFrame({"person": pl.int_range(len(seen.numbers.names), dtype=pl.UInt32, eager=True)})
    holder = with_holders(rows, seen.numbers, seen.schema)
    stays = joined(seen.knowledge.linked.people.select("person", "signature", "since"), holder)
    held = seen.knowledge.linked.signatures.select(
        "signature", pl.col("values").alias(VALUE), size=pl.col("values").list.len()
    )
    had = stays.group_by("holder", "signature").agg(pl.col("since").min())
    likely = _ever_had(had, held, most)
    rows = joined(joined(seen.hosted.select("person", VALUE), holder), _here(seen))
    figures = SeveralRowsFigures(
        persons=likely.height,
        most_rows=most_of(rows.group_by("holder").len()["len"]),
        most_values=most_of(had.group_by("holder").len()["len"]),
        alike=_alike(rows),
        in_one_group=joined(seen.hosts, holder)
        .filter(pl.struct("holder", "group_id").is_duplicated())["holder"]
        .n_unique(),
        ever_had=most_of(likely["found"]),
        as_independent=_as_independent(rows, held),
    )
    if all(bound is None for bound in most):
        return AttackResult(figures=figures)
    bound = next(bound for bound in reversed(most) if bound is not None)
    broken = likely.filter(pl.col("found") > pl.col("promised") * (1 + FEW_STEPS)).height
    counts = {"ever": Count(likely.height, broken, most_of(likely["found"]), bound)}
    counts["left out"] = _left_out(seen, holder, had, held, round(1 / bound))
    return AttackResult(counts, figures)


def _here(seen: AttackInput) -> pl.DataFrame:
    """`person`, `signature` of the rows in the release."""
    stays = seen.knowledge.linked.people
    return stays.filter(pl.col("until") == seen.release).select("person", "signature")


def _ever_had(had: pl.DataFrame, held: pl.DataFrame, most: Bounds[float]) -> pl.DataFrame:
    """`found`, `promised` for each person: the probability of the value that they most probably ever had.

    Values of a signature are equally probable, and those of different signatures are different values. So the
    probabilities of a value that several signatures have add up. Promised is what was in force when the first
    of them was given, or any other, if that was less strict.
    """
    bounds = pl.col("since").replace_strict(
        range(1, len(most) + 1), list(most), default=None, return_dtype=pl.Float64
    )
    several = pl.len().over("holder") > 1
    each = had.join(held.select("signature", "size"), on="signature").with_columns(
        several=several, promised=bounds, found=1 / pl.col("size")
    )
    alone = each.filter(~pl.col("several")).select("holder", "found", "promised")
    added = (
        each.filter("several")
        .join(held.select("signature", VALUE), on="signature")
        .explode(VALUE)
        .group_by("holder", VALUE)
        .agg(pl.col("found").sum(), pl.col("promised").max())
        .group_by("holder")
        .agg(pl.col("found").max(), pl.col("promised").max())
    )
    return pl.concat([alone, added]).with_columns(pl.col("promised").fill_null(1.0))


def _alike(rows: pl.DataFrame) -> int:
    """Count the people with rows of different values under one signature."""
    values = rows.group_by("holder", "signature").agg(pl.col(VALUE).n_unique())
    return values.filter(pl.col(VALUE) > 1)["holder"].n_unique()


def _as_independent(rows: pl.DataFrame, held: pl.DataFrame) -> float | None:
    """The mean, over people, of what somebody who takes rows as independent comes to for one value."""
    number = rows.group_by("holder", "signature").agg(rows=pl.len())
    of_value = number.join(held, on="signature").with_columns(
        found=1 - (1 - 1 / pl.col("size")) ** pl.col("rows")
    )
    mean: float | None = mean_of(of_value.group_by("holder").agg(pl.col("found").max())["found"])
    return mean


def _left_out(
    seen: AttackInput, holder: pl.DataFrame, had: pl.DataFrame, held: pl.DataFrame, least: int
) -> Count:
    """Judge how many values are left for rows that are missing, of people who have others in the release."""
    absent = joined(seen.known.select("person"), seen.hosts, how="anti")
    missing = joined(absent, holder).select("holder").unique()
    taken = (
        had.join(missing, on="holder")
        .join(held.select("signature", VALUE), on="signature")
        .explode(VALUE)
        .group_by("holder")
        .agg(pl.col(VALUE).n_unique())
    )
    there = seen.values.filter(known_to_readers(seen, seen.values))
    known = set(seen.schema.sensitive.values or ()) | set(there)
    left = pl.Series(len(known) - taken[VALUE].to_numpy().astype(np.int64))
    return Count(len(left), int((left < least).sum()), least_of(left), least)


def of_other_people(seen: AttackInput, rows: pl.DataFrame, known: pl.Series) -> pl.DataFrame:
    """The rows of people who have no row among those known, which are given by number."""
    if seen.schema.rows == "one":
        return rows
    names = seen.numbers.names
    theirs = persons_of(names.gather(known)).unique()
    return rows.filter(~persons_of(names.gather(rows["person"])).is_in(theirs.implode()))
