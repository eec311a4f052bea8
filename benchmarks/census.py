"""People as a census might count them, with the domain sizes of the m-invariance paper's Table 5.

The paper's OCC and SAL may not be passed on; these are made up, skewed and correlated as such tables are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from benchmarks.series import dynamic_series

ROWS, LIVE, SEED = 600_000, 200_000, 2007
DOMAINS = {
    "age": (17, 95),
    "gender": (1, 2),
    "education": (1, 17),
    "birthplace": (1, 57),
    "occupation": (1, 50),
    "income": (1, 50),
}
"""Lowest and highest code of each attribute: 79, 2, 17, 57, 50 and 50 of them."""
QUASI_IDENTIFIERS = ["age", "gender", "education", "birthplace"]


def census(rows: int = ROWS, seed: int = SEED) -> pl.DataFrame:
    """Adults: `person_id` (0, 1, …) and the six attributes of `DOMAINS`, all Int64.

    Education goes with age, occupation with education and gender, income with occupation and age. No
    occupation and no income is as frequent as one in ten, so that m = 10 is eligible.
    """
    random = np.random.default_rng(seed)
    number = {name: high - low + 1 for name, (low, high) in DOMAINS.items()}
    age = np.minimum((79 * random.beta(1.3, 2.0, rows)).astype(np.int64), 78)
    gender = (random.random(rows) < 0.48).astype(np.int64)
    birthplace = _drawn(_popularity(number["birthplace"], 0.9, random)[None], np.zeros_like(age), random)

    age_band = age // 8
    education = _drawn(_linked(10, number["education"], 0.8, random), age_band, random)
    occupation = _drawn(_linked(34, number["occupation"], 0.45, random), education * 2 + gender, random)
    income = _drawn(_linked(500, number["income"], 0.6, random), occupation * 10 + age_band, random)
    codes = dict(zip(DOMAINS, (age, gender, education, birthplace, occupation, income), strict=True))
    return pl.DataFrame(
        {"person_id": np.arange(rows)} | {name: codes[name] + DOMAINS[name][0] for name in DOMAINS}
    )


def census_series(
    rows: int = ROWS,
    live: int = LIVE,
    r: int = 20_000,
    releases: int = 21,
    sensitive: str = "occupation",
    seed: int = SEED,
) -> Iterator[tuple[str, pl.DataFrame]]:
    """The paper's Tocc series (or Tsal, with `income`): monthly snapshots, of which each replaces r people.

    Yields
    ------
    tuple[str, polars.DataFrame]
        The release's date, and `person_id`, the four quasi-identifiers and the sensitive column.
    """
    people = census(rows, seed).select("person_id", *QUASI_IDENTIFIERS, sensitive)
    return dynamic_series(people, live, r, releases, seed)


def census_contract(m: int = 10, sensitive: str = "occupation") -> dict[str, Any]:
    """The contract of a census series, all but its source."""
    low, high = DOMAINS[sensitive]
    return {
        "product": f"census_{sensitive}",
        "series": "v1",
        "releases": {"first": "2020-01-01", "cron": "0 0 1 * *"},
        "identifier": "person_id",
        "quasi_identifiers": [
            {"name": name, "kind": "number", "domain": list(DOMAINS[name])} for name in QUASI_IDENTIFIERS
        ],
        "sensitive": {"name": sensitive, "values": list(range(low, high + 1))},
        "principle": {"name": "m_invariance", "m": m},
    }


def _popularity(choices: int, skew: float, random: np.random.Generator) -> np.ndarray:
    """Probabilities by Zipf's law, in a random order."""
    popularity = random.permutation(1 / np.arange(1, choices + 1) ** skew)
    return popularity / popularity.sum()


def _linked(cells: int, choices: int, skew: float, random: np.random.Generator) -> np.ndarray:
    """Probabilities of so many choices in each cell: popular ones, shifted from cell to cell."""
    popular = np.log(_popularity(choices, skew, random))
    slope, bend = random.normal(0, 0.9, (2, choices))
    at = np.linspace(-1, 1, cells)[:, None]
    weights = np.exp(popular + slope * at + bend * (at**2 - 1 / 3))
    return weights / weights.sum(axis=1, keepdims=True)


def _drawn(probabilities: np.ndarray, cells: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """A choice for each person from their cell's row of probabilities."""
    number, choices = probabilities.shape
    up_to = np.cumsum(probabilities, axis=1)
    up_to[:, -1] = 1
    # The cells' scales are laid end to end, so that one search serves everybody.
    ends = (up_to + np.arange(number)[:, None]).ravel()
    return np.searchsorted(ends, cells + random.random(len(cells)), side="right") - cells * choices
