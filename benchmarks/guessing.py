"""How many values are guessed right after learning from the published groups, and who is known to be present.

Adult with occupation sensitive, made dynamic (needs the real data, see `real_data`), and a made-up census of
which the occupation goes with education and gender. The last of three releases is attacked.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from anonymize.attack.guessing import guess_values
from anonymize.attack.presence import guess_presence
from anonymize.formats import GENERALIZATION
from anonymize.formats.published import knowledge_table
from anonymize.m_invariance.release import release
from anonymize.people.randomness import generator
from anonymize.principle.state import State
from anonymize.principles import parse_contract
from benchmarks.census import census_contract, census_series
from benchmarks.people import pseudonymous
from benchmarks.real_data import WHY_NOT, adult_contract, adult_series, data_folder

RELEASES = 3


def measure(declared: dict[str, Any], snapshots: Iterable[tuple[str, pl.DataFrame]]) -> list[str]:
    """A row of the table: people, what is guessed with and without the linkage, presence, seconds."""
    contract = parse_contract(declared | {"source": {"path": "{release}.parquet"}})
    state, ever = State.empty(), []
    for number, (name, snapshot) in enumerate(snapshots, start=1):
        people = pseudonymous(snapshot, contract).with_columns(person=pl.col("identifier").cast(pl.String))

        def draw(purpose: str, name: str = name) -> np.random.Generator:
            return generator(b"benchmark", contract.product, contract.series, name, purpose)

        made = release(people.drop("identifier", "person"), contract, state, number, draw)
        state, known = made.state, knowledge_table(people, contract)
        ever.append(known)
    published = GENERALIZATION.read(GENERALIZATION.internal(made.published, contract), contract)
    linkage = made.linkage.join(people.select("pseudonym", "person"), on="pseudonym")
    begun = time.perf_counter()
    linked = guess_values(known, published, contract, linkage.select("person", "group_id"))
    took = time.perf_counter() - begun
    alone = guess_values(known, published, contract)
    outside = (
        pl.concat(ever)
        .unique("person", keep="last", maintain_order=True)
        .join(known, on="person", how="anti")
    )
    presence = guess_presence(known, outside, published)
    shares = (linked.learned, linked.at_random, alone.learned, linked.most_frequent, linked.from_truth)
    told = f"{100 * presence.advantage:.1f} ± {100 * presence.error:.1f}"
    return [f"{linked.people:,}", *(f"{100 * share:.1f} %" for share in shares), told, f"{took:.1f}"]


def main() -> None:
    table = Table(title="values guessed right; presence: percentage points that people are told apart by")
    table.add_column("table")
    for heading in ("m", "people", "learned", "1/m", "learned, groups not known"):
        table.add_column(heading, justify="right")
    for heading in ("most frequent", "from the true table", "presence", "seconds"):
        table.add_column(heading, justify="right")
    folder = data_folder()
    if folder is None:
        Console().print(WHY_NOT)
    for m in (2, 4, 6) if folder else ():
        series = adult_series(folder, releases=RELEASES)
        table.add_row("Adult, occupation", str(m), *measure(adult_contract(folder, m), series))
    for m in (2, 4, 10):
        series = census_series(rows=120_000, live=40_000, r=4_000, releases=RELEASES)
        table.add_row("census, occupation", str(m), *measure(census_contract(m), series))
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
