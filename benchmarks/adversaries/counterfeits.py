"""Guessing the commonest value beside counterfeits.

A counterfeit seldom has the value that most people of its signature have, and the table R(n) says which
groups have counterfeits. The adversary knows everybody's group, as somebody does who knows exact
quasi-identifiers, and how frequent values are, and guesses of each person beside a counterfeit the most
frequent value of the group. If counterfeits gave nothing away, a share of 1/m would be right. A tenth of the
people is replaced before each release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from benchmarks.real_data import adult, adult_contract, data_folder, receipts_contract, receipts_series
from benchmarks.series import Made, Series, contract_of, dynamic_series, released
from benchmarks.tables import Table, main
from republish.anonymize.columns import IDENTIFIER
from republish.anonymize.contract import Contract

QUICK = {"people": 100, "releases": 2, "series": 1, "with_real": 0}
VALUES = [f"value {n}" for n in range(8)]
BELOW, ABOVE = 0.9, 1.25
"""How frequent the most frequent value of made-up people is, times 1/m."""
HEADINGS = (
    *(
        "people",
        "m",
        "on_ineligible",
        "people_per_group",
        "counterfeits",
        "held back",
        "beside a counterfeit",
    ),
    *("right", "alone with counterfeits", "right"),
)


def made_up(m: int, share: float, people: int, releases: int, seed: int) -> tuple[dict[str, Any], Series]:
    """People whose most frequent value has a certain share, times 1/m: their contract and their series."""
    rng, everybody = np.random.default_rng(seed), people * (releases + 9) // 10
    others = 0.8 ** np.arange(len(VALUES) - 1)
    shares = np.append(share / m, (1 - share / m) * others / others.sum())
    table = pl.DataFrame(
        {
            "person": np.arange(everybody),
            "age": rng.integers(0, 100, everybody),
            "zipcode": rng.integers(0, 1000, everybody),
            "value": rng.choice(VALUES, everybody, p=shares),
        }
    )
    declared = {
        "product": "made_up",
        "series": "v1",
        "releases": {"first": "2020-01-01", "cron": "0 0 1 * *"},
        "identifier": "person",
        "quasi_identifiers": [
            {"name": "age", "kind": "number", "domain": [0, 99]},
            {"name": "zipcode", "kind": "number", "domain": [0, 999]},
        ],
        "sensitive": {"name": "value", "values": VALUES},
    }
    return declared, dynamic_series(table, people, people // 10, releases, seed)


def real(name: str, people: int, releases: int, seed: int) -> tuple[dict[str, Any], Series]:
    """Adult with education as the sensitive value, or the receipts: contract and series."""
    folder = data_folder()
    assert folder is not None
    if name == "receipts":
        return receipts_contract(), receipts_series(folder)
    declared = adult_contract(folder)
    table, kept = adult(folder), ("age", "sex", "marital-status")
    declared["quasi_identifiers"] = [qi for qi in declared["quasi_identifiers"] if qi["name"] in kept]
    declared["sensitive"] = {"name": "education", "values": table["education"].unique().sort().to_list()}
    table = table.select("person_id", *kept, "education")
    return declared, dynamic_series(table, people, people // 10, releases, seed)


def guess(made: Made) -> tuple[int, ...]:
    """Of a release: counterfeits, people held back, beside counterfeits, right of these, alone, right."""
    read, people = made.read, made.people.select("value", person=IDENTIFIER)
    common = people.group_by("value").agg(frequent=pl.len())
    guessed = (
        read.values.join(common, on="value", how="left")
        .sort("frequent", "value", descending=True, nulls_last=True)
        .group_by("group_id", maintain_order=True)
        .agg(guess=pl.col("value").first())
    )
    hosted = made.linkage.join(people, on="person").join(guessed, on="group_id")
    right = pl.col("value") == pl.col("guess")
    beside = hosted.with_columns(right=right, among=pl.len().over("group_id"))
    beside = beside.join(read.counterfeits, on="group_id")
    alone = beside.filter(among=1)
    figures = made.candidate.figures
    found = (beside.height, int(beside["right"].sum()), alone.height, int(alone["right"].sum()))
    return figures.counterfeits, figures.held_back, *found


def row(words: str, found: np.ndarray, contract: Contract[Any]) -> list[Any]:
    """A row of the table: what was summed over releases."""
    counterfeits, held_back, beside, right, alone, sure = found.tolist()
    principle = contract.principle
    return [
        *(words, principle.m, principle.on_ineligible, principle.people_per_group, counterfeits, held_back),
        *(beside, f"{right / max(beside, 1):.3f}", alone, f"{sure / alone:.3f}" if alone else ""),
    ]


def tables(people: int = 600, releases: int = 8, series: int = 5, with_real: int = 1) -> Iterator[Table]:
    """Of each table, m and `people_per_group`, how many people are beside counterfeits and guessed right."""
    rows = []
    for policy, least, share, ms in (
        ("wait", 1, BELOW, (2, 3, 4, 5)),
        ("wait", 2, BELOW, (3, 4)),
        ("counterfeit", 2, ABOVE, (3, 4, 5)),
        ("counterfeit", 3, ABOVE, (5,)),
    ):
        for m in ms:
            given = {"name": "m_invariance", "m": m, "on_ineligible": policy, "people_per_group": least}
            sums = []
            for seed in range(series):
                declared, snapshots = made_up(m, share, people, releases, seed)
                contract = contract_of(declared, **given)
                sums += [guess(made) for made in released(snapshots, contract)]
            rows.append(row("made up", np.sum(sums, axis=0), contract))
    if with_real and data_folder() is not None:
        rows += real_rows(people, releases)
    yield Table(
        f"{series} series of {releases} releases, {people} people; sums over releases", HEADINGS, rows
    )


def real_rows(people: int, releases: int) -> Iterator[list[Any]]:
    """The same of real people, one series each."""
    cases: tuple[tuple[str, Mapping[str, Any]], ...] = (
        ("Adult, education", {"m": 2}),
        ("Adult, education", {"m": 4, "on_ineligible": "counterfeit", "people_per_group": 2}),
        ("Adult, education", {"m": 5, "on_ineligible": "counterfeit", "people_per_group": 2}),
        ("receipts", {"m": 3, "on_ineligible": "counterfeit", "people_per_group": 2}),
    )
    for name, parameters in cases:
        declared, snapshots = real("receipts" if name == "receipts" else "adult", people, releases, 1)
        contract = contract_of(declared, **{"name": "m_invariance", "on_ineligible": "wait", **parameters})
        sums = [guess(made) for made in released(snapshots, contract)]
        yield row(name, np.sum(sums, axis=0), contract)


if __name__ == "__main__":
    main(tables)
