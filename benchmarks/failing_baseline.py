"""Section 5.1 of the m-invariance paper: vulnerable people against update volume r and l.

A person is vulnerable if intersecting their candidate sets over all releases leaves one value (Lemma 1).
The census of `benchmarks/census.py`: 600,000 people, 200,000 live, history until the pool is empty. Prints
the table, and draws the plot with `--plot FILE`. All of it takes about ten minutes; `--r`, `--l` and `--m`
choose less.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from anonymize.attack.coverage import value_domain
from anonymize.attack.intersection import candidates, intersect, intersection_figures
from anonymize.baseline.mondrian import mondrian
from anonymize.contract import Contract
from anonymize.formats import GENERALIZATION
from anonymize.formats.published import Published, knowledge_table
from anonymize.principles import parse_contract
from benchmarks.census import LIVE, ROWS, census_contract, census_series
from benchmarks.people import pseudonymous
from benchmarks.series import released

OURS = "m-invariance"


def vulnerable(r: int, bound: int, principle: str) -> dict:
    """Publish a census series and attack it; figures of everybody ever published."""
    contract = parse_contract(census_contract(m=bound) | {"source": {"path": "{release}.parquet"}})
    releases = 1 + (ROWS - LIVE) // r
    snapshots = census_series(r=r, releases=releases)
    state, begun, attacking = None, time.perf_counter(), 0.0
    domain = value_domain(pl.Series("value", contract.sensitive.values))
    made = ours(snapshots, contract) if principle == OURS else theirs(snapshots, contract, bound)
    for number, (people, published) in enumerate(made, start=1):
        attack_begun = time.perf_counter()
        state = intersect(knowledge_table(people, contract), published, domain, number, state)
        attacking += time.perf_counter() - attack_begun
    figures = intersection_figures(candidates([state]))
    return figures | {
        "principle": principle,
        "r": r,
        "bound": bound,
        "releases": releases,
        "seconds": time.perf_counter() - begun,
        "attack": attacking,
    }


def theirs(snapshots, contract: Contract, diversity: int) -> Iterator[tuple[pl.DataFrame, Published]]:
    """Each release by itself."""
    for _, snapshot in snapshots:
        people = pseudonymous(snapshot, contract).rename({"identifier": "person"})
        yield people, mondrian(people, contract, diversity)


def ours(snapshots, contract: Contract) -> Iterator[tuple[pl.DataFrame, Published]]:
    """Each release on what the last one left."""
    for people, candidate in released(snapshots, contract):
        read = GENERALIZATION.read(GENERALIZATION.internal(candidate.published, contract), contract)
        yield people.rename({"identifier": "person"}), read


def plot(rows: list[dict], file: Path) -> None:
    """Vulnerable people against r, a curve for each l (Figure 4)."""
    figure = Figure(figsize=(6.4, 4), layout="constrained")
    axes = figure.add_subplot()
    for principle, bound in dict.fromkeys((row["principle"], row["bound"]) for row in rows):
        curve = [row for row in rows if (row["principle"], row["bound"]) == (principle, bound)]
        label = f"{'m' if principle == OURS else 'l'} = {bound}, {principle}"
        axes.plot(
            [row["r"] / 1000 for row in curve],
            [max(row["vulnerable"], 0.5) for row in curve],
            marker="o",
            linestyle="--" if principle == OURS else "-",
            label=label,
        )
    axes.set_yscale("log")
    axes.set_xlabel("update volume r (thousands)")
    axes.set_ylabel("vulnerable people (0 drawn at 0.5)")
    axes.legend(fontsize=8)
    figure.savefig(file)


def main() -> None:
    """Print the table, row by row."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--r", type=int, nargs="+", default=[5_000, 10_000, 20_000, 40_000])
    arguments.add_argument("--l", type=int, nargs="+", default=[2, 4, 6, 8, 10], dest="bounds")
    arguments.add_argument("--m", type=int, nargs="*", default=[2, 10])
    arguments.add_argument("--plot", type=Path)
    chosen = arguments.parse_args()
    cases = [("l-diverse Mondrian", bound) for bound in chosen.bounds] + [(OURS, m) for m in chosen.m]
    table = Table(title=f"Vulnerable people, {ROWS:,} in all, {LIVE:,} live")
    headings = (
        "principle",
        "l or m",
        "r",
        "releases",
        "people",
        "vulnerable",
        "fewest candidates",
        "s",
        "s of attack",
    )
    for heading in headings:
        table.add_column(heading, justify="right")
    rows = []
    for principle, bound in cases:
        for r in sorted(chosen.r, reverse=True):
            row = vulnerable(r, bound, principle)
            rows.append(row)
            shown = [f"{row[name]:,}" for name in ("r", "releases", "attacked", "vulnerable", "smallest")]
            shown = [principle, str(bound), *shown, f"{row['seconds']:.0f}", f"{row['attack']:.0f}"]
            table.add_row(*shown)
            Console(stderr=True).print(*shown)
    Console(width=120).print(table)
    if chosen.plot:
        plot(rows, chosen.plot)


if __name__ == "__main__":
    main()
