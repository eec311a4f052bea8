"""Intervals from copies of a release, beside those of `republish estimate`.

Of nineteen tables, three releases are made under every principle that publishes groups, in each format, and
25 copies are drawn of the first and of the last one. Counts are asked of both ways: people with one value
whose quasi-identifiers meet random conditions (*value*), people with any value who do (*any value*), people
of each label, or of each sixth of the numbers (*label*), of each two of these (*label x label*), and people
of each label who have a value (*value x label*); of the last three, counts of 50 people and more. Of copies
alone are asked, for the values of 50 people and more, means and medians of numbers over the people with a
value, and by how much the share of people with a value grows with a number (*slope*, of the four most
frequent).

A cell says how many of the 95 % intervals hold the truth (counts give or take half a person): the mean of all
releases, and after a stroke that of the release of which fewest are right. In brackets is the median
half-width over the median error (0.5 people at least). *RMSE* is that of copies over that of estimates, the
median of releases. *Slopes kept* is the median of estimated over true slopes.

*By lot* are copies as they were before version 0.28: values of a group are dealt to its people by lot, and no
lot of the copy moves people. Constants of copies were chosen on the tables that are *chosen on*; the others
had no say.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
import numpy as np
import polars as pl

from benchmarks.measures.estimates import LEVELS, condition, contract_under, part_of, present, workloads
from benchmarks.measures.estimator import estimating_folder
from benchmarks.measures.peoples import chosen_on, held_out, other_tables, principles
from benchmarks.series import Made, released
from benchmarks.tables import Table, main
from republish.anonymize.columns import VALUE
from republish.anonymize.contract import CategoryAttribute
from republish.anonymize.errors import NotEligible
from republish.anonymize.learning import copies as learning
from republish.anonymize.learning.copies import pooled
from republish.orchestration.readers.estimate.copies import copies_of
from republish.orchestration.readers.estimate.statements import quoted

QUICK = {"people": 300, "conditions": 2, "words": ("students, few values: m_invariance",)}
RELEASES, COPIES, T = 3, 25, 2.064
"""So many copies; `T` is the quantile of Student's t for them."""
FEWEST, SLOPES = 50, 4
HELD_OUT = (
    *("one value too frequent", "staff, usual hours", "receipts, chapter", "free1, education"),
    *("utilities, sales", "utilities, other sales"),
)
"""Tables that had no say in the constants of copies."""
COUNTS = ("value", "any value", "label", "label x label", "value x label")
FIGURES = ("mean", "median", "slope")
BY_LOT = {"EVENLY": 0.0, "IN_LINE": 0.0, "JOINTLY": 0.0, "CROWDED": 0.0, "NOISE": 1e9}

Found = dict[str, list[tuple[float, float, float, float, float]]]
"""By kind of question: the truth, an estimate and its error, and the same by copies."""


@contextmanager
def by_lot() -> Iterator[None]:
    """Copies are drawn without the lots that make them differ as far as a reader errs."""
    before = {name: getattr(learning, name) for name in BY_LOT}
    for name, plain in BY_LOT.items():
        setattr(learning, name, plain)
    try:
        yield
    finally:
        for name, own in before.items():
            setattr(learning, name, own)


def asked(made: Made, number: int, conditions: int) -> tuple[Found, Found]:
    """What is asked of a release, by copies as they are and by lot."""
    people = present(made)
    attributes = dict(made.contract.attributes())
    named = people.rename({column: one.name for column, one in attributes.items()})
    named = named.rename({VALUE: made.contract.sensitive.name})
    with estimating_folder(made.candidate.published, made.contract, number=number) as (connection, release):
        counts = list(_counts(made, connection, named, conditions))
        found: list[Found] = []
        for drawn in (True, False):
            if drawn:
                tables = pl.concat(copies_of(release, COPIES, 1))
            else:
                with by_lot():
                    tables = pl.concat(copies_of(release, COPIES, 1))
            of: Found = defaultdict(list)
            for kind, where, split, true, answers in counts:
                copied = _by_copy(tables, where, split)
                for part, truth in true.items():
                    of[kind].append((truth, *answers.get(part, (0.0, 0.0)), *pooled(copied[part])))
            for kind, truth, answer in _figures(named, tables, made):
                of[kind].append((truth, np.nan, np.nan, *answer))
            found.append(of)
    return found[0], found[1]


def _counts(
    made: Made, connection: duckdb.DuckDBPyConnection, named: pl.DataFrame, conditions: int
) -> Iterator[tuple[str, str, str, dict[Any, float], dict[Any, tuple[float, float]]]]:
    """Questions: kind, condition and what people are counted by; the truth, and estimates with errors."""
    sensitive = quoted(made.contract.sensitive.name)
    attributes = dict(made.contract.attributes())
    parts = [part_of(one, named[one.name]) for one in attributes.values()]

    def question(kind: str, where: str, split: str, fewest: int) -> Any:
        words = f"SELECT {split}, count(*) FROM people WHERE {where} GROUP BY ALL"  # noqa: S608 - ours
        true = {part: people for part, people in _rows(named, words) if people >= fewest}
        rows = connection.sql(f"FROM estimate({where}, split := {split})").fetchall()
        return kind, where, split, true, {part: (people, error) for _, part, people, error, *_ in rows}

    for workload in workloads(made, conditions * named[made.contract.sensitive.name].n_unique()):
        where = condition(workload, made.contract)
        yield question("value", where, sensitive, 0)
        yield question("any value", where, "1", 0)
    for some in parts:
        yield question("label", "true", f"{some}::VARCHAR", FEWEST)
        yield question("value x label", "true", f"{some}::VARCHAR || '|' || {sensitive}::VARCHAR", FEWEST)
    for one, other in itertools.combinations(parts, 2):
        yield question("label x label", "true", f"{one}::VARCHAR || '|' || {other}::VARCHAR", FEWEST)


def _by_copy(tables: pl.DataFrame, where: str, split: str) -> dict[Any, np.ndarray]:
    """How many people of each part each copy has."""
    found: dict[Any, np.ndarray] = defaultdict(lambda: np.zeros(COPIES))
    words = f"SELECT {split}, copy, count(*) FROM people WHERE {where} GROUP BY ALL"  # noqa: S608 - ours
    for part, copy, people in _rows(tables, words):
        found[part][copy - 1] = people
    return found


def _rows(people: pl.DataFrame, words: str) -> list[Any]:
    with duckdb.connect() as connection:
        connection.register("people", people)
        return connection.sql(words).fetchall()


def _figures(
    named: pl.DataFrame, tables: pl.DataFrame, made: Made
) -> Iterator[tuple[str, float, tuple[float, float]]]:
    """Means and medians of numbers by value, and slopes of values: the truth, and what copies say."""
    sensitive = made.contract.sensitive.name
    values = named[sensitive].value_counts(sort=True).filter(pl.col("count") >= FEWEST)[sensitive].to_list()
    drawn = tables.partition_by("copy")
    for _, one in made.contract.attributes():
        if isinstance(one, CategoryAttribute):
            continue
        numbers = [table[one.name].to_physical().cast(pl.Float64).to_numpy() for table in (named, *drawn)]
        held = [table[sensitive] for table in (named, *drawn)]
        for at, value in enumerate(values):
            has = [(own == value).to_numpy() for own in held]
            looks: list[tuple[str, Callable[[np.ndarray, np.ndarray], float]]] = [
                ("mean", lambda number, own: float(np.nanmean(number[own]))),
                ("median", lambda number, own: float(np.nanmedian(number[own]))),
            ]
            if at < SLOPES:
                looks.append(("slope", _slope))
            for kind, look in looks:
                truth, *others = (look(number, own) for number, own in zip(numbers, has, strict=True))
                yield kind, truth, pooled(others)


def _slope(number: np.ndarray, own: np.ndarray) -> float:
    there = ~np.isnan(number)
    return float(np.polyfit(number[there], own[there].astype(float), 1)[0])


def cell(found: list[Found], kind: str, *, copied: bool) -> str:
    """How many intervals are right, on average and at worst, and how wide they are."""
    right, widths = [], []
    for rows in (np.array(one[kind]) for one in found if one.get(kind)):
        truth, people, error = rows[:, 0], *(rows[:, 3:5] if copied else rows[:, 1:3]).T
        spare = 0.5 if kind in COUNTS else 1e-9
        off, half = np.abs(people - truth), (T if copied else LEVELS[0.95]) * error
        right.append((off <= half + spare).mean())
        if kind in COUNTS and error.any():
            widths.append(np.median(half) / max(0.5, np.median(off)))
    if not right:
        return ""
    width = f" ({np.median(widths):.1f})" if widths else ""
    return f"{np.mean(right):.0%}/{min(right):.0%}{width}"


def _over(found: list[Found], kind: str) -> str:
    """The median of the root mean squares of errors by copies over those of estimates."""
    ratios = []
    for rows in (np.array(one[kind]) for one in found if one.get(kind)):
        estimated, copied = (np.sqrt(((rows[:, at] - rows[:, 0]) ** 2).mean()) for at in (1, 3))
        ratios += [copied / estimated] if estimated > 0.5 else []
    return f"{np.median(ratios):.2f}" if ratios else ""


def tables(people: int = 2500, conditions: int = 12, words: tuple[str, ...] = ("",)) -> Iterator[Table]:
    """Releases of so many people, of tables and principles with one of the `words`."""
    together: dict[str, list[tuple[Found, Found]]] = defaultdict(list)
    named = (
        (name, make, *one)
        for of in (chosen_on, other_tables, held_out)
        for name, make, m in of(people)
        for one in principles(m)
    )
    for name, make, principle, parameters in named:
        if not any(word in f"{name}: {principle}" for word in words):
            continue
        declared, snapshots = make()
        try:
            contract = contract_under(declared, parameters)
            made = list(released(list(snapshots)[:RELEASES], contract))
        except NotEligible:
            continue
        part = "had no say" if name.startswith(HELD_OUT) else "chosen on"
        for number in (1, RELEASES):
            if len(made) >= number and made[number - 1].candidate.linkage.height:
                found = asked(made[number - 1], number, conditions)
                for group in ("all", part, principle, f"{part}: {name}"):
                    together[group].append(found)
    heads = ("releases of", "number", *COUNTS, *FIGURES)
    order = sorted(together, key=lambda one: (": " in one, one))
    for title, copied, which in (
        ("Copies", True, 0),
        ("Estimates", False, 0),
        ("Copies by lot", True, 1),
    ):
        kinds = (*COUNTS, *(FIGURES if copied else ()))
        rows = [
            [group, len(found), *(cell([one[which] for one in found], kind, copied=copied) for kind in kinds)]
            for group, found in ((one, together[one]) for one in order if which == 0 or ": " not in one)
        ]
        yield Table(title, heads[: len(kinds) + 2], rows)
    rows = [
        [
            group,
            *(_over([one for one, _ in together[group]], kind) for kind in COUNTS),
            *_kept(together[group]),
        ]
        for group in order
        if ": " not in group
    ]
    yield Table(
        "RMSE of copies over that of estimates, and slopes kept",
        ("releases of", *COUNTS, "slopes kept", "by lot"),
        rows,
    )


def _kept(found: list[tuple[Found, Found]]) -> list[str]:
    """The median of estimated over true slopes, of copies as they are and by lot."""
    kept = []
    for which in (0, 1):
        rows = [row for one in found for row in one[which].get("slope", ())]
        kept.append(f"{np.median([row[3] / row[0] for row in rows if row[0]]):.2f}" if rows else "")
    return kept


if __name__ == "__main__":
    main(tables)
