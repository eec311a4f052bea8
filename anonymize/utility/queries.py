"""Counts that researchers ask for, and how far the counts estimated from a release are off.

A query counts people whose quasi-identifiers lie in given intervals, with one sensitive value or with any.
From a generalized table it is estimated as if the people of a group were spread evenly over its intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from republish.anonymize.arrays import Floats, Ints
from republish.anonymize.columns import VALUE
from republish.anonymize.contract import Table
from republish.anonymize.people.codes import code_domain

DELTA = 0.005
"""Counts below this share of all people are not asked to be more accurate than that (section 4.2)."""


@dataclass(frozen=True)
class Workload:
    """Q queries on the same quasi-identifiers."""

    columns: tuple[str, ...]
    """The quasi-identifiers with a condition: `qi_0`, …"""
    low: Floats
    """float64[Q, C]: the lowest code each condition admits."""
    high: Floats
    """float64[Q, C]: the highest one."""
    value: tuple[object, ...]
    """The sensitive value of each query; None where any will do."""

    def of_each_value(self, rows: pl.DataFrame) -> dict[object, pl.DataFrame]:
        """The rows of each value that is asked for and that rows have."""
        asked = pl.Series([*{*self.value}], dtype=rows.schema[VALUE]).implode()
        parts = rows.filter(pl.col(VALUE).is_in(asked, nulls_equal=True)).partition_by(VALUE, as_dict=True)
        return {value: part for (value,), part in parts.items()}


def random_workload(
    schema: Table,
    columns: Sequence[str],
    values: pl.Series | None,
    queries: int,
    width: float,
    rng: np.random.Generator,
) -> Workload:
    """Draw queries: an interval of each quasi-identifier anywhere in its domain, and one sensitive value.

    Each of `values` is equally likely to be asked for; None is to ask for any. `width` is the share of a
    domain that an interval covers; of a whole-number one, at least one value.
    """
    low, high = np.empty((2, queries, len(columns)))
    attributes = dict(schema.attributes())
    for position, column in enumerate(columns):
        attribute = attributes[column]
        low[:, position], high[:, position] = random_intervals(
            *code_domain(attribute), attribute.discrete, queries, width, rng
        )
    asked = [None] * queries if values is None else values[rng.integers(len(values), size=queries).tolist()]
    return Workload(tuple(columns), low, high, tuple(asked))


def workload_of_people(
    schema: Table, people: pl.DataFrame, queries: int, width: float, rng: np.random.Generator
) -> Workload:
    """Draw queries that somebody answers to: on all quasi-identifiers, and one sensitive value.

    With many quasi-identifiers, or domains that are wider than the table, random intervals hold nobody, and
    a count of nobody is right whatever is published. So each query is about a person, drawn at random: it
    asks for their value, and for an interval of each domain, anywhere around their quasi-identifier.

    Parameters
    ----------
    schema
        The quasi-identifiers with their domains.
    people
        The truth: `value`, `qi_0`, … as codes; not empty. Those without a missing one are drawn, if any is.
    queries
        How many.
    width
        The share of a domain that an interval covers; of a whole-number one, at least one value.
    rng
        Who is drawn, and where the intervals are: the same, in whichever order people are.
    """
    attributes = dict(schema.attributes())
    everybody = people.select(VALUE, *attributes)
    whole = everybody.drop_nulls()
    among = everybody if whole.is_empty() else whole
    drawn = _rows_in_order(among, rng.integers(len(among), size=queries))
    low, high = np.empty((2, queries, len(attributes)))
    for position, (column, attribute) in enumerate(attributes.items()):
        lowest, highest = code_domain(attribute)
        own = drawn[column].fill_null(lowest).to_numpy().clip(lowest, highest)
        if attribute.discrete:
            covered = max(1, round(width * (highest - lowest + 1)))
            first = np.maximum(lowest, own - covered + 1)
            low[:, position] = rng.integers(first, np.minimum(own, highest - covered + 1) + 1)
            high[:, position] = low[:, position] + covered - 1
        else:
            length = width * (highest - lowest)
            low[:, position] = rng.uniform(
                np.maximum(lowest, own - length), np.minimum(own, highest - length)
            )
            high[:, position] = low[:, position] + length
    return Workload(tuple(attributes), low, high, tuple(drawn[VALUE]))


def _rows_in_order(table: pl.DataFrame, places: Ints) -> pl.DataFrame:
    """The rows at these places of a table that is sorted by all its columns.

    By two columns, it is known where rows of a cell would be; only the cells that are asked for are sorted.
    """
    by = table.columns[:2]
    cells = table.group_by(by).len().sort(by)
    ends = cells["len"].cum_sum().to_numpy()
    asked, at = np.unique(np.searchsorted(ends, places, side="right"), return_inverse=True)
    some = cells[asked.tolist()]
    skipped = ends[asked] - some["len"].cum_sum().to_numpy()
    rows = table.join(some, on=by, how="semi", nulls_equal=True).sort(pl.all())
    found: pl.DataFrame = rows[(places - skipped[at]).tolist()]
    return found


def random_intervals(
    lowest: float, highest: float, discrete: bool, queries: int, width: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The ends of random intervals that cover a share of the domain."""
    if discrete:
        covered = max(1, round(width * (highest - lowest + 1)))
        first = rng.integers(int(lowest), int(highest) - covered + 2, queries)
        return first, first + covered - 1
    length = width * (highest - lowest)
    low = rng.uniform(lowest, highest - length, queries)
    return low, low + length


def true_counts(people: pl.DataFrame, workload: Workload) -> Ints:
    """int64[Q]: the answers of the table itself; `people` has `value` and the codes `qi_0`, …."""
    by_value = _by_value(people, workload)
    answers = np.zeros(len(workload.value), np.int64)
    for query, value in enumerate(workload.value):
        inside = [
            (by_value[value][column] >= workload.low[query, position])
            & (by_value[value][column] <= workload.high[query, position])
            for position, column in enumerate(workload.columns)
            if value in by_value
        ]
        answers[query] = np.logical_and.reduce(inside).sum() if inside else 0
    return answers


def overlap(low: np.ndarray, high: np.ndarray, asked_low: float, asked_high: float, unit: int) -> np.ndarray:
    """Which share of each interval lies in the one asked for: of one of no length all, without ends none."""
    covered = np.minimum(high, asked_high) - np.maximum(low, asked_low) + unit
    length = high - low + unit
    inside = (low >= asked_low) & (high <= asked_high)
    return np.where(inside, 1.0, np.fmax(covered, 0) / np.where(length > 0, length, 1))


def _by_value(rows: pl.DataFrame, workload: Workload) -> dict[object, dict[str, np.ndarray]]:
    """The columns of the rows of each value that is asked for, as float64; those of all rows under None."""
    numbers = rows.select(VALUE, *(pl.col(column).cast(pl.Float64) for column in workload.columns))
    return {
        value: {column: part[column].to_numpy() for column in workload.columns}
        for value, part in (workload.of_each_value(numbers) | {None: numbers}).items()
    }


def workload_error(true: np.ndarray, estimated: np.ndarray, people: int, delta: float = DELTA) -> float:
    """The mean of |true - estimated| / max(true, delta · people) over the queries, float[Q].

    References
    ----------
    Liu and Wang, Privacy streamliner, CODASPY 2012, section 4.2.
    """
    return float(relative_errors(true, estimated, people, delta).mean())


def relative_errors(true: np.ndarray, estimated: np.ndarray, people: int, delta: float = DELTA) -> np.ndarray:
    """float64[Q]: |true - estimated| / max(true, delta · people) of each query; parameters as above."""
    errors: np.ndarray = np.abs(true - estimated) / np.maximum(true, delta * people)
    return errors
