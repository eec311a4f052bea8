"""Nineteen tables, each with eight snapshots: twelve tables are made up, seven are real."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.census import census_contract, census_series
from benchmarks.real_data import (
    ADULT_COLUMNS,
    MOST_REVENUE,
    adult_contract,
    adult_hierarchy,
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
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.demo.hospital import CONTRACT, hospital_snapshots

RELEASES = 8
VALUES = [f"value {n}" for n in range(8)]
HOURS, SHARES = (19.25, 20, 30, 35, 38.5, 40), (0.05, 0.1, 0.05, 0.2, 0.4, 0.2)
"""Hours a week that most employees have."""
Maker = Callable[[], tuple[dict[str, Any], Series]]
"""Makes the contract, all but its source and principle, and the snapshots."""


def chosen_on(people: int) -> Iterator[tuple[str, Maker, int]]:
    """The tables that the constants of copies were chosen on first: name, maker and m."""
    yield "a hospital", functools.partial(_hospital, people, 1), 4
    yield "diagnoses drawn anew each time", functools.partial(_hospital, people, 2, shuffled=True), 4
    yield "one value too frequent", functools.partial(skewed, 4, 1.25, people, RELEASES, 1), 4
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


def held_out(people: int) -> Iterator[tuple[str, Maker, int]]:
    """Tables on which nothing was chosen, and that were asked when all was: name, maker and m.

    The real ones are other people (of Adult) or other columns of files that `other_tables` has.
    """
    for number, (name, make, m) in enumerate(
        (
            ("insured, two ages", _insured, 5),
            ("students, few values", _students, 4),
            ("places on a ring", _ring, 6),
            ("pensioners, dates", _pensioners, 3),
        )
    ):
        yield name, functools.partial(make, people, 31 + number), m
    if folder := data_folder():
        yield "Adult's test file, education (real)", functools.partial(_adult_test, folder, people), 3
        yield "free1, training (real)", functools.partial(_training, folder), 3
        yield "utilities, other sales (real)", functools.partial(_other_sales, folder), 4


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


def _made_up(
    columns: dict[str, Any], quasi_identifiers: list[dict[str, Any]], value: str, people: int, seed: int
) -> tuple[dict[str, Any], Series]:
    """The contract and the series of a table that is a draw of people from a population."""
    table = pl.DataFrame({"person": np.arange(len(columns[value])), **columns})
    declared = {
        "product": "held_out",
        "series": "v1",
        "releases": {"first": "2020-01-01", "cron": "0 0 1 * *"},
        "identifier": "person",
        "quasi_identifiers": quasi_identifiers,
        "sensitive": {"name": value, "values": table[value].unique().sort().to_list()},
    }
    return declared, dynamic_series(table, people, people // 10, RELEASES, seed)


def _drawn(random: np.random.Generator, odds: np.ndarray, most: float) -> np.ndarray:
    """A value for each row of log odds [N, V]: no value is likelier than `most`."""
    shares = np.exp(odds - odds.max(axis=1, keepdims=True))
    shares = (shares / shares.sum(axis=1, keepdims=True)).clip(0, most)
    upto = np.cumsum(shares, axis=1) / shares.sum(axis=1, keepdims=True)
    drawn: np.ndarray = (random.random((len(odds), 1)) > upto).sum(axis=1)
    return drawn


def _insured(people: int, seed: int) -> tuple[dict[str, Any], Series]:
    """Children and the old, pay that goes with age, towns; claims go with age closely."""
    random, number = np.random.default_rng(seed), people * 9 // 5
    age = np.where(random.random(number) < 0.4, random.normal(9, 5, number), random.normal(62, 14, number))
    age = age.round().clip(0, 99).astype(int)
    pay = np.exp(random.normal(9.6, 0.5, number) + 0.8 * (age > 18) - 0.015 * np.abs(age - 50)).clip(
        0, 99_999
    )
    town = (random.choice([12, 35, 36, 70, 88], number, p=[0.4, 0.2, 0.2, 0.15, 0.05]) * 100).astype(int)
    town += random.normal(0, 120, number).round().astype(int)
    odds = np.outer((age - 40) / 30, random.normal(0, 0.9, 12)) - 0.12 * np.arange(12)
    quasi_identifiers: list[dict[str, Any]] = [
        {"name": "age", "kind": "number", "domain": [0, 99], "min_width": 5},
        {"name": "pay", "kind": "number", "domain": [0, 100_000]},
        {"name": "town", "kind": "number", "domain": [0, 9999]},
    ]
    columns = {"age": age, "pay": pay.round().astype(int), "town": town.clip(0, 9999)}
    return _made_up(columns | {"claim": _drawn(random, odds, 0.18)}, quasi_identifiers, "claim", people, seed)


def _students(people: int, seed: int) -> tuple[dict[str, Any], Series]:
    """Attributes of few values, some of them linked; marks go with the faculty."""
    random, number = np.random.default_rng(seed), people * 9 // 5
    year = random.choice(5, number, p=[0.35, 0.25, 0.2, 0.12, 0.08]) + 1
    age = (17 + year + random.poisson(1.5, number)).clip(18, 40)
    faculty = random.choice(8, number, p=random.dirichlet(np.full(8, 3)))
    countries = 0.7 ** np.arange(25)
    country = random.choice(25, number, p=countries / countries.sum())
    odds = random.normal(0, 0.6, (8, 9))[faculty] - 0.1 * np.abs(np.arange(9) - 4)
    labels = {"faculty": [f"faculty {n}" for n in range(8)], "country": [f"country {n}" for n in range(25)]}
    columns = {
        "year": year,
        "age": age,
        "faculty": np.array(labels["faculty"])[faculty],
        "country": np.array(labels["country"])[country],
        "mark": _drawn(random, odds, 0.22) + 1,
    }
    quasi_identifiers: list[dict[str, Any]] = [
        {"name": "year", "kind": "number", "domain": [1, 5]},
        {"name": "age", "kind": "number", "domain": [18, 40]},
        *({"name": name, "kind": "category", "order": order} for name, order in labels.items()),
    ]
    return _made_up(columns, quasi_identifiers, "mark", people, seed)


def _ring(people: int, seed: int) -> tuple[dict[str, Any], Series]:
    """Places on a ring around an empty centre; values go with nothing."""
    random, number = np.random.default_rng(seed), people * 9 // 5
    turn, far = random.uniform(0, 2 * np.pi, number), random.normal(30, 4, number)
    columns = {
        "x": (50 + far * np.cos(turn)).clip(0, 100).round(3),
        "y": (50 + far * np.sin(turn)).clip(0, 100).round(3),
        "floor": random.geometric(0.3, number).clip(1, 20),
        "kind": random.integers(0, 20, number),
    }
    quasi_identifiers = [
        {"name": "x", "kind": "number", "domain": [0.0, 100.0]},
        {"name": "y", "kind": "number", "domain": [0.0, 100.0]},
        {"name": "floor", "kind": "number", "domain": [1, 20]},
    ]
    return _made_up(columns, quasi_identifiers, "kind", people, seed)


def _pensioners(people: int, seed: int) -> tuple[dict[str, Any], Series]:
    """Dates that go with each other; few values, which go with when people retired."""
    random, number = np.random.default_rng(seed), people * 9 // 5
    born = random.triangular(0, 12_000, 14_000, number).astype(int)
    retired = (born + random.normal(23_000, 900, number)).round().astype(int)
    day = np.datetime64("1920-01-01")
    odds = np.outer((retired - 32_000) / 3000, random.normal(0, 0.5, 9)) - 0.2 * np.arange(9)
    columns = {
        "born": (day + born).astype("datetime64[D]"),
        "retired": (day + retired.clip(19_000, 40_000)).astype("datetime64[D]"),
        "sex": random.choice(["F", "M"], number, p=[0.6, 0.4]),
        "care": _drawn(random, odds, 0.27),
    }
    quasi_identifiers: list[dict[str, Any]] = [
        {"name": "born", "kind": "date", "domain": ["1920-01-01", "1960-01-01"]},
        {"name": "retired", "kind": "date", "domain": ["1970-01-01", "2030-01-01"]},
        {"name": "sex", "kind": "category", "order": ["F", "M"]},
    ]
    return _made_up(columns, quasi_identifiers, "care", people, seed)


def _adult_test(folder: Path, people: int) -> tuple[dict[str, Any], Series]:
    """People of Adult's test file by age, hours, work, race and sex; education is sensitive."""
    rows = pl.read_csv(
        folder / "adult" / "adult.test",
        has_header=False,
        new_columns=ADULT_COLUMNS,
        infer_schema=False,
        comment_prefix="|",
    ).with_columns(pl.all().str.strip_chars(" "))
    names = ("workclass", "race", "sex")
    table = rows.filter(pl.all_horizontal(pl.all() != "?")).select(
        pl.col("age", "hours-per-week").cast(pl.Int64), *names, "education"
    )
    quasi_identifiers: list[dict[str, Any]] = [
        {"name": "age", "kind": "number", "domain": [17, 90]},
        {"name": "hours-per-week", "kind": "number", "domain": [1, 99]},
        *({"name": name, "kind": "category", "hierarchy": adult_hierarchy(folder, name)} for name in names),
    ]
    return _made_up(table.to_dict(as_series=False), quasi_identifiers, "education", people, 5)


def _training(folder: Path) -> tuple[dict[str, Any], Series]:
    """The labour force file by age, household and income; the kind of training is sensitive."""
    names = ["AGE", "KINDPERS", "NUMYOUNG", "INCOME", "EDUC2"]
    table = (
        pl.read_csv(folder / "free1" / "free1.csv", columns=names).cast(pl.Int64).filter(pl.col("EDUC2") > 0)
    )
    domains = {"AGE": [15, 74], "KINDPERS": [1, 9], "NUMYOUNG": [0, 9], "INCOME": [0, 1_000_000]}
    quasi_identifiers = [
        {"name": name, "kind": "number", "domain": domain} for name, domain in domains.items()
    ]
    return _made_up(table.to_dict(as_series=False), quasi_identifiers, "EDUC2", 1300, 5)


def _other_sales(folder: Path) -> tuple[dict[str, Any], Series]:
    """Months of the same utilities by other sales; sensitive is in which twentieth sales to homes are."""
    sales = pl.read_csv(folder / "eia" / "eia.csv", infer_schema_length=None)
    twentieth = (pl.col("RESSALES").rank("ordinal").cast(pl.Int64) * 20) // (pl.len() + 1)
    coded = sales.select(
        "MONTH",
        pl.format("{}-{}", "UTILITYID", "STATE").alias("utility"),
        pl.col("INDREVENUE", "OTHREVENUE").clip(0, MOST_REVENUE),
        "STATE",
        twentieth.cast(pl.Int64).alias("twentieth"),
    )
    declared = utilities_contract(folder)
    for own, name in zip(declared["quasi_identifiers"], ("INDREVENUE", "OTHREVENUE"), strict=False):
        own["name"] = name
    declared["sensitive"] = {"name": "twentieth", "values": list(range(20))}
    months = range(1, RELEASES + 1)
    return declared, [(f"1996-{n:02}-01", coded.filter(MONTH=n).drop("MONTH")) for n in months]


def skewed(m: int, share: float, people: int, releases: int, seed: int) -> tuple[dict[str, Any], Series]:
    """People whose most frequent value has a certain share, times 1/m: their contract and their series."""
    rng, everybody = np.random.default_rng(seed), people * (releases + 9) // 10
    others = 0.8 ** np.arange(len(VALUES) - 1)
    shares = np.append(share / m, (1 - share / m) * others / others.sum())
    table = pl.DataFrame(
        {
            "person": np.arange(everybody),
            "age": rng.integers(0, 100, everybody),
            "zipcode": rng.integers(0, 1000, everybody),
            "value": rng.choice(VALUES, everybody, p=shares),
        }
    )
    declared = {
        "product": "made_up",
        "series": "v1",
        "releases": {"first": "2020-01-01", "cron": "0 0 1 * *"},
        "identifier": "person",
        "quasi_identifiers": [
            {"name": "age", "kind": "number", "domain": [0, 99]},
            {"name": "zipcode", "kind": "number", "domain": [0, 999]},
        ],
        "sensitive": {"name": "value", "values": VALUES},
    }
    return declared, dynamic_series(table, people, people // 10, releases, seed)
