"""Counts under conditions that divide cells of `min_width`, and their error bars.

Of made-up tables, the first release under m-invariance (m = 3) is asked for people between two numbers or
dates, which are anywhere: nearly always within cells (31 days, 5 years, 500 euros). Some conditions begin
where the first person is, or end where the last one is, or are for what is beyond. A third of them is of one
sex, a third of some values. A cell says how many of the 95 % intervals hold the truth, give or take half a
person, and in brackets the median half-width over the median error (0.5 at least), and after a stroke how
narrow can be. The constants were chosen on other seeds, and without the tables of pay.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl

from benchmarks.measures.estimates import Answers, cell, contract_under, present
from benchmarks.measures.estimator import estimating
from benchmarks.series import dynamic_series, released
from benchmarks.tables import Table, main
from republish.anonymize.columns import VALUE

QUICK = {"people": 300, "conditions": 2, "seeds": (1,)}
DAY, DAYS = np.datetime64("2020-01-01"), 1461
PEAKS, BANDS = (130, 390, 655), (1850, 2425, 3010, 4000, 5275)
PARAMETERS = {"name": "m_invariance", "m": 3, "on_ineligible": "counterfeit", "people_per_group": 2}
Draw = Callable[[np.random.Generator, int], np.ndarray]


def _normal(random: np.random.Generator, people: int, mean: float = 45, deviation: float = 20) -> np.ndarray:
    return random.normal(mean, deviation, people).round().clip(0, 99)


def _heaped(random: np.random.Generator, people: int) -> np.ndarray:
    age = _normal(random, people)
    return np.where(random.random(people) < 0.3, (age / 10).round() * 10, age).clip(0, 99)


def _or(share: float, some: Draw, others: Draw) -> Draw:
    return lambda random, people: np.where(
        random.random(people) < share, some(random, people), others(random, people)
    )


DATES: dict[str, Draw] = {
    "days of one year": lambda random, people: random.integers(45, 411, people),
    "days, more each year": lambda random, people: 100 + 1140 * np.sqrt(random.random(people)),
    "days of the whole domain": lambda random, people: random.integers(0, 1462, people),
    "days, three peaks": _or(
        0.3, lambda random, n: random.choice(PEAKS, n), lambda random, n: random.integers(45, 801, n)
    ),
}
AGES: dict[str, Draw] = {
    "ages, smooth": _normal,
    "ages of employees, 18 to 66": lambda random, people: random.integers(18, 67, people),
    "ages, one in eight is 65": _or(0.12, lambda _, n: np.full(n, 65), _normal),
    "ages, three in ten end in 0": _heaped,
    "ages of parents and small children": _or(
        0.5, lambda random, n: random.integers(0, 6, n), lambda random, n: _normal(random, n, 32, 6).clip(18)
    ),
}
PAYS: dict[str, Draw] = {
    "pay above a least wage": lambda random, people: 2080 + random.exponential(900, people),
    "pay in five bands": lambda random, people: random.choice(BANDS, people) + random.uniform(0, 380, people),
}
STEPPED: dict[str, Draw] = {
    "pay in steps of 250": lambda random, people: (8 + random.exponential(4, people)).round() * 250,
}
NOT_DECLARED = {f"{name}, which nobody declares": draw for name, draw in STEPPED.items()}
KINDS = (
    (DATES, 31, {"kind": "date", "domain": [str(DAY), str(DAY + DAYS)], "min_width": 31}),
    (AGES, 5, {"kind": "number", "domain": [0, 99], "min_width": 5}),
    (PAYS | NOT_DECLARED, 500, {"kind": "number", "domain": [0, 9999], "min_width": 500}),
    (STEPPED, 500, {"kind": "number", "domain": [0, 9999], "min_width": 500, "step": 250}),
)


def asked(draw: Draw, width: int, place: dict[str, Any], people: int, conditions: int, seed: int) -> Answers:
    """What random conditions on a column in cells come to."""
    random, number = np.random.default_rng(seed), people * 9 // 5
    place, is_date = {"name": "place", **place}, place["kind"] == "date"
    top = DAYS if is_date else place["domain"][1]
    code = draw(random, number).astype(int).clip(0, top)
    table = pl.DataFrame(
        {
            "person": np.arange(number),
            "place": (DAY + code).astype("datetime64[D]") if is_date else code,
            "other": random.normal(50, 18, number).round().clip(0, 99).astype(int),
            "sex": random.choice(["F", "M"], number),
            "value": (code * 9 // (top + 1) * random.integers(0, 2, number) + random.integers(0, 9, number))
            % 9,
        }
    )
    declared = {
        "product": "cells",
        "series": "v1",
        "releases": {"first": "2020-01-01", "cron": "0 0 1 * *"},
        "identifier": "person",
        "quasi_identifiers": [
            place,
            {"name": "other", "kind": "number", "domain": [0, 99]},
            {"name": "sex", "kind": "category", "order": ["F", "M"]},
        ],
        "sensitive": {"name": "value", "values": list(range(9))},
    }
    snapshots = dynamic_series(table, people, people // 10, 1, seed)
    (made,) = released(snapshots, contract_under(declared, PARAMETERS))
    there = present(made)
    codes = there["qi_0"].to_numpy()
    codes = (codes.astype("datetime64[D]") - DAY).astype(int) if is_date else codes
    first, last = int(codes.min()), int(codes.max())
    ends = np.sort(random.integers(max(0, first - width), min(top, last + width) + 1, (conditions, 2)))
    apart = [(last + 1, last + width), (first - width, first - 1), (last - width // 2, last)]
    more = (
        ("", np.ones(len(codes), bool)),
        (" AND sex = 'F'", (there["qi_2"] == "F").to_numpy()),
        (" AND value <= 2", (there[VALUE] <= 2).to_numpy()),
    )
    found: Answers = ([], [], [])
    with estimating(made.candidate.published, made.contract) as connection:
        for turn, (low, high) in enumerate([*ends.tolist(), *apart, (first, first + width // 2)]):
            words, meets = more[turn % len(more)]
            between = (
                f"BETWEEN DATE '{DAY + low}' AND DATE '{DAY + high}'"
                if is_date
                else f"BETWEEN {low} AND {high}"
            )
            rows = connection.sql(f"FROM estimate(place {between}{words})").fetchall()
            counted = rows[0][2:4] if rows else (0.0, 0.0)
            true = float(((codes >= low) & (codes <= high) & meets).sum())
            for several, one in zip(found, (true, *counted), strict=True):
                several.append(one)
    return found


def tables(people: int = 4000, conditions: int = 30, seeds: tuple[int, ...] = (21, 22)) -> Iterator[Table]:
    """So many random conditions on each table of so many people, drawn with each seed."""
    rows = []
    for draws, width, place in KINDS:
        for name, draw in draws.items():
            found = [asked(draw, width, place, people, conditions, seed) for seed in seeds]
            true, estimated, error = (list(itertools.chain(*some)) for some in zip(*found, strict=True))
            rows.append([name, cell([(true, estimated, error)])])
    yield Table("Conditions within cells", ("table", "right (width)"), rows)


if __name__ == "__main__":
    main(tables)
