"""New people who are held back: what somebody who misses one of them learns of several sensitive columns."""

from __future__ import annotations

from itertools import chain, combinations, product

import numpy as np
import polars as pl

from republish.anonymize.arrays import Ints
from republish.anonymize.attack.figures import HeldBackFigures
from republish.anonymize.attack.finding import AttackResult, Count
from republish.anonymize.attack.input import AttackInput
from republish.anonymize.attack.numbers import joined
from republish.anonymize.columns import VALUE
from republish.anonymize.contract.combined import values_of
from republish.anonymize.rounding import FEW_STEPS


def attack_held_back(seen: AttackInput, share: float | None, *, of_numbers: bool) -> AttackResult:
    """Compare the new people whom a release holds back with all new people.

    A value is too frequent that more than a `share` of the new people have, and whoever is held back may be
    known to have one of these. With several of them, a person may be known to have all. Nothing is found of
    one sensitive column, or where it is not known who is in the release. If all new people are held back,
    that says nothing of any one of them. People may be held back, too, because of numbers that are too close
    to one another (`of_numbers`).
    """
    sensitive = seen.schema.sensitive
    if not sensitive.is_several or not seen.is_linked:
        return AttackResult()
    ever = seen.hosts.clear() if seen.before.stays is None else seen.before.stays.people
    new = joined(seen.known.select("person", VALUE), ever, how="anti")
    counted = (
        joined(new, seen.hosts.select("person", here=True), how="left")
        .group_by(VALUE)
        .agg(people=pl.len().cast(pl.Int64), held_back=pl.col("here").is_null().sum().cast(pl.Int64))
    )
    values = np.stack(
        [one.rank("dense").to_numpy().astype(np.int64) for one in values_of(counted[VALUE], sensitive)]
    )
    people, held_back = (counted[name].to_numpy() for name in ("people", "held_back"))
    absent = int(held_back.sum())
    of_columns = [np.bincount(column, held_back).max(initial=0) for column in values]
    figures = HeldBackFigures(
        new_held_back=absent,
        most_alike=held_back.max(initial=0) / absent if absent else None,
        most_of_a_column=max(of_columns) / absent if absent else None,
    )
    if share is None:
        return AttackResult(figures=figures)
    worst, broken = 0.0, 0
    if absent < people.sum():
        for every, allowed in _bounds(values, people, held_back, round(1 / share), of_numbers=of_numbers):
            worst = max(worst, every / allowed if allowed else 0.0)
            broken = max(broken, every if every > allowed * (1 + FEW_STEPS) else 0)
    return AttackResult({"": Count(absent, broken, worst, 1.0)}, figures)


def _bounds(
    values: Ints, people: Ints, held_back: Ints, m: int, *, of_numbers: bool
) -> list[tuple[int, float]]:
    """Count those who are held back and have several values in different columns, and how many may.

    Of V combinations of `values` (int64[C, V]) it is known how many new people have them, and how many of
    these are held back. Values of more than 1/m of the new people are too frequent.
    """
    frequent = [
        [
            (position, value)
            for value, number in enumerate(np.bincount(column, people))
            if m * number > people.sum()
        ]
        for position, column in enumerate(values)
    ]
    bounds = []
    columns = (several for size in range(2, len(values) + 1) for several in combinations(frequent, size))
    for chosen in chain.from_iterable(product(*several) for several in columns):
        has = np.array([values[position] == value for position, value in chosen])
        every, some = has.all(axis=0), has.any(axis=0)
        allowed = people[every].sum() * held_back[some].sum() / people[some].sum()
        bounds.append((int(held_back[every].sum()), float(allowed)))
    if any(frequent) or of_numbers:
        return bounds
    for two in combinations(values, 2):
        pairs = np.unique(np.stack(two), axis=1, return_inverse=True)[1].ravel()
        bounds += [(int(most), held_back.sum() / m) for most in np.bincount(pairs, held_back)]
    return bounds
