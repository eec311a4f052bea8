"""Columns of which one says what another one is: a town its stratum, a diagnosis its chapter.

A promise counts the candidate values of a group. Whoever knows the chapter of a person's diagnosis rules out
those of other chapters. Of two quasi-identifiers, groups do not show that one follows from the other, so that
counts by both are far off.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import polars as pl

from republish.anonymize.columns import exactly
from republish.anonymize.contract import Table
from republish.anonymize.contract.combined import separate
from republish.anonymize.errors import as_data
from republish.anonymize.spelling import SEVERAL

FIRST_ROWS = 10_000
"""Most columns that say nothing of each other disagree within so many rows."""
ROWS_OF_A_VALUE = 10
"""A column says what another one is if so many rows have each of its values, on average, and all agree."""


def determines(one: pl.Series, other: pl.Series) -> bool:
    """Whether everybody with a value of a column has the same value of another one, beyond chance.

    Two values of the other one have `SEVERAL` people at least. Rows in which either is missing say nothing.

    Examples
    --------
    >>> town, stratum = pl.Series(["A", "B", "C"] * 20), pl.Series([1, 2, 2] * 20)
    >>> determines(town, stratum), determines(stratum, town)
    (True, False)
    """
    both = pl.DataFrame([one.alias("one"), other.alias("other")])
    first = both.head(FIRST_ROWS).drop_nulls()
    if first.n_unique() > first["one"].n_unique():
        return False
    both = both.drop_nulls()
    if both["one"].n_unique() * ROWS_OF_A_VALUE > both.height:
        return False
    frequent = both["other"].value_counts(name="people").filter(pl.col("people") >= SEVERAL)
    return frequent.height > 1 and both.n_unique() == both["one"].n_unique()


def advice_on_determined(people: pl.DataFrame, schema: Table) -> Iterator[str]:
    """A sentence on each quasi-identifier that goes with a sensitive column, or follows from another one.

    `people` are a snapshot's, without faults, under our own names.
    """
    apart = separate(people, schema)
    for ours, secret in schema.sensitive_columns():
        values = (
            apart.filter(~exactly(ours).is_in([*secret.not_sensitive])) if secret.not_sensitive else apart
        )
        for column, one in schema.attributes():
            known, name, of = values[column], as_data(secret.name), as_data(one.name)
            if determines(known, values[ours]):
                yield (
                    f"{of} says what {name} is, of everybody: whoever knows the one knows the other, whatever"
                    f" is published. Is {name} what nobody may learn?"
                )
            elif determines(values[ours], known):
                yield (
                    f"each value of {name} has one value of {of}: whoever knows {of} of a person rules out"
                    f" all candidates that have another one, and fewer are left than promised. Leave {of} out"
                )
    for (column, one), (follows, other) in permutations(schema.attributes(), 2):
        if determines(people[column], people[follows]) and not determines(people[follows], people[column]):
            yield (
                f"{as_data(other.name)} follows from {as_data(one.name)}: groups do not show it, and counts"
                f" by both at once are far off. Leave {as_data(other.name)} out: whoever counts can add it"
            )
