"""What is learned by who knows how values change.

A made-up census of m-invariance, of which a twentieth is replaced, and a fiftieth of the people get another
value, before each release: one of three that follow each value, or any. In the last row people with three of
the 50 values leave ten times as often as others. Whoever knows of half of the people how values change
guesses those of the other half, old and new ones of people whose value changed to one outside of their
candidates, and the last ones of people who left (`anonymize.attack.measures.known_changes`, as each audit
does). *Certain* is the share of changed people whose old value has a probability of 99 %, and is
right. *Held back* is the share of the people of the last release; *changed* counts who comes back, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from benchmarks.census import census, census_contract
from benchmarks.series import Series, contract_of, released
from benchmarks.tables import Table, main
from republish.anonymize.attack.measures.known_changes import Lives, follow_lives, learn_changes
from republish.anonymize.columns import IDENTIFIER
from republish.anonymize.formats.published import knowledge_table

QUICK = {"people": 600, "releases": 3, "m": (3,)}
VALUES = 50
FOLLOWING = 3
LEAVING = 3
"""So many values make people leave, where values decide who does."""


def tables(people: int = 12_000, releases: int = 20, m: tuple[int, ...] = (4, 8)) -> Iterator[Table]:
    """One table: each m and each way in which values change."""
    rows = []
    for least in m:
        for how, follows, leaves, policy in (
            ("three follow each value", True, False, "separate"),
            ("any follows any", False, False, "separate"),
            ("three make people leave", False, True, "separate"),
        ):
            series = _series(people, releases, follows=follows, leaves=leaves)
            rows.append([least, how, policy, *_learned(series, least, policy)])
    yield Table(
        f"{people} people, {releases} releases",
        (
            *(
                "m",
                "changes",
                "on_value_change",
                "changed",
                "old: right",
                "new: right",
                "old: certain",
                "left",
                "last: right",
                "1/m",
            ),
            "counterfeits",
            "held back",
        ),
        rows,
    )


def _series(people: int, releases: int, *, follows: bool, leaves: bool) -> Series:
    """Snapshots of a census in which values change."""
    rng, everybody = np.random.default_rng(1), census(3 * people, 1).drop("income")
    value = everybody["occupation"].to_numpy().copy()
    waiting = rng.permutation(len(everybody))
    present, waiting = waiting[:people], waiting[people:]
    for number in range(releases):
        if number:
            weight = np.where(leaves & (value[present] <= LEAVING), 10.0, 1.0)
            gone = rng.choice(people, people // 20, replace=False, p=weight / weight.sum())
            present = np.concatenate([np.delete(present, gone), waiting[: len(gone)]])
            waiting = waiting[len(gone) :]
            some = present[rng.random(people) < 0.02]
            step = value[some] * 7 + rng.integers(0, FOLLOWING, len(some)) * 11
            value[some] = (step if follows else rng.integers(0, VALUES, len(some))) % VALUES + 1
        snapshot = everybody[np.sort(present).tolist()]
        own = pl.Series(value[np.sort(present)], dtype=snapshot.schema["occupation"])
        yield f"{2020 + number // 12}-{number % 12 + 1:02}-01", snapshot.with_columns(occupation=own)


def _learned(series: Series, m: int, policy: str) -> list[Any]:
    more = {"on_ineligible": "counterfeit", "people_per_group": 2, "on_value_change": policy}
    contract = contract_of(census_contract(m), name="m_invariance", m=m, **more)
    lives: Lives | None = None
    for made in released(series, contract):
        known = knowledge_table(made.people.rename({IDENTIFIER: "person"}), contract)
        lives = follow_lives(known, made.read, made.linkage, lives)
        figures = made.candidate.figures
    found = None if lives is None else learn_changes(lives)
    assert found is not None
    old, new, left = found.old, found.new, found.departed
    return [
        old.people if old else 0,
        *(f"{one.by_half:.1%}" if one else "" for one in (old, new)),
        f"{old.certain:.1%}" if old else "",
        left.people if left else 0,
        f"{left.by_half:.1%}" if left else "",
        f"{1 / m:.1%}",
        f"{figures.counterfeits / figures.people:.1%}",
        f"{1 - figures.people / len(known):.1%}",
    ]


if __name__ == "__main__":
    main(tables)
