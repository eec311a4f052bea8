"""The global guarantee: groups, and people held back.

People with the quasi-identifiers of a made-up census and one of 50 values, the most frequent of which has
2.4 %. Each release changes 5 % of the values and replaces 5 % of the people; l = 2. Receipts: real people,
half-years of 26 to 515 of them, whose diagnosis is one of 19 ICD-10 chapters, the most frequent of which
has 23 %; `on_ineligible: wait`, and - where nobody is placed. Error: the median relative error of counts of
a third of the birth years and a fourth of the chapters, for which the researcher scales by the people held
back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from benchmarks.census import QUASI_IDENTIFIERS, census, census_contract
from benchmarks.measures.penalties import normalized_certainty_penalty
from benchmarks.measures.queries import estimated_counts, median_relative_error
from benchmarks.real_data import data_folder, is_here, receipts_contract, receipts_series
from benchmarks.series import Made, contract_of, released
from benchmarks.tables import Table, main
from republish.anonymize.people.codes import encode_columns
from republish.anonymize.utility.queries import random_workload, true_counts

QUICK = {"people": 2_000, "releases": 2, "real": 0}
VALUES, SKEW = 50, 0.05
"""A ratio of 29.4 needs values of which none has more than 3.4 % of the people: these have 2.4 % at most."""
OF_RECEIPTS = (
    (2, {"strategy": "constant_ratio", "releases": 2}),
    (2, {"strategy": "geometric", "a": 0.5}),
    (2, {"strategy": "minimum"}),
    (3, {"strategy": "constant_ratio", "releases": 1}),
    (3, {"strategy": "geometric", "a": 0.25}),
    (3, {"strategy": "minimum"}),
)


def tables(people: int = 200_000, releases: int = 20, real: int = 1) -> Iterator[Table]:
    """A census under each strategy, and the receipts."""
    plan = {"strategy": "constant_ratio", "releases": releases}
    for strategy in (plan, {"strategy": "geometric", "a": 0.9}, {"strategy": "minimum"}):
        yield _census(people, releases, strategy)
    if real and is_here():
        yield _receipts()


def _census(people: int, releases: int, strategy: dict[str, Any]) -> Table:
    declared = census_contract() | {"sensitive": {"name": "value", "semantics": "transient"}}
    principle = {"name": "global_guarantee", "l": 2, "on_ineligible": "wait", **strategy}
    contract, rows = contract_of(declared, **principle), []
    for number, made in enumerate(released(_changing(people, releases), contract), start=1):
        figures, read = made.candidate.figures, made.read
        is_empty = not figures.groups
        rows.append(
            [
                str(number),
                None if is_empty else figures.tuples / figures.groups,
                figures.largest_group,
                figures.held_back,
                figures.links,
                None if is_empty else normalized_certainty_penalty(read.boxes, read.sizes, contract),
                made.seconds,
                made.processor,
            ]
        )
    return Table(
        f"{people:,} people, l = 2, {' '.join(map(str, strategy.values()))}",
        ("release", "average group", "largest", "held back", "links", "NCP", "seconds", "CPU"),
        rows,
    )


def _changing(people: int, releases: int) -> Iterator[tuple[str, pl.DataFrame]]:
    """T(1), T(2), …: the quasi-identifiers of a made-up census, and an unrelated value."""
    rng, leaving = np.random.default_rng(3), people // 20
    everybody = census(people + leaving * releases).select("person_id", *QUASI_IDENTIFIERS)
    weights = np.arange(1, VALUES + 1) ** -SKEW
    chances = weights / weights.sum()
    value, present = rng.choice(VALUES, everybody.height, p=chances), np.arange(people)
    for release in range(releases):
        if release:
            entering = np.arange(people + leaving * (release - 1), people + leaving * release)
            present = np.concatenate([rng.permutation(present)[leaving:], entering])
            changing = present[rng.random(people) < 0.05]
            value[changing] = rng.choice(VALUES, len(changing), p=chances)
        yield str(release), everybody[present].with_columns(value=pl.Series(value[present], dtype=pl.Int64))


def _receipts() -> Table:
    """Group sizes, people held back and errors, half-year by half-year, on real people who come and go."""
    declared, snapshots, rows = receipts_contract(), list(receipts_series(data_folder())), []
    declared["sensitive"] = declared["sensitive"] | {"semantics": "transient"}
    for l, strategy in OF_RECEIPTS:
        contract = contract_of(declared, name="global_guarantee", l=l, on_ineligible="wait", **strategy)
        made = list(released(snapshots, contract))
        figures = [one.candidate.figures for one in made]
        groups = (f"{one.tuples / one.groups:.0f}" if one.groups else "-" for one in figures)
        held, errors = (str(one.held_back) for one in figures), map(_error, made)
        rows.append([f"{l} {' '.join(map(str, strategy.values()))}", *map(" ".join, (groups, held, errors))])
    sizes = " ".join(str(people.height) for _, people in snapshots)
    return Table(
        f"Receipts, half-years of {sizes} people",
        ("l, strategy", "average group", "held back", "median error of counts, %"),
        rows,
    )


def _error(made: Made, queries: int = 200) -> str:
    """The median relative error of counts in %, tuples taken as evenly spread over their intervals."""
    if not made.candidate.figures.groups:
        return "-"
    read, (*_, (column, _)) = made.read, made.contract.attributes()
    people = made.people.select("value", *encode_columns(made.people, made.contract).get_columns())
    values, rng = people["value"].unique().sort(), np.random.default_rng(7)
    asked = random_workload(made.contract, [column], values, queries, 1 / 3, rng)
    true, scale = true_counts(people, asked), len(people) / read.values["tuples"].sum()
    found = scale * estimated_counts(read.values.join(read.boxes, on="group_id"), asked, made.contract)
    return f"{100 * median_relative_error(true[true > 0], found[true > 0]):.0f}"


if __name__ == "__main__":
    main(tables)
