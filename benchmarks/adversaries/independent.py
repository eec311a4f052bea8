"""What is learned by who has the releases of two publishers of the same people.

Two homes, each with a key and a contract of its own, publish people of whom some are in both; neither knows
of the other. Before each release both replace a twentieth of their people. An adversary knows who is in
both, and everybody's group in each (or quasi-identifiers alone), and intersects what the two whole series
leave possible (`anonymize.attack.measures.independent`; Ganta and others, KDD 2008). *Certain* is the share
of people in both of whom one value is left, *right* that of right guesses of the likeliest one. *Alone* is
the same of the first home alone, about the same people.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from benchmarks.adversaries.adversaries import principles
from benchmarks.census import census, census_contract
from benchmarks.real_data import adult, adult_contract, data_folder
from benchmarks.series import Made, contract_of, dynamic_series, released
from benchmarks.tables import Table, main
from republish.anonymize.attack.measures.independent import covering_groups, in_both, left, possible
from republish.anonymize.columns import IDENTIFIER, VALUE
from republish.anonymize.contract import Contract
from republish.anonymize.errors import NotEligible
from republish.anonymize.formats.published import knowledge_table

QUICK = {"people": 300, "releases": 2, "m": (4,), "shared": (0.5,)}
KEYS = b"the key of one home", b"the key of another"
SHARED = 0.5
"""The share of a home's people who are in the other one, too, where principles and m are compared."""
HEADINGS = (
    *("principle", "m or l", "share of people in both", "release", "1/m", "certain", "right"),
    *("alone: certain", "alone: right", "by quasi-identifiers: right", "alone"),
)
Snapshots = list[tuple[str, pl.DataFrame]]
Found = dict[str, pl.DataFrame]
"""What is left possible: `groups`, to who knows them, and `alone`, by quasi-identifiers."""


def tables(
    people: int = 8_000,
    releases: int = 8,
    m: tuple[int, ...] = (2, 4, 8),
    shared: tuple[float, ...] = (0.1, 0.5, 1.0),
) -> Iterator[Table]:
    """A table for each people: all principles with half of the people shared, then other shares of them."""
    for name, declared, everybody in _peoples(people):
        rows = []
        for least in m:
            for called, given in principles(least, (0.25,), others=True):
                # With two values, counterfeits may not make a batch eligible.
                principle = dict(given)
                if least == 2 and principle.pop("people_per_group", None):
                    principle["on_ineligible"] = "wait"
                contract = contract_of(_declared(declared, principle), **principle)
                is_compared = len(m) < 2 or (least == m[1] and principle["name"] == "m_invariance")
                for share in shared if is_compared else (SHARED,):
                    homes = _snapshots(everybody, people, releases, share)
                    for number, shares in _attacked(homes, contract, releases):
                        rows.append([called, least, f"{share:.0%}", number, f"{1 / least:.1%}", *shares])
        yield Table(f"{name}, {people:,} people in each home", HEADINGS, rows)


def _peoples(people: int) -> Iterator[tuple[str, dict[str, Any], pl.DataFrame]]:
    """Tables of people, each with a contract."""
    everybody = census(4 * people, 1).drop("income")
    yield "census, occupation", census_contract(), everybody
    if (folder := data_folder()) is not None:
        yield "Adult, occupation", adult_contract(folder), adult(folder)


def _declared(declared: dict[str, Any], principle: Any) -> dict[str, Any]:
    if principle["name"] != "global_guarantee":
        return declared
    return declared | {"sensitive": declared["sensitive"] | {"semantics": "transient"}}


def _snapshots(
    everybody: pl.DataFrame, people: int, releases: int, share: float
) -> tuple[Snapshots, Snapshots]:
    """The snapshots of two homes: a share of the people of the first is in the second, beside others."""
    moved = everybody.sample(fraction=1, shuffle=True, seed=1)
    replaced = people // 20
    ever = people + replaced * (releases - 1)
    first = list(dynamic_series(moved[:ever], people, replaced, releases, 1))
    shared = moved[:ever].sample(fraction=share, seed=2).select("person_id")
    beside = round(people * (1 - share))
    others = dynamic_series(moved[ever:], beside, beside // 20, releases, 3)
    second = [
        (date, pl.concat([snapshot.join(shared, on="person_id", how="semi"), other]))
        for (date, snapshot), (_, other) in zip(first, others, strict=True)
    ]
    return first, second


def _attacked(
    homes: Sequence[Snapshots], contract: Contract, releases: int
) -> Iterator[tuple[int, list[str]]]:
    """The number of the first and of the last release, and what is left then, under `HEADINGS`."""
    found: list[Found] = [{}, {}]
    series = [released(snapshots, contract, key) for snapshots, key in zip(homes, KEYS, strict=True)]
    try:
        for number, both in enumerate(zip(*series, strict=True), start=1):
            found = [_learned(made, contract, before) for made, before in zip(both, found, strict=True)]
            if number in (1, releases):
                yield number, _row(*found)
    except NotEligible:  # a principle that has no counterfeits, in its first release
        yield 1, _only("refused: a value is too frequent")


def _learned(made: Made, contract: Contract, before: Found) -> Found:
    known, read = knowledge_table(made.people.rename({IDENTIFIER: "person"}), contract), made.read
    known = known.with_columns(pl.col("person").cast(pl.String))
    linkage = made.linkage.with_columns(pl.col("person").cast(pl.String))
    published = known.join(linkage, on="person", how="semi")
    hosts = {"groups": linkage, "alone": covering_groups(published, read)}
    return {how: possible(published, read, groups, before.get(how)) for how, groups in hosts.items()}


def _row(one: Found, other: Found) -> list[str]:
    cells = []
    for how, first in one.items():
        both = in_both(first, other[how])
        alone = first.join(both, on=["person", VALUE], how="semi")
        if both.is_empty():
            return _only("nobody is published in both")
        for found in map(left, (both, alone)):
            cells += [found.certain, found.right] if how == "groups" else [found.right]
    return [f"{cell:.1%}" for cell in cells]


def _only(words: str) -> list[str]:
    return [words, *[""] * (len(HEADINGS) - 6)]


if __name__ == "__main__":
    main(tables)
