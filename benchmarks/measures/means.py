"""Means and quartiles estimated from a release, and their error bars.

Conditions are random ranges of one to three quasi-identifiers. *age* is the age of the people with each
sensitive value; *the value*, in tables where the sensitive column is a number, is that number of all who meet
the condition. Fewer than 20 people are not asked for. An interval at 95 % is right if the true number of
these people is in it. Errors and half-widths are medians, in standard deviations of the column.

Under e_equivalence, a hospital's 20,000 patients are in 16 to 19 groups, most of them in a few: these hardly
show how much values differ, so errors rest on how much they usually do. From the third hospital to the ninth,
62, 88, 96, 95, 100, 99 and 74 % of the means of age are right: 88 % together.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import numpy as np
import polars as pl

from benchmarks.census import census, census_contract
from benchmarks.measures.estimates import condition, hospital, last, present, workloads
from benchmarks.measures.estimator import DATE, estimating
from benchmarks.series import Made, contract_of
from benchmarks.tables import Table, main
from republish.orchestration.demo.hospital import SEED, hospital_snapshots
from republish.orchestration.readers.estimate.statements import quoted

QUICK = {"conditions": 2, "words": ("a second hospital",)}
QUARTILES = (0.25, 0.5, 0.75)
FEWEST = 20
GUARANTEE = {"name": "global_guarantee", "l": 2, "strategy": "constant_ratio", "releases": 2}
EXACT = {"name": "e_equivalence", "m": 4, "e": 3}
STREAMLINER = {"name": "streamliner", "l": 4}
Ends = tuple[float, float, float, float]
"""The truth, the estimate, and the ends of its interval, in standard deviations."""


def m_invariance(m: int) -> dict[str, Any]:
    """The principle's parameters."""
    return {"name": "m_invariance", "m": m}


def of_hospital(seed: int | None = None, **principle: Any) -> Made:
    """The demo's last release; or the first of a hospital with other patients, by its seed."""
    snapshots = hospital_snapshots() if seed is None else hospital_snapshots(1, seed=SEED + seed)
    return last(snapshots, hospital(**principle))


def of_census(sensitive: str = "occupation", **principle: Any) -> Made:
    """20,000 people. Occupation goes with age, education and gender; income with occupation."""
    declared = census_contract(sensitive=sensitive) | {"releases": {"first": DATE, "cron": "0 0 1 1 *"}}
    return last([(DATE, census(20_000))], contract_of(declared, **principle))


def people_of(release: Made) -> pl.DataFrame:
    """The people of a release under the contract's names."""
    names = dict(release.contract.column_names())
    return present(release).select(*names).rename(names)


def answers(
    connection: duckdb.DuckDBPyConnection, people: pl.DataFrame, where: str, column: str, by: str
) -> Iterator[tuple[str, Ends]]:
    """The mean and the quartiles of a column by the values of another one, each as its kind and its ends."""
    deviation = people[column].cast(pl.Float64).std()
    truth = dict(people.filter(pl.sql_expr(where)).group_by(by).agg(of=pl.col(column).sort()).iter_rows())
    for place in (None, *QUARTILES):
        macro = "mean" if place is None else "quantile"
        asked = f"{quoted(column)}, {where if place is None else f'{place}, {where}'}, split := {quoted(by)}"
        for row in connection.sql(f"FROM estimate_{macro}({asked})").pl().iter_rows(named=True):
            if row["people"] < FEWEST or row["split"] not in truth:
                continue
            those = np.array(truth[row["split"]], float)
            true = those.mean() if place is None else those[int(np.ceil(place * len(those))) - 1]
            ends = (true, row[macro], row["low"], row["high"])
            yield "mean" if place is None else "quartile", tuple(float(end) / deviation for end in ends)


def measured(release: Made, conditions: int) -> dict[tuple[str, str], np.ndarray]:
    """What random questions come to: rows of `Ends` by column (`age`, `the value`) and measure."""
    contract, people = release.contract, people_of(release)
    sensitive = contract.sensitive.name
    columns = {"age": ("age", sensitive)}
    if people.schema[sensitive].is_integer():
        columns["the value"] = (sensitive, "release")
    people = people.with_columns(release=pl.date(2024, 1, 1))
    found: dict[tuple[str, str], list[Ends]] = {}
    with estimating(release.candidate.published, contract) as connection:
        for workload in workloads(release, conditions * people[sensitive].n_unique()):
            where = condition(workload, contract)
            for name, (column, by) in columns.items():
                for measure, ends in answers(connection, people, where, column, by):
                    found.setdefault((name, measure), []).append(ends)
    return {kind: np.array(rows) for kind, rows in found.items()}


def figures(rows: np.ndarray) -> list[str]:
    """How many intervals are right, the median error and the median half-width."""
    true, estimated, low, high = rows.T
    right = (low <= true + 1e-9) & (true <= high + 1e-9)
    error, half = np.median(np.abs(estimated - true)), np.median(high - low) / 2
    return [f"{right.mean():.1%}", f"{error:.3f}", f"{half:.3f}"]


RELEASES: dict[str, Callable[[], Made]] = {
    "m_invariance: demo, 6th release": of_hospital,
    "m_invariance: a second hospital": functools.partial(of_hospital, 1),
    "m_invariance: census, income, m = 4": functools.partial(of_census, "income", **m_invariance(4)),
    "m_invariance: census, income, m = 10": functools.partial(of_census, "income", **m_invariance(10)),
    "e_equivalence: the third hospital": functools.partial(of_hospital, 2, **EXACT),
    "e_equivalence: census, income": functools.partial(of_census, "income", **EXACT),
    "streamliner: census, income": functools.partial(of_census, "income", **STREAMLINER),
    "global_guarantee: the third hospital": functools.partial(of_hospital, 2, **GUARANTEE),
}


def tables(conditions: int = 5, words: tuple[str, ...] = ("",)) -> Iterator[Table]:
    """So many conditions on each release whose name has one of the words."""
    rows = [
        [name, column, measure, len(ends), *figures(ends)]
        for name, make in RELEASES.items()
        if any(word in name for word in words)
        for (column, measure), ends in measured(make(), conditions).items()
    ]
    heads = ("release", "of", "measure", "questions", "95% right", "error", "half-width")
    yield Table("Means and quartiles estimated from a release", heads, rows)


if __name__ == "__main__":
    main(tables)
