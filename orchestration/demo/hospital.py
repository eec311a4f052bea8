"""A hospital that isn't real: its patients come, go, return, grow older and fall ill with something else."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from republish.anonymize.contract import CategoryAttribute
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.package_files import package_file
from republish.orchestration.storage.home import private_folder
from republish.orchestration.storage.store import write_copy, write_table

CONTRACT = package_file("data_contracts") / "hospital.yaml"
SNAPSHOTS = "snapshots/hospital"
"""Where the contract finds them, beside it."""
SEED = 20240101
FIRST_RELEASE = dt.date(2024, 1, 1)

LEAVING, RETURNING, CHANGING = 0.08, 0.01, 0.005
"""Shares of the patients, per quarter; as many come as leave, those who return among them."""
REBUILT, REBUILT_IN = "epilepsy", 3
"""The disease whose unit is closed to be rebuilt, and the quarter, counted from 0, in which it is."""

# Share of the patients at the age of 50, and by how much it grows (or shrinks) in 30 years of age.
DISEASES = {
    "angina": (0.06, 1.6),
    "appendicitis": (0.05, 0.6),
    "arthrosis": (0.08, 1.7),
    "asthma": (0.06, 0.7),
    "bronchitis": (0.07, 0.8),
    "cataract": (0.04, 2.2),
    "depression": (0.08, 0.9),
    "diabetes": (0.10, 1.3),
    "epilepsy": (0.02, 0.8),
    "flu": (0.08, 0.7),
    "fracture": (0.07, 0.9),
    "gastritis": (0.07, 0.9),
    "hypertension": (0.12, 1.4),
    "kidney stones": (0.03, 1.1),
    "pneumonia": (0.05, 1.1),
    "stroke": (0.02, 1.9),
}


def make_demo(home: Path) -> Path:
    """A contract of the hospital with its hierarchy and six snapshots, in `HOME/demo`.

    What is there already stays as it is.

    Parameters
    ----------
    home
        The publisher's folder.

    Returns
    -------
    pathlib.Path
        The contract's file.
    """
    folder = private_folder(home / "demo")
    for name in (CONTRACT.name, *load_contract(CONTRACT).hierarchies):
        if not (folder / name).exists():
            write_copy(folder / name, CONTRACT.parent / name)
    write_hospital(folder / SNAPSHOTS)
    return folder / CONTRACT.name


def write_hospital(folder: Path, releases: int = 6, patients: int = 20_000, seed: int = SEED) -> None:
    """Write the hospital's snapshots as `<release>.parquet`, for their owner's eyes alone.

    Snapshots that are there already stay as they are.
    """
    private_folder(folder)
    for release, snapshot in hospital_snapshots(releases, patients, seed):
        file = folder / f"{release}.parquet"
        if not file.exists():
            write_table(file, snapshot)


def hospital_snapshots(
    releases: int = 6, patients: int = 20_000, seed: int = SEED
) -> Iterator[tuple[str, pl.DataFrame]]:
    """Quarterly snapshots of a hospital's patients.

    From one to the next 8 % of the patients leave and as many come. 1 % of the patients had been there
    before (from the third snapshot on: before that nobody who left could have stayed away for a quarter).
    Of those who stay, as many as 0.5 % of the patients fall ill with something else, and all grow older.

    In the fourth quarter a unit is rebuilt: all patients with epilepsy are among those who leave. Their
    groups then lack this disease and need a counterfeit. Those who return a quarter later have epilepsy.

    Parameters
    ----------
    releases
        How many snapshots.
    patients
        How many people are in each.
    seed
        The same seed gives the same hospital.

    Yields
    ------
    tuple[str, polars.DataFrame]
        The release's date, the first day of a quarter from 2024-01-01 on, and the snapshot: `patient_id`
        (made up), `age` (whole years), `zipcode`, `sex`, `birthplace`, `disease`; sorted by `patient_id`.
    """
    random = np.random.default_rng(seed)
    moves, returns, changes = (round(patients * share) for share in (LEAVING, RETURNING, CHANGING))
    people = _people(patients + (releases - 1) * moves, random)
    disease = _diseases(people, random)
    present, departed, arrived = np.arange(patients), np.array([], dtype=np.int64), patients
    for quarter in range(releases):
        if quarter:
            of_the_unit = disease == list(DISEASES).index(REBUILT)
            leaving = _choose(present, moves, of_the_unit & (quarter == REBUILT_IN), random)
            back = of_the_unit & (quarter == REBUILT_IN + 1)
            returning = _choose(departed, min(returns, len(departed)), back, random)
            coming = np.arange(arrived, arrived + moves - len(returning))
            staying = np.setdiff1d(present, leaving)
            changing = random.choice(staying, changes, replace=False)
            others = random.integers(1, len(DISEASES), changes)
            disease[changing] = (disease[changing] + others) % len(DISEASES)
            arrived += len(coming)
            present = np.concatenate([staying, returning, coming])
            departed = np.union1d(np.setdiff1d(departed, returning), leaving)
        release = dt.date(FIRST_RELEASE.year + quarter // 4, 1 + quarter % 4 * 3, 1)
        yield release.isoformat(), _snapshot(people, disease, present, release)


def _choose(people: np.ndarray, number: int, first: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """So many of some people at random: those for whom `first` is true before all others."""
    preferred = random.permutation(people[first[people]])[:number]
    others = people[~np.isin(people, preferred)]
    return np.concatenate([preferred, random.choice(others, number - len(preferred), replace=False)])


def _people(number: int, random: np.random.Generator) -> pl.DataFrame:
    """Everybody who is ever in the hospital: `patient_id`, `born`, `zipcode`, `sex`, `birthplace`."""
    years = 98 * random.beta(1.9, 1.5, number)
    born = np.datetime64(FIRST_RELEASE) - (years * 365.2425).astype("timedelta64[D]")
    towns = np.array([10_800, 20_500, 28_100, 40_300, 50_700, 60_400, 76_200, 80_600, 90_100])
    zipcodes = towns[_skewed(len(towns), number, random)] + random.normal(0, 900, number)
    (birthplaces,) = (
        attribute.labels
        for _, attribute in load_contract(CONTRACT).contract.attributes()
        if isinstance(attribute, CategoryAttribute) and attribute.name == "birthplace"
    )
    return pl.DataFrame(
        {
            "patient_id": random.choice(10**8, number, replace=False),
            "born": born,
            "zipcode": np.clip(zipcodes, 10_000, 99_999).astype(np.int64),
            "sex": np.where(random.random(number) < 0.53, "F", "M"),
            "birthplace": np.array(birthplaces)[_skewed(len(birthplaces), number, random)],
        }
    ).with_columns(pl.format("P{}", pl.col("patient_id").cast(pl.String).str.zfill(8)).alias("patient_id"))


def _skewed(choices: int, number: int, random: np.random.Generator) -> np.ndarray:
    """Positions among so many choices, some of which are far more popular than others."""
    popularity = random.permutation(1 / np.arange(1, choices + 1) ** 0.8)
    return random.choice(choices, number, p=popularity / popularity.sum())


def _diseases(people: pl.DataFrame, random: np.random.Generator) -> np.ndarray:
    """Everybody's first disease, as its position in `DISEASES`; some become more frequent with age."""
    share, growth = np.array(list(DISEASES.values())).T
    weights = share * growth ** ((_age(people, FIRST_RELEASE)[:, None] - 50) / 30)
    up_to = np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True)
    first: np.ndarray = (random.random((people.height, 1)) > up_to).sum(axis=1)
    return first


def _age(people: pl.DataFrame, release: dt.date) -> np.ndarray:
    days = (np.datetime64(release) - people["born"].to_numpy()).astype("timedelta64[D]").astype(np.int64)
    years: np.ndarray = np.clip(days // 365.2425, 0, 120).astype(np.int64)
    return years


def _snapshot(
    people: pl.DataFrame, disease: np.ndarray, present: np.ndarray, release: dt.date
) -> pl.DataFrame:
    """The contract's table of those who are present."""
    return (
        people.with_columns(age=_age(people, release), disease=np.array(list(DISEASES))[disease])[present]
        .select("patient_id", "age", "zipcode", "sex", "birthplace", "disease")
        .sort("patient_id")
    )
