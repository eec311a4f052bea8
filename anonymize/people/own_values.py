"""Values that one person alone has, and those of them that look like free text."""

from __future__ import annotations

import polars as pl

from republish.anonymize.columns import VALUE
from republish.anonymize.contract import Sensitive
from republish.anonymize.contract.combined import values_of

LOOKS = {
    "sentences": r"\S+(\s+\S+){3}|.{60}",
    "numbers": r"(\d[\s./-]?){6}",
    "addresses": r"\S@\S+\.\S|\p{L}{3}[.,]?\s+\d{1,4}\s?\p{L}?\b|\b\d{1,4}\s?\p{L}?,?\s+\p{L}{4}",
}
"""What free text, numbers of persons and addresses have: words, digits, a street beside a number. Names of
diseases have it, too; what tells free text from them is `NEARLY_ALL`."""
NEARLY_ALL = 0.9
"""The share of the values of one look that one person alone has. Of codes and names that people share it is
0.8 at most, where at most half of the people have a value of their own: so it is of 12,000 codes that are as
frequent as diagnoses are, of 100 to 1,000,000 people."""
FEWEST_OF_A_LOOK = 10
"""Fewer values of one look say nothing."""
CODE = r"^\p{L}[\w.+/-]{0,7}$"
"""Short, with a letter first and without spaces: a code of a classification (`S72.01`), or a word."""


def count_values(people: pl.DataFrame, sensitive: Sensitive) -> pl.DataFrame:
    """Count the people with each value of each sensitive column: `column`, `value` (as text), `people`.

    Those of several shards may stand one below the other.
    """
    columns = zip(sensitive.columns, values_of(people[VALUE], sensitive), strict=True)
    counted = [
        pl.DataFrame({"value": its.cast(pl.String)})
        .group_by("value")
        .agg(people=pl.len().cast(pl.Int64))
        .select("value", "people", column=pl.lit(one.name))
        for one, its in columns
    ]
    return pl.concat(counted)


def own_values(counted: pl.DataFrame) -> pl.DataFrame:
    """Count the people who have a value of their own, and those of them whose value looks like free text.

    Returns a row for each column, in the order of their names: `column`, `people`, `own` (people whose value
    nobody else has), `texts`: those of them whose value has a look of `LOOKS`, where at least
    `FEWEST_OF_A_LOOK` values have that look and one person alone has `NEARLY_ALL` of these; and `codes`:
    those of them whose value is a `CODE`.
    """
    whole = counted.group_by("column", "value").agg(pl.col("people").sum())
    is_own, looks = pl.col("people") == 1, [pl.col("value").str.contains(look) for look in LOOKS.values()]
    telling = [
        look
        & (look.sum().over("column") >= FEWEST_OF_A_LOOK)
        & ((look & is_own).sum().over("column") >= NEARLY_ALL * look.sum().over("column"))
        for look in looks
    ]
    return (
        whole.with_columns(
            own=is_own,
            texts=is_own & pl.any_horizontal(telling),
            codes=is_own & pl.col("value").str.contains(CODE),
        )
        .group_by("column")
        .agg(pl.col("people", "own", "texts", "codes").sum().cast(pl.Int64))
        .sort("column")
    )
