"""Risk over surjections, as the paper counts, and over distinct originals, which it does not bound.

Tiny m-invariant series: 4 to 7 people of three ages, three values, two releases; so several groups cover the
same people. `python -m benchmarks.distinct_originals`.
"""

from __future__ import annotations

import argparse
from fractions import Fraction

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from anonymize.errors import RepublishError
from anonymize.formats import GENERALIZATION
from anonymize.formats.published import knowledge_table
from anonymize.m_invariance.release import release
from anonymize.people.randomness import generator
from anonymize.principle.state import State
from benchmarks.adversaries.reconstructions import disclosure_risk, instance_risk
from benchmarks.algorithm_aware import snapshots, tiny_contract
from benchmarks.people import pseudonymous


def measure(series: int, m: int = 2) -> tuple[int, int, list[Fraction], list[Fraction]]:
    """Series tried and published; the highest risk of each, over surjections and over distinct originals."""
    contract = tiny_contract(m)
    surjections, originals = [], []
    for seed in range(series):
        crowd = snapshots(seed, int(np.random.default_rng(seed).integers(4, 8)))
        coarse = [table.with_columns(age=pl.col("age") // 30 * 30, town=pl.lit(0)) for table in crowd]
        tables = [pseudonymous(table, contract) for table in coarse]
        state, read = State.empty(), []
        try:
            for number, table in enumerate(tables, start=1):

                def draw(purpose: str, number: int = number) -> np.random.Generator:
                    return generator(b"benchmark", "tiny", "v1", str(number), purpose)

                candidate = release(table.drop("identifier"), contract, state, number, draw)
                state = candidate.state
                tables_read = GENERALIZATION.internal(candidate.published, contract)
                read.append(GENERALIZATION.read(tables_read, contract))
        except RepublishError:
            continue
        people = pl.concat(
            knowledge_table(table.rename({"pseudonym": "person"}), contract).with_columns(
                release=pl.lit(number, pl.Int64)
            )
            for number, table in enumerate(tables, start=1)
        )
        surjections.append(max(disclosure_risk(people, read, invariant=True).values()))
        originals.append(max(instance_risk(people, read, invariant=True).values()))
    return series, len(surjections), surjections, originals


def main(series: int, m: int, console: Console) -> None:
    """Print the table."""
    _, made, surjections, originals = measure(series, m)
    table = Table(title=f"{made} tiny series, m = {m}")
    for heading in ("every original counts", "series above 1/m", "highest risk"):
        table.add_column(heading)
    for name, risks in (("as often as surjections rebuild it", surjections), ("once", originals)):
        table.add_row(name, str(sum(risk > Fraction(1, m) for risk in risks)), str(max(risks)))
    console.print(table)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--series", type=int, default=150)
    arguments.add_argument("--m", type=int, default=2)
    parsed = arguments.parse_args()
    main(parsed.series, parsed.m, Console(width=100))
