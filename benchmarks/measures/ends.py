"""Ends of intervals on the grid of `min_width`: what they cost, and whose values they are.

Since version 0.5.0, both ends of every interval lie on the grid of `min_width` (*now*). Up to 0.4.0,
intervals that were narrower were widened to it, and all others ended at values of people of the group
(*before*). Both are made here of the same groups; on 3,000 people, the code of 0.4.0 made the same intervals.
Of the hospital, zip codes have a `min_width` of 2,000 beside the one in the table.

NCP is the share of its domain that an interval covers, over all quasi-identifiers. *Lone ends* are those, of
all quasi-identifiers, that are the value of exactly one person of the snapshot and no line of the grid: they
say in which group this person is.

`republish estimate` is asked for counts under random conditions on one to three quasi-identifiers: of people
with one value (*value*) and with any (*any*). The error is the mean of |estimate - truth| by the truth, or by
0.5 % of the people where that is more; *right* is how many of the 95 % intervals hold the truth, give or take
half a person. Of a release of 0.4.0 it is the estimate that is made of it today.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from benchmarks.measures.estimates import coded, condition, hospital, last, workloads
from benchmarks.measures.estimator import estimating
from benchmarks.measures.penalties import normalized_certainty_penalty
from benchmarks.real_data import adult_contract, adult_series, data_folder
from benchmarks.series import Made, Series, contract_of
from benchmarks.tables import Table, main
from republish.anonymize.columns import IDENTIFIER
from republish.anonymize.contract import Contract
from republish.anonymize.people.codes import code_domain, decode, encode
from republish.anonymize.principles import principle_of
from republish.anonymize.promise.attacked import attack
from republish.anonymize.utility.queries import true_counts, workload_error
from republish.orchestration.demo.hospital import hospital_snapshots
from republish.orchestration.readers.estimate.statements import quoted

QUICK = {"people": 300, "conditions": 2, "releases": 1}
HEADINGS = (
    "", "min_width", "ends", "NCP", "lone ends", "value: error", "value: right", "any: error", "any: right",
)  # fmt: skip
ZIPCODE = {"zipcode": 2000}
FIRST, LAST = dt.date(1900, 1, 1), dt.date(2025, 12, 31)


def tables(people: int = 10_000, conditions: int = 50, releases: int = 3) -> Iterator[Table]:
    """Of the last of so many releases, so many conditions are asked."""
    rows = []
    for name, declared, snapshots, several in tables_to_try(people, releases):
        as_it_is = last(snapshots, with_widths(declared, {}))
        for widths in several:
            now = last(snapshots, with_widths(declared, widths))
            shown = [("now", now), ("before", _before(as_it_is, now.contract))] if widths else [("", now)]
            width = next(iter(widths.values()), 0) or "none"
            for ends, made in shown:
                rows.append([name, str(width), ends, *_worth(made, conditions, on_grid=ends != "before")])
                print(*rows[-1], flush=True)
    yield Table(f"Release {releases} of {people:,} people", HEADINGS, rows)


Declared = Mapping[str, Any]
Widths = Mapping[str, int]


def tables_to_try(people: int, releases: int) -> Iterator[tuple[str, Declared, Series, tuple[Widths, ...]]]:
    """The name of each table, its contract, its snapshots, and the widths of its quasi-identifiers to try."""
    demo = hospital().model_dump(mode="json", exclude_none=True)
    patients = list(hospital_snapshots(releases, people))
    yield "hospital, age", demo, patients, ({}, {"age": 2, **ZIPCODE}, {"age": 10, **ZIPCODE})
    born = {"name": "born", "kind": "date", "domain": [FIRST.isoformat(), LAST.isoformat()]}
    of_birth = {**demo, "quasi_identifiers": [born, *demo["quasi_identifiers"][1:]]}
    yield (
        "hospital, date of birth",
        of_birth,
        _with_dates_of_birth(patients),
        ({}, {"born": 30, **ZIPCODE}, {"born": 365, **ZIPCODE}),
    )
    if (folder := data_folder()) is not None:
        adults = list(adult_series(folder, people, people // 10, releases))
        yield "Adult, age", adult_contract(folder, m=4), adults, ({}, {"age": 5}, {"age": 10})


def _with_dates_of_birth(patients: Sequence[tuple[str, pl.DataFrame]]) -> Series:
    """Snapshots with a date of birth in place of the age: any day of the year that it says at first."""
    first = pl.concat(snapshot for _, snapshot in patients).unique("patient_id", keep="first")
    days = pl.col("age") * 365 + pl.col("patient_id").str.tail(4).cast(pl.Int64) % 365
    born = first.select("patient_id", born=pl.date(2024, 1, 1) - pl.duration(days=days))
    return [(date, snapshot.drop("age").join(born, on="patient_id")) for date, snapshot in patients]


def with_widths(declared: Declared, widths: Widths) -> Contract:
    """The contract with these minimum widths, and no others."""
    attributes = [
        {key: said for key, said in one.items() if key != "min_width"}
        | ({"min_width": widths[one["name"]]} if one["name"] in widths else {})
        for one in declared["quasi_identifiers"]
    ]
    return contract_of({**declared, "quasi_identifiers": attributes})


def _before(as_it_is: Made, contract: Contract) -> Made:
    """The release as version 0.4.0 made it, from the one without minimum widths."""
    microdata = as_it_is.candidate.published["microdata"]
    for _, attribute in contract.attributes():
        if not (width := attribute.min_width):
            continue
        lowest, highest = code_domain(attribute)
        cells = int(highest - lowest + 1) // width
        low, high = (encode(pl.col(f"{attribute.name}_{end}"), attribute) for end in ("low", "high"))
        first, final = (((code - lowest) // width).clip(0, cells - 1) for code in (low, high))
        is_narrow = high - low + 1 < width
        ends = {
            "low": pl.when(is_narrow).then(first * width + lowest).otherwise(low),
            "high": pl.when(~is_narrow)
            .then(high)
            .when(final == cells - 1)
            .then(int(highest))
            .otherwise((final + 1) * width + lowest - 1),
        }
        microdata = microdata.with_columns(
            decode(code.cast(pl.Int64), attribute).alias(f"{attribute.name}_{end}")
            for end, code in ends.items()
        )
    published = {**as_it_is.candidate.published, "microdata": microdata}
    return replace(as_it_is, candidate=replace(as_it_is.candidate, published=published), contract=contract)


def _worth(made: Made, conditions: int, *, on_grid: bool) -> tuple[float | str, ...]:
    """What the columns of a row say of a release."""
    penalty = normalized_certainty_penalty(made.read.boxes, made.read.sizes, made.contract)
    return penalty, _lone(made), *_estimated(made, conditions, on_grid=on_grid)


def _lone(made: Made) -> str:
    """The share of published ends that are one person's own value."""
    attacked = attack(
        made.contract,
        principle_of(made.contract).format(made.contract),
        made.candidate.published,
        made.people.with_columns(person=pl.col(IDENTIFIER)).drop("pseudonym"),
        [principle_of(made.contract).promise(made.contract.principle)],
        linkage=made.linkage,
    )
    found = attacked.figures
    return f"{found['lone_ends'] / found['ends']:.1%}"


def _estimated(made: Made, conditions: int, *, on_grid: bool) -> Iterator[float | str]:
    """Error and share of intervals that are right: of counts of people with one value, and with any."""
    truth, of_value, of_any = coded(made), [], []
    values = truth["value"].n_unique()
    with estimating(made.candidate.published, made.contract, on_grid=on_grid) as connection:
        for workload in workloads(made, conditions * values):
            true, words = true_counts(truth, workload), condition(workload, made.contract)
            split = f"split := {quoted(made.contract.sensitive.name)}"
            rows = connection.sql(f"FROM estimate({words}, {split})").fetchall()
            found = {value: numbers for _, value, *numbers in rows}
            none = (0.0, 0.0, 0.0, 0.0)
            of_value += [
                (one, *found.get(value, none)[:4]) for one, value in zip(true, workload.value, strict=True)
            ]
            rows = connection.sql(f"FROM estimate({words})").fetchall()
            of_any.append((true.sum(), *(rows[0][2:6] if rows else none)))
    for counts in (of_value, of_any):
        true, people, _, low, high = np.array(counts, float).T
        yield workload_error(true, people, truth.height)
        yield f"{((low - 0.5 <= true) & (true <= high + 0.5)).mean():.1%}"


if __name__ == "__main__":
    main(tables)
