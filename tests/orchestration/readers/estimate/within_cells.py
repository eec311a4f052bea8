"""Counts under conditions that divide cells of `min_width`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from benchmarks.measures.estimates import Answers, contract_under, present
from benchmarks.measures.estimator import estimating
from benchmarks.series import dynamic_series, released
from republish.anonymize.columns import VALUE

PARAMETERS = {"name": "m_invariance", "m": 3, "on_ineligible": "counterfeit", "people_per_group": 2}
Draw = Callable[[np.random.Generator, int], np.ndarray]


def asked(draw: Draw, width: int, place: dict[str, Any], people: int, conditions: int, seed: int) -> Answers:
    """What random conditions on a column of numbers in cells come to: true, estimates, standard errors."""
    random, number = np.random.default_rng(seed), people * 9 // 5
    place = {"name": "place", **place}
    top = place["domain"][1]
    code = draw(random, number).astype(int).clip(0, top)
    table = pl.DataFrame(
        {
            "person": np.arange(number),
            "place": code,
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
            rows = connection.sql(f"FROM estimate(place BETWEEN {low} AND {high}{words})").fetchall()
            counted = rows[0][2:4] if rows else (0.0, 0.0)
            true = float(((codes >= low) & (codes <= high) & meets).sum())
            for several, one in zip(found, (true, *counted), strict=True):
                several.append(one)
    return found
