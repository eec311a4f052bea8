"""Counts by groups of a hierarchy, by where intervals of labels end.

15,000 people of 320 towns, 25 to 52 in each of eight regions, are released once under m-invariance. Towns are
of very different sizes, and values depend on the region. Ages are published in cells of five years, and towns
in intervals of `min_width` labels at least. A *grid* of so many labels cuts across regions, as versions below
0.30 had it. *Cells* end where groups of the hierarchy do, and within a group hold `min_width` labels
(`cells_of`). *Whole groups* are the smallest groups with `min_width` labels, and nothing smaller.

25 copies are drawn of each release, and people counted by region, by region and value, and by quarter of a
region (ten towns, which the hierarchy does not know). Each figure is the mean of three series with other
people: the root of the mean square error, the half-width of 95 % intervals, and how many hold the truth. By
region and value these are too few, as they are without `min_width` (68 %): copies don't know how far values
depend on a region.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from benchmarks.measures.copied import copies_of_release
from benchmarks.series import contract_of, released
from benchmarks.tables import Table, main
from republish.anonymize.contract import CategoryAttribute, Contract
from republish.anonymize.learning.copies import pooled

QUICK = {"people": 600, "widths": (30,), "seeds": 1}
TOWNS, COPIES, T = (25, 31, 36, 40, 43, 45, 48, 52), 25, 2.064
VALUES = ("asthma", "diabetes", "epilepsy", "flu", "gout", "migraine", "nephritis", "ulcer")
TOWN = [f"T{region}{town:02d}" for region, towns in enumerate(TOWNS) for town in range(towns)]
REGION = np.repeat(np.arange(len(TOWNS)), TOWNS)
PATHS = [(town, town[:2], "all") for town in TOWN]


def declared(width: int, paths: list[tuple[str, ...]]) -> Contract:
    """The contract of towns in intervals of so many labels at least."""
    town = {"name": "town", "kind": "category", "hierarchy": paths, "min_width": width}
    age = {"name": "age", "kind": "number", "domain": [0, 99], "min_width": 5}
    return contract_of(
        {
            "product": "patients",
            "series": "v1",
            "releases": {"first": "2024-01-01"},
            "identifier": "patient",
            "quasi_identifiers": [age, town],
            "sensitive": {"name": "disease", "values": list(VALUES)},
        },
        name="m_invariance",
        m=4,
    )


def table_of(people: int, seed: int) -> pl.DataFrame:
    """People of towns of different sizes, with values that depend on the region."""
    random = np.random.default_rng(seed)
    size = random.lognormal(0, 0.8, len(TOWN))
    town = random.choice(len(TOWN), people, p=size / size.sum())
    likely = random.dirichlet(np.full(len(VALUES), 40), len(TOWNS))
    value = (likely.cumsum(axis=1)[REGION[town]] < random.random((people, 1))).sum(axis=1)
    return pl.DataFrame(
        {
            "patient": [f"P{one}" for one in range(people)],
            "age": np.clip(random.normal(52, 20, people), 0, 99).astype(np.int64),
            "town": np.array(TOWN)[town],
            "disease": np.array(VALUES)[np.minimum(value, len(VALUES) - 1)],
        }
    )


def asked() -> Mapping[str, list[pl.Expr]]:
    """What people are counted by."""
    region = pl.col("town").str.slice(0, 2)
    quarter = region + "/" + (pl.col("town").str.slice(2).cast(pl.Int64) // 10).cast(pl.String)
    return {
        "region": [region.alias("a")],
        "region x value": [region.alias("a"), pl.col("disease").alias("b")],
        "quarter": [quarter.alias("a")],
    }


def errors(people: pl.DataFrame, copies: pl.DataFrame, by: list[pl.Expr]) -> tuple[float, float, float]:
    """The root of the mean square error of counts, their half-width, and the part of them that is right."""
    names = [one.meta.output_name() for one in by]
    truth = people.group_by(by).len("truth")
    counted = copies.group_by(*by, "copy").len("counted")
    whole = truth.join(pl.DataFrame({"copy": copies["copy"].unique()}), how="cross")
    counted = whole.join(counted, on=[*names, "copy"], how="left").sort(*names, "copy")
    answers = counted["counted"].fill_null(0).to_numpy().reshape(len(truth), -1).astype(float)
    true = counted.group_by(names, maintain_order=True).first()["truth"].to_numpy()
    found = np.array([pooled(one) for one in answers])
    half = T * found[:, 1]
    off = np.abs(found[:, 0] - true)
    return float(np.sqrt((off**2).mean())), float(half.mean()), float((off <= half + 0.5).mean())


def tables(people: int = 15_000, widths: tuple[int, ...] = (10, 20), seeds: int = 3) -> Iterator[Table]:
    """Errors of counts by where intervals of towns end."""
    found: dict[tuple[Any, ...], list[tuple[float, float, float]]] = defaultdict(list)
    whole = declared(min(TOWNS), PATHS)
    for width in widths:
        cells = declared(width, PATHS)
        age, town = cells.quasi_identifiers
        assert isinstance(town, CategoryAttribute)
        grid = cells.model_copy(update={"quasi_identifiers": (age, town.on_grid())})
        for seed in range(seeds):
            table = table_of(people, seed)
            for how, contract in {"grid": grid, "cells": cells, "whole groups": whole}.items():
                (made,) = released([("2024-01-01", table)], contract)
                copies = copies_of_release(made.candidate.published, contract, copies=COPIES)
                for question, by in asked().items():
                    found[question, width, how].append(errors(table, copies, by))
    rows = [(*key, *(round(one, 3) for one in np.mean(measured, axis=0))) for key, measured in found.items()]
    rows = [(*row[:3], round(row[3], 1), round(row[4], 1), f"{row[5]:.0%}") for row in sorted(rows)]
    headings = ("counted by", "min_width", "ends", "RMSE", "half-width", "right")
    yield Table(f"{people:,} people in {len(TOWN)} towns", headings, rows)


if __name__ == "__main__":
    main(tables)
