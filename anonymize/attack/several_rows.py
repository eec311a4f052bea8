"""People with several rows: the values that somebody who knows all their rows takes them to have had, ever.

A row is followed as a person is: by its groups. Beyond that, whoever knows which rows are one person's
collects the signatures of all of them. Rows with different signatures are taken for rows with different
values. Rows with equal ones may have different values, too, and groups of several releases can prove it: so
it counts how many values a person truly has under a signature, whatever proves them.
"""

from __future__ import annotations

import polars as pl

from republish.anonymize.attack.figures import SeveralRowsFigures
from republish.anonymize.attack.finding import AttackResult, Count
from republish.anonymize.attack.input import AttackInput
from republish.anonymize.attack.judged import Bounds
from republish.anonymize.attack.knowledge import Knowledge
from republish.anonymize.attack.numbers import joined
from republish.anonymize.columns import VALUE, least_of, most_of
from republish.anonymize.people.persons import persons_of
from republish.anonymize.rounding import FEW_STEPS

UNITS = "several_rows"
"""What is remembered: `person` (one row of a person), `value`, and the `signature` under which it was ever
published, or null while the row is left out."""


def attack_several_rows(seen: AttackInput, most: Bounds[float]) -> AttackResult:
    """Count people who may have had a value, ever, with a larger probability than promised (`most`).

    It is promised of rows that are published. Of a person's rows that are in no group, whoever misses them
    knows that their value is in none of the person's signatures, or in one beside another value: people are
    counted of whom too few values are left then, and what all rows say together is a figure. Nothing is found
    where people have one row each, or where groups are not known.
    """
    if seen.schema.rows == "one" or not seen.is_linked:
        return AttackResult()
    holder = seen.holders
    stays = joined(seen.knowledge.followed.people.select("person", "signature", "since"), holder)
    held = seen.knowledge.followed.signatures.select(
        "signature", pl.col("values").alias(VALUE), size=pl.col("values").list.len()
    )
    here = joined(seen.hosted.select("person", VALUE), _here(seen))
    units, left_out = _units(seen, here, holder)
    number = units.group_by("holder", "signature").agg(number=pl.col(VALUE).n_unique())
    had = stays.group_by("holder", "signature").agg(pl.col("since").min())
    # The knowledge of versions below 0.20 has no values of rows that left before: each had one at least.
    had = had.join(number, on=["holder", "signature"], how="left").with_columns(pl.col("number").fill_null(1))
    likely = _ever_had(had, held, most)
    outside = _outside(seen, had.join(left_out, on="holder", how="semi"), held)
    together = _with_left_out(units, left_out, held, outside)
    rows = joined(here, holder)
    figures = SeveralRowsFigures(
        persons=likely.height,
        most_rows=most_of(rows.group_by("holder").len()["len"]),
        most_values=most_of(units.group_by("holder").agg(pl.col(VALUE).n_unique())[VALUE]),
        alike=had.filter(pl.col("number") > 1)["holder"].n_unique(),
        in_one_group=joined(seen.hosts, holder)
        .filter(pl.struct("holder", "group_id").is_duplicated())["holder"]
        .n_unique(),
        ever_had=most_of(likely["found"]),
        with_left_out=most_of(pl.concat([likely["found"], together["found"]])),
    )
    remembered = {UNITS: pl.concat([units, left_out]).drop("holder")}
    if all(bound is None for bound in most):
        return AttackResult(figures=figures, remembered=remembered)
    bound = next(bound for bound in reversed(most) if bound is not None)
    broken = likely.filter(pl.col("found") > pl.col("promised") * (1 + FEW_STEPS)).height
    counts = {"ever": Count(likely.height, broken, most_of(likely["found"]), bound)}
    counts["left out"] = _left_out(left_out, had, held, outside, most, round(1 / bound))
    return AttackResult(counts, figures, remembered=remembered)


def _here(seen: AttackInput) -> pl.DataFrame:
    """`person`, `signature` of the rows in the release."""
    stays = seen.knowledge.followed.people
    return stays.filter(pl.col("until") == seen.release).select("person", "signature")


def _units(seen: AttackInput, here: pl.DataFrame, holder: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The values of people that were ever published, one row each, and all rows that are left out so far.

    Both have `person`, `value`, `signature`, `holder`.
    """
    columns = ["person", VALUE, "signature"]
    before = seen.before.parts.get(UNITS, _units_before(seen.before, here)).select(columns)
    before = before.cast({VALUE: here.schema[VALUE]})
    published = pl.concat([before.drop_nulls("signature").select(columns), here.select(columns)])
    absent = joined(seen.known.select("person", VALUE), seen.hosts, how="anti")
    absent = absent.with_columns(signature=pl.lit(None, here.schema["signature"]))
    missed = joined(before.filter(pl.col("signature").is_null()), seen.known.select("person"), how="anti")
    left_out = joined(pl.concat([missed.select(columns), absent.select(columns)]), holder)
    units = joined(published, holder).unique(
        ["holder", VALUE, "signature"], keep="first", maintain_order=True
    )
    return units, left_out.join(units, on="holder", how="semi")


def _units_before(before: Knowledge, here: pl.DataFrame) -> pl.DataFrame:
    """The values of rows in the release before, which versions below 0.20 remembered with their stays."""
    if before.stays is None:
        return here.clear()
    return before.stays.people.drop_nulls(VALUE)


def _ever_had(had: pl.DataFrame, held: pl.DataFrame, most: Bounds[float]) -> pl.DataFrame:
    """`found`, `promised` for each person: the probability of the value that they most probably ever had.

    Values of a signature are equally probable, and a person has `number` of them. Those of different
    signatures are different values. So the probabilities of a value that several signatures have add up.
    Promised is what was in force when the first of them was given, or any other, if that was less strict.
    """
    several = pl.len().over("holder") > 1
    each = had.join(held.select("signature", "size"), on="signature").with_columns(
        several=several, promised=_promised(most), found=pl.col("number") / pl.col("size")
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


def _promised(most: Bounds[float]) -> pl.Expr:
    """What was in force when a signature was given, in the release `since`."""
    return pl.col("since").replace_strict(
        range(1, len(most) + 1), list(most), default=None, return_dtype=pl.Float64
    )


def _outside(seen: AttackInput, had: pl.DataFrame, held: pl.DataFrame) -> pl.DataFrame:
    """`holder`, `outside`: how many values that readers know are in none of a person's signatures."""
    taken = (
        had.join(held.select("signature", VALUE), on="signature")
        .explode(VALUE)
        .group_by("holder")
        .agg(pl.col(VALUE).n_unique())
    )
    there = seen.values.filter(seen.known_to_readers(seen.values))
    known = len(set(seen.schema.sensitive.values or ()) | set(there))
    return taken.select("holder", outside=known - pl.col(VALUE).cast(pl.Int64))


def _beside(rows: pl.DataFrame, had: pl.DataFrame, held: pl.DataFrame) -> pl.DataFrame:
    """The rows left out, with the `signature` of the person that has their value, null if none has."""
    values = had.select("holder", "signature").join(held, on="signature").explode(VALUE)
    its = values.select("holder", VALUE, "signature", "size").unique(["holder", VALUE], keep="first")
    return rows.drop("signature").join(its, on=["holder", VALUE], how="left")


def _with_left_out(
    units: pl.DataFrame, left_out: pl.DataFrame, held: pl.DataFrame, outside: pl.DataFrame
) -> pl.DataFrame:
    """`holder`, `found`: the largest probability of a value of people with rows that are left out, by all.

    Values outside of a person's signatures are taken as independent of each other, since nothing says that
    two such rows share one. Those under a signature are one more beside the values that were published.
    """
    rows = _beside(left_out, units, held)
    number = rows.group_by("holder").len().join(outside, on="holder")
    alone = number.select("holder", found=1 - (1 - 1 / pl.col("outside").clip(1)) ** pl.col("len"))
    under = rows.drop_nulls("signature").select("holder", "signature", VALUE)
    every = pl.concat(
        [units.join(under, on=["holder", "signature"], how="semi").select(under.columns), under]
    )
    beside = (
        every.group_by("holder", "signature")
        .agg(number=pl.col(VALUE).n_unique())
        .join(held, on="signature")
        .select("holder", found=pl.col("number") / pl.col("size"))
    )
    return pl.concat([alone, beside])


def _left_out(
    rows: pl.DataFrame,
    had: pl.DataFrame,
    held: pl.DataFrame,
    outside: pl.DataFrame,
    most: Bounds[float],
    least: int,
) -> Count:
    """Judge how many values are left for each row that is left out, of people who have others published.

    Whoever can tell that it is in none of the person's signatures is left with all values outside; whoever
    can tell that it is beside another value, with those of its signature, which has as many as were promised
    when it was given.
    """
    beside = _beside(rows, had, held).join(
        had.select("holder", "signature", promised=_promised(most)), on=["holder", "signature"], how="left"
    )
    is_enough = pl.col("size") * pl.col("promised").fill_null(1.0) >= 1 - FEW_STEPS
    beside = beside.join(outside, on="holder").with_columns(
        left=pl.when(pl.col("signature").is_null())
        .then("outside")
        .when(is_enough)
        .then(pl.max_horizontal("size", pl.lit(least)))
        .otherwise("size")
    )
    left = beside.group_by("holder").agg(pl.col("left").min())["left"]
    return Count(len(left), int((left < least).sum()), least_of(left), least)


def of_other_people(seen: AttackInput, rows: pl.DataFrame, known: pl.Series) -> pl.DataFrame:
    """The rows of people who have no row among those known, which are given by number."""
    if seen.schema.rows == "one":
        return rows
    names = seen.numbers.names
    theirs = persons_of(names.gather(known)).unique()
    return rows.filter(~persons_of(names.gather(rows["person"])).is_in(theirs.implode()))
