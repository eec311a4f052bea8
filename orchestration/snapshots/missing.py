"""People without a value in some column: left out of a release, or published under a label of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import polars as pl

from republish.anonymize.columns import IDENTIFIER, exactly
from republish.anonymize.contract import CategoryAttribute, Table
from republish.anonymize.contract.scalars import MISSING
from republish.anonymize.contract.sensitive import Sensitive
from republish.anonymize.errors import as_data


class Settled(NamedTuple):
    """A snapshot, after what its contract says of missing values."""

    people: pl.DataFrame
    """Those who are in the release. A missing label, or sensitive value, is `(missing)`."""
    left_out: pl.DataFrame
    """`identifier`, `column` of all others: the name of the first column, in the contract's order, that lacks
    their value and leaves such people out."""


def settle_missing(people: pl.DataFrame, schema: Table) -> Settled:
    """Leave out, or label, people without a value; `people` is as `conform` has made it."""
    columns = dict(schema.all_columns())
    rules = {ours: one for ours, one in columns.items() if one.missing == "leave_out"}
    reasons = [pl.when(exactly(ours).is_null()).then(pl.lit(one.name)) for ours, one in rules.items()]
    without = people.select(IDENTIFIER, column=pl.coalesce(*reasons, pl.lit(None, pl.String)))
    stay = without["column"].is_null()
    labels = [
        exactly(ours).fill_null(MISSING)
        for ours, one in columns.items()
        if one.publishes_missing and isinstance(one, CategoryAttribute | Sensitive)
    ]
    return Settled(people.filter(stay).with_columns(labels), without.filter(~stay))


def counted_by_column(left_out: pl.DataFrame) -> dict[str, int]:
    """How many people are left out, by column."""
    return dict(left_out.group_by("column").len().sort("column").iter_rows())


def counted_of_all(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """How many people of several parts of a snapshot are left out, by column."""
    return dict(sorted(sum(map(Counter, parts), Counter[str]()).items()))


def in_words(left_out: Mapping[str, int], counted: str) -> str:
    """A sentence, without its full stop, on people, or rows, that are left out; nothing if none is."""
    by_column = ", ".join(f"{number:,} of {as_data(column)}" for column, number in left_out.items())
    number = sum(left_out.values())
    return f"{number:,} {counted} are left out for want of a value: {by_column}" if left_out else ""
