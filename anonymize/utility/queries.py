"""Counts that researchers ask for, and how far the counts estimated from a release are off.

A query counts people whose quasi-identifiers lie in given intervals, with one sensitive value or with any.
From a generalized table it is estimated as if the people of a group were spread evenly over its intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from anonymize.columns import VALUE
from anonymize.contract import Schema
from anonymize.people.codes import code_domain

DELTA = 0.005
"""Counts below this share of all people are not asked to be more accurate than that (section 4.2)."""


@dataclass(frozen=True)
class Workload:
    """Q queries on the same quasi-identifiers."""

    columns: tuple[str, ...]
    """The quasi-identifiers with a condition: `qi_0`, …"""
    low: np.ndarray
    """float64[Q, C]: the lowest code each condition admits."""
    high: np.ndarray
    """float64[Q, C]: the highest one."""
    value: tuple
    """The sensitive value of each query; None where any will do."""


def random_workload(
    schema: Schema,
    columns: Sequence[str],
    values: pl.Series | None,
    queries: int,
    width: float | None,
    rng: np.random.Generator,
) -> Workload:
    """Random queries: an interval of each quasi-identifier anywhere in its domain, and one sensitive value.

    Parameters
    ----------
    schema
        The quasi-identifiers with their domains.
    columns
        Which of them have a condition.
    values
        The sensitive values there are, all equally likely to be asked for; None to ask for any.
    queries
        How many.
    width
        The share of a domain an interval covers, at least one value of a whole-number one; None for intervals
        of any length: all pairs of a lowest and a highest value are equally likely.
    rng
        What is asked.
    """
    low, high = np.empty((2, queries, len(columns)))
    attributes = dict(schema.attributes())
    for position, column in enumerate(columns):
        attribute = attributes[column]
        low[:, position], high[:, position] = _intervals(
            *code_domain(attribute), attribute.discrete, queries, width, rng
        )
    asked = [None] * queries if values is None else values[rng.integers(len(values), size=queries).tolist()]
    return Workload(tuple(columns), low, high, tuple(asked))


def range_workload(schema: Schema, queries: int, selectivity: float, rng: np.random.Generator) -> Workload:
    """Random queries on all quasi-identifiers and a range of sensitive values, of one expected selectivity.

    With d quasi-identifiers, each of the d + 1 intervals covers the same share of its domain, such that their
    product is the selectivity; of whole-number domains, the nearest number of codes, and at least one.

    Parameters
    ----------
    schema
        The quasi-identifiers with their domains, and the declared sensitive values in their order.
    queries
        How many.
    selectivity
        The share of all cells of the domain that a query admits, above 0 and at most 1.
    rng
        What is asked.

    Returns
    -------
    Workload
        Its columns are `qi_0`, …, and last `value`: the place of a value among the declared ones.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, section 5.2.
    """
    attributes = list(schema.attributes())
    width = selectivity ** (1 / (len(attributes) + 1))
    domains = [(*code_domain(qi), qi.discrete) for _, qi in attributes]
    domains.append((0, len(schema.sensitive.values) - 1, True))
    ends = [_intervals(*domain, queries, width, rng) for domain in domains]
    low, high = (np.column_stack(side).astype(float) for side in zip(*ends, strict=True))
    return Workload((*(column for column, _ in attributes), VALUE), low, high, (None,) * queries)


def _intervals(
    lowest: float, highest: float, discrete: bool, queries: int, width: float | None, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The ends of random intervals that cover a share of the domain; of any length, if the width is None."""
    if width is None:
        return _any_intervals(lowest, highest, discrete, queries, rng)
    if discrete:
        covered = max(1, round(width * (highest - lowest + 1)))
        low = rng.integers(lowest, highest - covered + 2, queries)
        return low, low + covered - 1
    covered = width * (highest - lowest)
    low = rng.uniform(lowest, highest - covered, queries)
    return low, low + covered


def _any_intervals(
    lowest: float, highest: float, discrete: bool, queries: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The ends of random intervals of any length. Of n values there are n (n + 1) / 2 intervals."""
    if not discrete:
        ends = np.sort(rng.uniform(lowest, highest, (queries, 2)), axis=1)
        return ends[:, 0], ends[:, 1]
    first, second = np.triu_indices(int(highest - lowest) + 1)
    drawn = rng.integers(len(first), size=queries)
    return lowest + first[drawn], lowest + second[drawn]


def true_counts(people: pl.DataFrame, workload: Workload) -> np.ndarray:
    """int64[Q]: the answers of the table itself; `people` has `value` and the codes `qi_0`, …."""
    by_value = _by_value(people, workload.columns)
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


def estimated_counts(
    tuples: pl.DataFrame, workload: Workload, schema: Schema, *, lengths: bool = False
) -> np.ndarray:
    """float64[Q]: the answers estimated from a release.

    Parameters
    ----------
    tuples
        A row for each published tuple: `value`, and its group's `qi_0_low`, `qi_0_high`, … as codes.
    workload
        The queries.
    schema
        The quasi-identifiers: what is discrete covers both of its ends.
    lengths
        Whether whole numbers, dates and categories are measured as lengths, like fractions, from their lowest
        to their highest value: an interval [1, 2] is then of length 1, and a query for 1 alone finds none of
        it.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan, Workload-aware anonymization, KDD 2006.
    """
    attributes = dict(schema.attributes())
    ends = [f"{column}_{end}" for column in workload.columns for end in ("low", "high")]
    by_value = _by_value(tuples, ends)
    answers = np.zeros(len(workload.value))
    for query, value in enumerate(workload.value):
        if value not in by_value:
            continue
        share = np.float64(1.0)
        for position, column in enumerate(workload.columns):
            share *= overlap(
                by_value[value][f"{column}_low"],
                by_value[value][f"{column}_high"],
                workload.low[query, position],
                workload.high[query, position],
                unit=int(attributes[column].discrete and not lengths),
            )
        answers[query] = share.sum()
    return answers


def overlap(low: np.ndarray, high: np.ndarray, asked_low: float, asked_high: float, unit: int) -> np.ndarray:
    """Which share of each interval lies in the one asked for; an interval of no length counts whole."""
    covered = np.minimum(high, asked_high) - np.maximum(low, asked_low) + unit
    length = high - low + unit
    inside = (low >= asked_low) & (high <= asked_high)
    return np.where(inside, 1.0, np.clip(covered, 0, None) / np.where(length > 0, length, 1))


def _by_value(rows: pl.DataFrame, columns: Sequence[str]) -> dict[object, dict[str, np.ndarray]]:
    """The columns of each sensitive value's rows, as float64; those of all rows under None."""
    numbers = rows.select(VALUE, *(pl.col(column).cast(pl.Float64) for column in columns))
    parts = {value: part for (value,), part in numbers.partition_by(VALUE, as_dict=True).items()}
    return {
        value: {column: part[column].to_numpy() for column in columns}
        for value, part in (parts | {None: numbers}).items()
    }


def workload_error(true: np.ndarray, estimated: np.ndarray, people: int, delta: float = DELTA) -> float:
    """The mean of |true - estimated| / max(true, delta · people) over the queries.

    Parameters
    ----------
    true, estimated
        float[Q]: answers.
    people
        The size of the table.
    delta
        As `DELTA`.

    References
    ----------
    Liu and Wang, Privacy streamliner, CODASPY 2012, section 4.2.
    """
    return float((np.abs(true - estimated) / np.maximum(true, delta * people)).mean())


def median_relative_error(true: np.ndarray, estimated: np.ndarray) -> float:
    """The median of |true - estimated| / true over the queries.

    Where the true count is 0, an estimate of 0 has the error 0 and any other an infinite one.

    Parameters
    ----------
    true, estimated
        float[Q]: answers.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, section 5.2.
    """
    off = np.abs(true - estimated)
    relative = np.divide(off, true, out=np.where(off > 0, np.inf, 0.0), where=true > 0)
    return float(np.median(relative))
