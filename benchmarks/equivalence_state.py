"""1,000 e-equivalent releases of a small table: what a release costs and what has to be remembered.

    python benchmarks/equivalence_state.py [releases]

Once with people who come back (a closed population), once with ever new ones. Pseudonyms of the departed are
remembered for ever, so with ever new people `memory` grows; the graphs don't.
"""

from __future__ import annotations

import datetime as dt
import sys
import time

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from anonymize.e_equivalence.release import release
from anonymize.people.randomness import generator
from anonymize.principle.state import State
from anonymize.principles import parse_contract
from benchmarks.people import pseudonymous

LIVE, LEAVING, VALUES = 300, 20, 8
POPULATION = 900


def contract(m: int = 3, e: int = 3):
    return parse_contract(
        {
            "product": "small",
            "series": "v1",
            "source": {"path": "{release}.parquet"},
            "releases": {"first": dt.date(2020, 1, 1), "cron": "0 0 1 * *"},
            "identifier": "person",
            "quasi_identifiers": [{"name": "age", "kind": "number", "domain": [0, 99]}],
            "sensitive": {"name": "disease", "values": list(range(VALUES))},
            "principle": {"name": "e_equivalence", "m": m, "e": e, "on_ineligible": "counterfeit"},
        }
    )


def snapshots(releases: int, *, closed: bool):
    random = np.random.default_rng(0)
    people = POPULATION if closed else LIVE + LEAVING * releases
    age, disease = random.integers(0, 100, people), random.integers(0, VALUES, people)
    present, newest = np.arange(LIVE), LIVE
    for _ in range(releases):
        yield pl.DataFrame({"person": present, "age": age[present], "disease": disease[present]})
        absent = np.setdiff1d(np.arange(people), present) if closed else np.arange(newest, newest + LEAVING)
        newest += LEAVING
        present = np.append(random.permutation(present)[LEAVING:], random.permutation(absent)[:LEAVING])


def measure(title: str, releases: int, *, closed: bool) -> None:
    table = Table(title=title)
    columns = (
        "release",
        "seconds",
        "counterfeits",
        "buckets",
        "nodes",
        "edges",
        "graph bytes",
        "memory bytes",
    )
    for column in columns:
        table.add_column(column, justify="right")
    declared, state, seconds = contract(), State.empty(), []
    for number, snapshot in enumerate(snapshots(releases, closed=closed), start=1):
        people = pseudonymous(snapshot, declared).drop("identifier")
        begun = time.perf_counter()
        candidate = release(
            people,
            declared,
            state,
            number,
            lambda purpose, n=number: generator(b"k", "small", "v1", str(n), purpose),
        )
        seconds.append(time.perf_counter() - begun)
        state = candidate.state
        if number in (1, 10, 100) or number % 200 == 0:
            sizes = {name: part.estimated_size() for name, part in state.tables.items()}
            graphs = sum(size for name, size in sizes.items() if name not in ("memory", "buckets"))
            figures = candidate.figures
            table.add_row(
                str(number),
                f"{np.median(seconds[-100:]):.3f}",
                *(f"{figures[name]:,}" for name in ("counterfeits", "buckets", "nodes", "edges")),
                f"{graphs:,}",
                f"{sizes['memory']:,}",
            )
    Console(width=110).print(table)


def main() -> None:
    releases = int(sys.argv[1]) if sys.argv[1:] else 1000
    measure(f"{releases} releases, people come back", releases, closed=True)
    measure(f"{releases} releases, ever new people", releases, closed=False)


if __name__ == "__main__":
    main()
