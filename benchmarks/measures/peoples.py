"""Twelve tables of people, each with eight snapshots: eight tables are made up, four are real."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.adversaries.counterfeits import made_up
from benchmarks.census import census_contract, census_series
from benchmarks.real_data import (
    adult_contract,
    adult_series,
    data_folder,
    free1_contract,
    free1_series,
    receipts_contract,
    receipts_series,
    utilities_contract,
    utilities_series,
)
from benchmarks.series import Series, dynamic_series
from orchestration.contracts.contract_file import load_contract
from orchestration.demo.hospital import CONTRACT, hospital_snapshots

RELEASES = 8
HOURS, SHARES = (19.25, 20, 30, 35, 38.5, 40), (0.05, 0.1, 0.05, 0.2, 0.4, 0.2)
"""Hours a week that most employees have."""
Maker = Callable[[], tuple[dict[str, Any], Series]]
"""Makes the contract, all but its source and principle, and the snapshots."""


def chosen_on(people: int) -> Iterator[tuple[str, Maker, int]]:
    """The tables that the estimator's constants were chosen on: name, maker and m."""
    yield "a hospital", functools.partial(_hospital, people, 1), 4
    yield "diagnoses drawn anew each time", functools.partial(_hospital, people, 2, shuffled=True), 4
    yield "one value too frequent", functools.partial(_skewed, people, 1), 4
    yield "staff, usual hours", functools.partial(_staff, people, 1), 4
    yield "census, occupation", functools.partial(_census, people, "occupation", 2007), 10
    yield "census, income", functools.partial(_census, people, "income", 2007), 4


def other_tables(people: int) -> Iterator[tuple[str, Maker, int]]:
    """Tables that had no say in the constants; the real ones only where they are."""
    yield "another hospital", functools.partial(_hospital, people, 5), 4
    yield "another census, occupation", functools.partial(_census, people, "occupation", 2010), 4
    if folder := data_folder():
        yield "Adult, occupation (real)", functools.partial(_adult, folder, people), 6
        yield "receipts, chapter (real)", functools.partial(_receipts, folder), 3
        yield "free1, education (real)", lambda: (free1_contract(), free1_series(folder)), 3
        yield "utilities, sales (real)", lambda: (utilities_contract(folder), utilities_series(folder)), 4


def principles(m: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """The principles that publish groups, in each format, by name."""
    ineligible = {"on_ineligible": "counterfeit", "people_per_group": 2}
    invariant = {"name": "m_invariance", "m": m, **ineligible}
    yield "m_invariance", invariant
    yield "m_invariance, anatomy", invariant | {"format": "anatomy"}
    yield "e_equivalence, anatomy", {"name": "e_equivalence", "m": m, "e": 2, **ineligible}
    yield "streamliner", {"name": "streamliner", "l": 3, "then": "m_invariance", **ineligible}
    guarantee = {"name": "global_guarantee", "l": 2, "strategy": "minimum", "on_ineligible": "wait"}
    yield "global_guarantee", guarantee


def _hospital(people: int, seed: int, *, shuffled: bool = False) -> tuple[dict[str, Any], Series]:
    declared = load_contract(CONTRACT).contract.model_dump(mode="json", exclude_none=True)
    snapshots = hospital_snapshots(RELEASES, people, seed)
    if shuffled:
        drawn = pl.col("disease").shuffle(seed=seed)
        snapshots = ((date, snapshot.with_columns(drawn)) for date, snapshot in snapshots)
    return declared, snapshots


def _skewed(people: int, seed: int) -> tuple[dict[str, Any], Series]:
    return made_up(4, 1.25, people, RELEASES, seed)


def _census(people: int, sensitive: str, seed: int) -> tuple[dict[str, Any], Series]:
    series = census_series(2 * people, people, people // 7, RELEASES, sensitive, seed)
    return census_contract(sensitive=sensitive), series


def _adult(folder: Path, people: int) -> tuple[dict[str, Any], Series]:
    return adult_contract(folder), adult_series(folder, people, people // 10, RELEASES)


def _receipts(folder: Path) -> tuple[dict[str, Any], Series]:
    return receipts_contract(), list(receipts_series(folder, 2018))[:RELEASES]


def _staff(people: int, seed: int) -> tuple[dict[str, Any], Series]:
    """Employees: most have usual hours; who has others, and who is old, has other diagnoses."""
    random, everybody = np.random.default_rng(seed), people * 9 // 5
    age, sex = random.integers(18, 66, everybody), random.choice(["F", "M"], everybody)
    others = np.round(random.uniform(5, 48, everybody) * 4) / 4
    hours = np.where(random.random(everybody) < 0.85, random.choice(HOURS, everybody, p=SHARES), others)
    pay = np.round(np.exp(random.normal(8, 0.35, everybody))).clip(1000, 9999).astype(int)
    diagnoses = [f"diagnosis {number}" for number in range(12)]
    slopes = 0.5 * random.normal(0, 1, (2, len(diagnoses)))
    odds = (age[:, None] - 42) / 14 * slopes[0] + (hours[:, None] < 34) * slopes[1]
    shares = 0.85 ** np.arange(len(diagnoses)) * np.exp(odds)
    shares = (shares / shares.sum(axis=1, keepdims=True)).clip(0, 0.22)
    upto = np.cumsum(shares, axis=1) / shares.sum(axis=1, keepdims=True)
    drawn = (random.random((everybody, 1)) > upto).sum(axis=1)
    table = pl.DataFrame(
        {
            "person": np.arange(everybody),
            "age": age,
            "hours": hours,
            "pay": pay,
            "sex": sex,
            "diagnosis": np.array(diagnoses)[drawn],
        }
    )
    declared = {
        "product": "staff",
        "series": "v1",
        "releases": {"first": "2020-01-01", "cron": "0 0 1 * *"},
        "identifier": "person",
        "quasi_identifiers": [
            {"name": "age", "kind": "number", "domain": [16, 70]},
            {"name": "hours", "kind": "number", "domain": [0.0, 60.0]},
            {"name": "pay", "kind": "number", "domain": [0, 12_000]},
            {"name": "sex", "kind": "category", "order": ["F", "M"]},
        ],
        "sensitive": {"name": "diagnosis", "values": diagnoses},
    }
    return declared, dynamic_series(table, people, people // 10, RELEASES, seed)
