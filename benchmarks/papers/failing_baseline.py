"""What l-diversity gives away.

Section 5.1 of the m-invariance paper, on 600,000 made-up census people: 200,000 live, and r are replaced
before each release until the pool is empty. A person is vulnerable if intersecting their candidate values
over all releases leaves one (Lemma 1).

![Vulnerable people against update volume](../pictures/vulnerable.svg)
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from benchmarks.census import LIVE, ROWS, census_contract, census_series
from benchmarks.series import contract_of, pseudonymous, released
from benchmarks.tables import Table, draw, main
from republish.anonymize.attack.coverage import value_domain
from republish.anonymize.attack.intersection import candidates, intersect, intersected
from republish.anonymize.baseline.mondrian import mondrian
from republish.anonymize.formats.published import Published, knowledge_table

QUICK = {"r": (100, 200), "l": (2,), "m": (2,), "rows": 900, "live": 500}
OURS, THEIRS = "m-invariance, m = {}", "l-diverse Mondrian, l = {}"


def tables(
    r: tuple[int, ...] = (40_000, 20_000, 10_000, 5_000),
    l: tuple[int, ...] = (2, 4, 6, 8, 10),
    m: tuple[int, ...] = (2, 10),
    rows: int = ROWS,
    live: int = LIVE,
    plot: str = "",
) -> Iterator[Table]:
    """Vulnerable people by update volume; drawn into the file `plot`, if one is named."""
    cases = [(THEIRS, bound) for bound in l] + [(OURS, bound) for bound in m]
    found = {
        name.format(bound): [vulnerable(each, bound, rows, live, ours=name == OURS) for each in r]
        for name, bound in cases
    }
    releases = ["releases", *(1 + (rows - live) // each for each in r)]
    yield Table(
        f"Vulnerable people, {rows:,} in all, {live:,} live",
        ("", *(f"r = {each:,}" for each in r)),
        [releases, *([name, *counts] for name, counts in found.items())],
    )
    if plot:
        curves = {name: (r, [max(count, 0.5) for count in counts]) for name, counts in found.items()}
        labels = {"xlabel": "update volume r", "ylabel": "vulnerable people (0 drawn at 0.5)"}
        draw(Path(plot), curves, yscale="log", **labels)


def vulnerable(r: int, bound: int, rows: int, live: int, *, ours: bool) -> int:
    """Publish a census series and attack it: how many people have one candidate value left."""
    contract, state = contract_of(census_contract(m=bound)), None
    snapshots = census_series(rows, live, r, 1 + (rows - live) // r)
    domain = value_domain(pl.Series("value", contract.sensitive.values))
    for number, (people, published) in enumerate(_published(snapshots, contract, bound, ours), start=1):
        state = intersect(knowledge_table(people, contract), published, domain, number, state)
    return intersected(candidates([state])).vulnerable


def _published(snapshots, contract, bound: int, ours: bool) -> Iterator[tuple[pl.DataFrame, Published]]:
    """Each release on what the last one left, or by itself."""
    if ours:
        for made in released(snapshots, contract):
            yield made.people.rename({"identifier": "person"}), made.read
        return
    for _, snapshot in snapshots:
        people = pseudonymous(snapshot, contract).rename({"identifier": "person"})
        yield people, mondrian(people, contract, bound)


if __name__ == "__main__":
    main(tables)
