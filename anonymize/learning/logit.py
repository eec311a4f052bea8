"""Multinomial logistic regression of values on quasi-identifiers, for whoever learns from groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from republish.anonymize.arrays import Bools, Floats, Ints
from republish.anonymize.contract import QuasiIdentifier
from republish.anonymize.formats.published import Published
from republish.anonymize.kernels.splitmix import rows_drawn
from republish.anonymize.late import on_first_call
from republish.anonymize.people.codes import code_domain

minimize = on_first_call("scipy.optimize", "minimize")

STEPS = 40
"""Steps of the search for coefficients: more make no guess better."""
RIDGE = 0.5
"""Half the weight of squared coefficients, which keeps those of rare categories near 0."""
MOST_CATEGORIES = 12
"""Categories of a quasi-identifier that have a coefficient of their own, but for the most frequent one."""
MOST_NUMBERS = 4_000_000
"""People, times values, times columns, that are learned from: of more people, some are."""


@dataclass(frozen=True)
class Columns:
    """What quasi-identifiers are turned into for a regression.

    The columns are a constant; of a category, who has one of the most frequent codes; of a number or a date,
    the standardized code and its square; and where missing values are published, who lacks one.
    """

    frequent: Mapping[str, Floats]
    """The codes with a column of their own, of each quasi-identifier that is a category."""
    scales: Mapping[str, tuple[float, float]]
    """Mean and standard deviation of each other one."""
    lacking: frozenset[str]
    """The quasi-identifiers of which values are missing."""

    @classmethod
    def of(cls, known: pl.DataFrame, attributes: Iterable[tuple[str, QuasiIdentifier]]) -> Columns:
        """Choose columns for people (`qi_0`, … as codes)."""
        frequent, scales, lacking = {}, {}, set()
        for column, attribute in attributes:
            codes = known[column].to_numpy().astype(float)
            if np.isnan(codes).any():
                lacking.add(column)
                codes = codes[~np.isnan(codes)]
            lowest, highest = code_domain(attribute)
            if attribute.kind == "category" or (attribute.discrete and highest - lowest < MOST_CATEGORIES):
                some, people = np.unique(codes, return_counts=True)
                frequent[column] = some[np.argsort(-people, kind="stable")][1:MOST_CATEGORIES]
            else:
                scales[column] = (codes.mean(), codes.std() or 1.0) if len(codes) else (0.0, 1.0)
        return cls(frequent, scales, frozenset(lacking))

    def of_people(self, known: pl.DataFrame) -> Floats:
        """Each person's columns, float64[N, F]."""
        ends = {name: known[name].to_numpy().astype(float) for name in (*self.frequent, *self.scales)}
        return self._of(ends, ends, {name: np.isnan(ends[name]) for name in self.lacking}, len(known))

    def of_boxes(self, published: Published, boxes: pl.DataFrame) -> Floats:
        """Their means over each box, float64[B, F], if people are spread evenly over its intervals."""
        names = (*self.frequent, *self.scales)
        lows, highs = (
            {name: boxes[f"{name}_{end}"].to_numpy().astype(float) for name in names}
            for end in ("low", "high")
        )
        missing = {name: published.shares_missing(boxes, name) for name in self.lacking}
        return self._of(lows, highs, missing, len(boxes))

    def _of(
        self,
        lows: Mapping[str, Floats],
        highs: Mapping[str, Floats],
        missing: Mapping[str, np.ndarray],
        number: int,
    ) -> Floats:
        parts = [np.ones(number)]
        for name in lows:
            low, high = np.nan_to_num(lows[name]), np.nan_to_num(highs[name])
            there = 1 - missing.get(name, np.zeros(1))
            if name in self.lacking:
                parts.append(1 - there)
            if name in self.frequent:
                width = high - low + 1
                parts += [there * (low <= one) * (one <= high) / width for one in self.frequent[name]]
                continue
            mean, deviation = self.scales[name]
            begin, end = (low - mean) / deviation, (high - mean) / deviation
            middle, square = (begin + end) / 2, (begin**2 + begin * end + end**2) / 3
            parts += [there * middle, there * square]
        return np.stack(parts, axis=1)


def learned_from(values: int, columns: int, group: np.ndarray) -> Bools:
    """Draw the rows to learn from, by whole groups: all of them, where they are few; bool[N]."""
    most = max(MOST_NUMBERS // (values * columns), 1)
    if len(group) <= most:
        return np.ones(len(group), bool)
    groups, at = np.unique(group, return_inverse=True)
    drawn = np.zeros(len(groups), bool)
    drawn[rows_drawn(len(groups), max(1, len(groups) * most // len(group)))] = True
    some: Bools = drawn[at]
    return some


def fit(columns: Floats, weight: Floats) -> Floats:
    """Find the coefficients, float64[F, V], of a regression on people's columns, float64[N, F].

    `weight`, float64[N, V], is how much each person counts as one with each value. All values that nobody
    counts as one with have the same coefficients: they are found once.
    """
    is_held = weight.any(axis=0)
    held, others = np.flatnonzero(is_held), np.flatnonzero(~is_held)
    sums = columns.T @ weight[:, np.append(held, others[:1])]
    found = fit_sums(columns, weight.sum(axis=1), sums, copies=max(len(others), 1))
    coefficients = np.repeat(found[:, -1:], weight.shape[1], axis=1)
    coefficients[:, held] = found[:, : len(held)]
    return coefficients


def fit_sums(
    columns: Floats,
    people: Floats,
    sums: Floats,
    start: Floats | None = None,
    steps: int = STEPS,
    copies: int = 1,
) -> Floats:
    """Find the same of how much each person counts, float64[N], and sums of columns by value, float64[F, V].

    Nothing else of who has which value has an influence. The search begins at `start`. The last value stands
    for so many `copies`, which nobody has if there are several.
    """
    often = np.append(np.ones(sums.shape[1] - 1), copies)
    # The search goes by lengths: a coefficient is as long as all for which it stands.
    length = np.sqrt(often)

    def loss(flat: Floats) -> tuple[float, Floats]:
        coefficients = flat.reshape(sums.shape) / length
        # In our own processes BLAS has one thread, so that sums are in one order.
        logs: Floats = columns @ coefficients
        top = logs.max(axis=1)
        logs -= top[:, None]
        shares = np.exp(logs, out=logs)
        shares[:, -1] *= copies
        total = shares.sum(axis=1)
        shares *= (people / total)[:, None]
        slopes = columns.T @ shares - sums
        slopes[1:] += 2 * RIDGE * coefficients[1:] * often
        found = (people * (top + np.log(total))).sum() - (sums * coefficients).sum()
        return float(found + RIDGE * (coefficients[1:] ** 2 * often).sum()), (slopes / length).ravel()

    begin = np.zeros(sums.shape) if start is None else start * length
    found = minimize(loss, begin.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": steps})
    coefficients: Floats = found.x.reshape(sums.shape) / length
    return coefficients


def log_odds(columns: Floats, coefficients: Floats, person: Ints, value: Ints) -> Floats:
    """Logarithms of how likely pairs of a person and a value are, float64[P], but for each person's scale."""
    found: Floats = np.zeros(len(person))
    for column, coefficient in zip(columns.T, coefficients, strict=True):
        found += column[person] * coefficient[value]
    return found


def log_probabilities(columns: Floats, coefficients: Floats) -> Floats:
    """The logarithm of the probability of each value, given people's columns, float64[N, V]."""
    logs: Floats = columns @ coefficients
    logs -= logs.max(axis=1, keepdims=True)
    logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
    return logs
