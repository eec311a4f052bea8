"""Counts beside those of other ways to publish.

Six releases of a table are published, and the same counts are asked of the last one: people with each value
(*value alone*), and those of them whose one to three quasi-identifiers lie in random intervals (*under a
condition*). The error is the median of |answer - truth| / truth, or of 10 where the true count is smaller. Of
*changes*, how many more people than in the fifth release, it is the median of people, beside the median
change.

- *republish*: `m_invariance` with m = 4, asked by `republish estimate`.
- *Gaussian noise*: differential privacy for questions known beforehand. Each count of every release has noise
  such that a person's presence in all six changes what is published by (ε, δ = 10⁻⁶) at most (Balle and Wang,
  Improving the Gaussian mechanism for differential privacy, ICML 2018). A person is in at most one count of
  each condition, so that the noise grows with the root of the number of conditions.
- *synthetic data*: from counts of each quasi-identifier (in 16 parts) by value, with the same noise, the
  package mbi (private-pgm 2.0) fits a table of people, of which any question may be asked. The row is left
  out where mbi is not installed.
- *Mondrian, once*: strict l-diverse, l = 4, of the last snapshot; a second release of it would give values
  away. Evenly spread.
"""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import polars as pl
from scipy.stats import norm

from benchmarks.measures.copied import ENOUGH, copies_of_release
from benchmarks.measures.estimates import condition, contract_under, workloads
from benchmarks.measures.peoples import chosen_on, other_tables, principles
from benchmarks.measures.queries import estimated_counts
from benchmarks.series import Made, released
from benchmarks.tables import Table, main
from republish.anonymize.baseline.mondrian import mondrian
from republish.anonymize.columns import IDENTIFIER, VALUE
from republish.anonymize.people.codes import code_domain, encode_columns
from republish.anonymize.utility.queries import Workload, overlap, true_counts
from republish.orchestration.readers.estimate.names import quoted

QUICK = {"people": 300, "conditions": 2, "words": ("a hospital",), "draws": 1}
RELEASES, M, DELTA = 6, 4, 1e-6
TABLES = ("a hospital", "census, occupation", "Adult, occupation (real)", "free1, education (real)")
PARTS = 16
"""A quasi-identifier is measured in so many parts of its domain."""
MBI = "mbi"


@dataclass(frozen=True)
class Asked:
    """The questions, and the people whom they are asked of."""

    made: list[Made]
    """The last two releases."""
    values: list[Any]
    workloads: list[Workload]

    def people(self, release: int) -> pl.DataFrame:
        """The people of one of the two snapshots, with quasi-identifiers as codes."""
        people = self.made[release].people
        return people.select(VALUE, *encode_columns(people, self.made[release].contract).get_columns())

    def true(self) -> np.ndarray:
        """float64[2, conditions + 1, values]: the true counts; the first condition is none."""
        return np.stack([self.of(self.people(release), true_counts) for release in (0, 1)])

    def of(self, people: Any, counts: Callable[[Any, Workload], np.ndarray]) -> np.ndarray:
        """float64[conditions + 1, values]: the counts of one release."""
        number = len(self.values)
        ends = (
            np.full((number, 1), float(end))
            for end in code_domain(self.made[1].contract.quasi_identifiers[0])
        )
        everybody = Workload(("qi_0",), *ends, tuple(self.values))
        return np.stack([counts(people, one) for one in (everybody, *self.workloads)])


Answer = Callable[[Asked, np.ndarray, np.random.Generator], np.ndarray]
"""What a way of publishing answers, in the shape of the true counts that it is given."""


def by_republish(asked: Asked, true: np.ndarray, _: np.random.Generator) -> np.ndarray:
    """The answers of `republish estimate`."""
    found, contract = np.zeros_like(true), asked.made[0].contract
    place = {value: number for number, value in enumerate(asked.values)}
    split = quoted(contract.sensitive.name)
    for release, made in enumerate(asked.made):
        # Ours is the last of all releases, and the one before it.
        number = RELEASES - len(asked.made) + release + 1
        with duckdb.connect() as connection:
            connection.register("people", copies_of_release(made.candidate.published, contract, number))
            for at, one in enumerate(("true", *(condition(one, contract) for one in asked.workloads))):
                words = f"SELECT {split}, count(*) FROM people WHERE {one} GROUP BY ALL"  # noqa: S608 - ours
                for value, people in connection.sql(words).fetchall():
                    found[release, at, place[value]] = people / ENOUGH
    return found


def by_noise(epsilon: float) -> Answer:
    """Gaussian noise on each count of all releases."""

    def answered(_: Asked, true: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return true + rng.normal(0, noise(epsilon, true.shape[1]), true.shape)

    return answered


def noise(epsilon: float, counted_in: int) -> float:
    """The standard deviation of the noise if a person is in so many counts of each release."""
    sensitivity, low, high = math.sqrt(RELEASES * counted_in), 1e-3, 1e6
    while high / low > 1 + 1e-9:
        middle = math.sqrt(low * high)
        at, by = sensitivity / (2 * middle), epsilon * middle / sensitivity
        is_private = norm.cdf(at - by) - math.exp(epsilon) * norm.cdf(-at - by) <= DELTA
        low, high = (low, middle) if is_private else (middle, high)
    return high


def by_synthetic(epsilon: float) -> Answer:
    """Counts of a model that is fitted to noisy counts of each quasi-identifier by value."""

    def answered(asked: Asked, true: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return np.stack([fitted(asked, release, epsilon, rng) for release in range(len(true))])

    return answered


def fitted(asked: Asked, release: int, epsilon: float, rng: np.random.Generator) -> np.ndarray:
    """The answers of a model of one release."""
    mbi: Any = importlib.import_module(MBI)
    contract, people = asked.made[release].contract, asked.people(release)
    edges = {column: parts(*code_domain(one)) for column, one in contract.attributes()}
    codes = {VALUE: people[VALUE].replace_strict(asked.values, range(len(asked.values))).to_numpy()}
    for column, ends in edges.items():
        codes[column] = np.searchsorted(ends, people[column].to_numpy(), side="right") - 1
    sizes = {VALUE: len(asked.values)} | {column: len(ends) - 1 for column, ends in edges.items()}
    spread, measured = noise(epsilon, len(edges)), []
    for column in edges:
        shape = (sizes[column], sizes[VALUE])
        cells = np.bincount(
            np.ravel_multi_index((codes[column], codes[VALUE]), shape), minlength=np.prod(shape)
        )
        measured.append(
            mbi.LinearMeasurement(cells + rng.normal(0, spread, len(cells)), (column, VALUE), stddev=spread)
        )
    domain = mbi.Domain(tuple(sizes), tuple(sizes.values()))
    model = mbi.estimation.MirrorDescent().estimate(domain, measured)

    def counts(_: Any, workload: Workload) -> np.ndarray:
        axes = (*workload.columns, VALUE)
        table = np.asarray(model.project(axes).datavector()).reshape([sizes[one] for one in axes])
        for place, column in enumerate(workload.columns):
            low, high = edges[column][:-1], edges[column][1:] - 1
            share = overlap(low, high, workload.low[0, place], workload.high[0, place], 1)
            table = np.tensordot(share, table, (0, 0))
        return table

    return asked.of(people, counts)


def parts(low: float, high: float) -> np.ndarray:
    """The first code of each part of a domain of whole numbers, and the one behind the last."""
    return np.unique(np.linspace(low, high + 1, PARTS + 1).round())


def by_mondrian(asked: Asked, _: np.ndarray, __: np.random.Generator) -> np.ndarray:
    """The last snapshot, anonymized by itself; there is no release before it."""
    made = asked.made[1]
    read = mondrian(made.people.rename({IDENTIFIER: "person"}), made.contract, M)
    groups = read.values.join(read.boxes, on="group_id")
    found = asked.of(groups, lambda people, one: estimated_counts(people, one, made.contract))
    return np.stack([np.full_like(found, np.nan), found])


def ways() -> Iterator[tuple[str, str, Answer]]:
    """Each way of publishing: its name, the format that republish makes for it, and its answers."""
    yield "republish, intervals", "m_invariance", by_republish
    yield "republish, exact quasi-identifiers", "m_invariance, anatomy", by_republish
    for epsilon in (1.0, 4.0):
        yield f"Gaussian noise, ε = {epsilon:g}", "m_invariance", by_noise(epsilon)
    if importlib.util.find_spec(MBI) is None:
        print(f"{MBI} isn't here: no synthetic data", file=sys.stderr)
    else:
        for epsilon in (1.0, 4.0):
            yield f"synthetic data, ε = {epsilon:g}", "m_invariance", by_synthetic(epsilon)
    yield "Mondrian, once", "m_invariance", by_mondrian


def figures(true: np.ndarray, answers: Sequence[np.ndarray]) -> list[str]:
    """The cells of a row: errors of counts in the last release, and of changes."""
    relative = [np.abs(one[1] - true[1]) / np.maximum(true[1], 10) for one in answers]
    changes = [np.abs((one[1] - one[0]) - (true[1] - true[0])) for one in answers]
    asked = (np.s_[:1], np.s_[1:])
    cells = [f"{np.median([one[some] for one in relative]):.1%}" for some in asked]
    off = [np.median([one[some] for one in changes]) for some in asked]
    return cells + ["" if np.isnan(one) else f"{one:.1f}" for one in off]


def tables(
    people: int = 12_000, conditions: int = 20, draws: int = 5, words: tuple[str, ...] = ("",)
) -> Iterator[Table]:
    """So many conditions on so many people, with noise drawn so many times; tables with one of the words."""
    heads = ("published by", "value alone", "under a condition", "change, alone", "change, under a condition")
    named = ((name, make) for some in (chosen_on, other_tables) for name, make, _ in some(people))
    for name, make in named:
        if name not in TABLES or not any(word in name for word in words):
            continue
        series, rows, together = {}, [], None
        for title, principle, answer in ways():
            if principle not in series:
                declared, snapshots = make()
                contract = contract_under(declared, dict(principles(M))[principle])
                series[principle] = list(released(itertools.islice(snapshots, RELEASES), contract))[-2:]
            made = series[principle]
            values = made[1].people[VALUE].unique().sort().to_list()
            asked = Asked(made, values, list(workloads(made[1], conditions * len(values))))
            true, rng = asked.true(), np.random.default_rng(1)
            is_drawn = answer not in (by_republish, by_mondrian)
            rows.append(
                (title, *figures(true, [answer(asked, true, rng) for _ in range(draws if is_drawn else 1)]))
            )
            together = true
        assert together is not None
        change = np.abs(together[1] - together[0])
        rows.append(
            (
                "median of the true changes",
                "",
                "",
                *(f"{np.median(one):.1f}" for one in (change[:1], change[1:])),
            )
        )
        yield Table(f"{name}, {made[1].people.height:,} people, {len(values)} values", heads, rows)


if __name__ == "__main__":
    main(tables)
