"""What an adversary learns from all releases of a series, and how much less where groups stay together.

The adversary learns from the groups which values go with which quasi-identifiers, and from every release who
has another value than whom (`anonymize.attack.measures.guessing`, as each audit does). *Right* is the share
of people guessed right by who knows everybody's group; of the *surest* twentieth; and, *by
quasi-identifiers*, by who does not know groups. *Statistics* is what a regression on the values of half of
the people says of the other half, without any release. `regroup` is the share of groups that could stay and
are made anew; NCP is the share of its domain that an interval covers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from anonymize.attack.measures.guessing import Guesses, guess_values
from anonymize.columns import IDENTIFIER
from anonymize.contract import Schema
from anonymize.formats.published import knowledge_table
from benchmarks.census import census_contract, census_series
from benchmarks.measures.penalties import normalized_certainty_penalty
from benchmarks.real_data import adult_contract, adult_series, data_folder, free1_contract, free1_series
from benchmarks.series import Made, Series, contract_of, released
from benchmarks.tables import Table, main

QUICK = {"people": 300, "releases": 2, "regroup": (1.0, 0.1)}
SHOWN = (1, 2, 4)
"""Releases that are shown, beside the last one."""


def tables(
    people: int = 12_000, releases: int = 8, regroup: tuple[float, ...] = (1.0, 0.25, 0.1, 0.0)
) -> Iterator[Table]:
    """A table for each people: every share of groups that are made anew, and several releases."""
    for name, m in (("census, occupation", 4), ("Adult, occupation", 4), ("free1, education", 3)):
        rows = []
        for share in regroup:
            series = _series(name, people, releases)
            if series is None:
                return
            declared, snapshots = series
            rows += [[f"{share:g}", *row] for row in _attacked(declared, snapshots, m, share, releases)]
        yield Table(
            f"{name}, m = {m}; 1/m is {1 / m:.1%}",
            (
                *("regroup", "release", "NCP", "counterfeits", "right", "of the surest"),
                *("by quasi-identifiers", "statistics", "most frequent value"),
            ),
            rows,
        )


def _series(name: str, people: int, releases: int) -> tuple[dict[str, Any], Series] | None:
    """A contract and snapshots, of which a twentieth is replaced each time; None if the data isn't here."""
    if name.startswith("census"):
        return census_contract(), census_series(2 * people, people, people // 20, releases)
    if (folder := data_folder()) is None:
        return None
    if name.startswith("Adult"):
        return adult_contract(folder), adult_series(folder, people, people // 20, releases)
    return free1_contract(), free1_series(folder, min(people, 2_500), min(people, 2_500) // 20, releases)


def _attacked(
    declared: dict[str, Any], snapshots: Series, m: int, share: float, releases: int
) -> Iterator[list[Any]]:
    more = {"on_ineligible": "counterfeit", "people_per_group": 2, "regroup": share}
    contract = contract_of(declared, name="m_invariance", m=m, **more)
    linked: Guesses | None = None
    alone: Guesses | None = None
    for number, made in enumerate(released(snapshots, contract), start=1):
        linked = _guesses(made, contract, linked, is_linked=True)
        alone = _guesses(made, contract, alone, is_linked=False)
        if linked is None or alone is None or not (number in SHOWN or number == releases):
            continue
        read, figures = made.read, made.candidate.figures
        yield [
            number,
            f"{normalized_certainty_penalty(read.boxes, read.sizes, contract):.3f}",
            f"{figures.counterfeits / figures.people:.1%}",
            f"{linked.learned:.1%}",
            f"{linked.surest_twentieth:.1%}",
            f"{alone.learned:.1%}",
            f"{linked.from_truth:.1%}",
            f"{linked.most_frequent:.1%}",
        ]


def _guesses(made: Made, schema: Schema, before: Guesses | None, *, is_linked: bool) -> Guesses | None:
    known = knowledge_table(made.people.rename({IDENTIFIER: "person"}), schema)
    clues = None if before is None else before.clues
    return guess_values(known, made.read, schema, made.linkage if is_linked else None, clues)


if __name__ == "__main__":
    main(tables)
