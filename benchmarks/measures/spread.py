"""Sensitive numbers whose candidates are far apart.

Income is published as one of 25 bins (made-up census) or 18 (labour force), alone and beside a second
sensitive column. `spread` is the share of all bins that lies between a person's lowest and highest
candidate at least; "none" promises nothing of the kind. Each release replaces a tenth of the people (3 % in
the labour force file). "Left over" are people who are held back because too many have numbers that are too
close to one another. "Least" and "median" are how far apart the candidates of people are, after all
releases. "Near" is the probability with which an adversary who knows everybody's group knows a person's
number to within a tenth of all bins, in the mean of all people: the largest share of the group's rows whose
bins lie in so short an interval (that of one bin, where bins are wider). It is 1/m if all candidates are
that far apart. NCP, errors and seconds are as in several_columns.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from benchmarks.census import QUASI_IDENTIFIERS, census, census_contract
from benchmarks.measures.penalties import normalized_certainty_penalty
from benchmarks.measures.several_columns import errors_of
from benchmarks.real_data import data_folder, free1_contract
from benchmarks.series import Made, contract_of, dynamic_series, released
from benchmarks.tables import Table, main
from republish.anonymize.columns import VALUE
from republish.anonymize.contract import Contract
from republish.anonymize.contract.combined import values_of
from republish.anonymize.errors import ContractError, NotEligible
from republish.orchestration.snapshots.sources import enter
from republish.orchestration.snapshots.validation import conform

QUICK = {"people": 200, "releases": 2, "large": 300}
HEADINGS = (
    "sensitive",
    "m",
    "spread",
    "release",
    "left over",
    "counterfeits",
    "least",
    "median",
    "near",
    "NCP",
    "error",
    "s",
)
SPREADS = (None, 0.4)
NEAR = 0.1
"""How near somebody's number is known, as a share of all bins."""
Source = tuple[str, dict[str, Any], list[tuple[str, pl.DataFrame]], dict[str, Any], str, Sequence[int]]
"""A table's name, its contract without what is sensitive, its snapshots, the number, the other column, m."""


def tables(people: int = 20_000, releases: int = 20, large: int = 200_000) -> Iterator[Table]:
    """A table of each source, and one of seconds."""
    for name, declared, snapshots, number, other, ms in _sources(people, releases):
        rows = [
            row
            for columns in ([number], [number, {"name": other}])
            for m in ms
            for spread in SPREADS
            for row in _rows(declared, snapshots, columns, m, spread, [1, len(snapshots)])
        ]
        yield Table(name, HEADINGS, rows)
    _, declared, snapshots, number, other, ms = next(_sources(large, 2))
    rows = [
        row
        for columns in ([number], [number, {"name": other}])
        for spread in SPREADS
        for row in _rows(declared, snapshots, columns, ms[1], spread, [1, 2])
    ]
    yield Table(f"{large:,} people of the made-up census", HEADINGS, rows)


def _sources(people: int, releases: int) -> Iterator[Source]:
    made_up = census(people + people // 10 * releases)
    made_up = made_up.select("person_id", *QUASI_IDENTIFIERS, "occupation", "income")
    snapshots = list(dynamic_series(made_up, people, people // 10, releases, 1))
    income = {"name": "income", "kind": "number", "bins": list(range(1, 52, 2))}
    yield (
        f"Made-up census, {people:,} people: income, occupation",
        census_contract(),
        snapshots,
        income,
        "occupation",
        (3, 5, 8),
    )
    folder = data_folder()
    if folder is None:
        return
    live = min(people, 2_500)
    table = pl.read_csv(folder / "free1" / "free1.csv").cast(pl.Int64).with_row_index("person")
    income = {"name": "INCOME", "kind": "number", "bins": list(range(100_000, 1_000_001, 50_000))}
    yield (
        f"A labour force file, {live:,} people: income, education",
        free1_contract(),
        list(dynamic_series(table.cast({"person": pl.Int64}), live, live * 3 // 100, releases, 1)),
        income,
        "EDUC1",
        (2, 3),
    )


def _rows(
    declared: dict[str, Any],
    snapshots: list[tuple[str, pl.DataFrame]],
    columns: list[dict[str, Any]],
    m: int,
    spread: float | None,
    shown: Sequence[int],
) -> Iterator[tuple[Any, ...]]:
    name = columns[0]["name"]
    words = " and ".join(one["name"] for one in columns)
    others: dict[str, Any] = {"m": m, "on_value_change": "refuse", "on_ineligible": "defer"}
    others |= {"spread": {name: spread}} if spread else {}
    try:
        contract = contract_of(
            declared | {"sensitive": columns if len(columns) > 1 else columns[0]},
            name="m_invariance",
            **others,
        )
        binned = ((date, _in_bins(people, contract)) for date, people in snapshots)
        made = list(released(binned, contract))
    except (NotEligible, ContractError):
        yield (words, m, spread or "none", "refused", *[None] * (len(HEADINGS) - 4))
        return
    for number in sorted(set(shown)):
        one = made[number - 1]
        figures = one.candidate.figures
        apart, near = _apart(made[:number], contract)
        yield (
            words,
            m,
            spread or "none",
            number,
            figures.held_back / one.people.height,
            figures.counterfeits / max(figures.tuples, 1),
            apart.min(),
            apart.median(),
            near,
            normalized_certainty_penalty(one.read.boxes.unique("group_id"), one.read.sizes, contract),
            dict(errors_of(one, contract, [column["name"] for column in columns]))[name],
            round(one.seconds, 1),
        )


def _in_bins(people: pl.DataFrame, contract: Contract) -> pl.DataFrame:
    """A snapshot with the name of its bin in place of each number."""
    names = contract.column_names()
    return conform(enter(people, contract), contract).rename(names)


def _apart(made: Sequence[Made], contract: Contract) -> tuple[pl.Series, float | None]:
    """How far apart the last release's people's candidates are, and how near their numbers are known."""
    edges = np.array(contract.sensitive.columns[0].bins, float)
    names = list(contract.sensitive.columns[0].values or ())
    left: dict[str, set[int]] = {}
    for one in made:
        held = one.read.values
        bins = values_of(held[VALUE], contract.sensitive)[0].replace_strict(names, range(len(names)))
        groups = {
            group: set(some)
            for group, some in held.with_columns(bin=bins).group_by("group_id").agg("bin").iter_rows()
        }
        now = dict(one.linkage.iter_rows())
        left = {person: left.get(person, groups[group]) & groups[group] for person, group in now.items()}
    width = edges[-1] - edges[0]
    apart = [max(0.0, (edges[max(some)] - edges[min(some) + 1]) / width) for some in left.values()]
    reach = [
        [b for b in range(a, len(names)) if b == a or edges[b + 1] - edges[a] <= NEAR * width]
        for a in range(len(names))
    ]
    near = [max(sum(b in some for b in run) for run in reach) / len(some) for some in left.values()]
    return pl.Series(apart), float(np.mean(near)) if near else None


if __name__ == "__main__":
    main(tables)
