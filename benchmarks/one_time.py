"""A first release beside l-diverse Mondrian, which anonymizes a table once.

python -m benchmarks.one_time [--rows 200000 600000] [--sensitive occupation] [--m 10]

Both make groups of at least m sensitive values of the same made-up census people: Mondrian with l = m, so
that no value is carried by more than 1/l of a group. Ours may be continued, Mondrian's may not. Seconds are
those of all processors together; information loss (NCP) is the share of its domain that an interval covers;
the error is the median over 10,000 counts of expected selectivity 10 % (see benchmarks/papers.py).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import NamedTuple

import polars as pl
from rich.console import Console
from rich.table import Table

from anonymize.baseline.mondrian import mondrian
from anonymize.columns import IDENTIFIER
from anonymize.contract import Contract
from anonymize.formats import ANATOMY, Published
from anonymize.m_invariance.release import release
from anonymize.people.randomness import generator
from anonymize.principle.state import State
from anonymize.principles import parse_contract
from benchmarks.census import ROWS, census, census_contract
from benchmarks.estimator import estimated_cells
from benchmarks.measures.cells import Cells, cells_of_groups, cells_of_people
from benchmarks.measures.ncp import normalized_certainty_penalty
from benchmarks.papers_series import read, workload_errors
from benchmarks.papers_tables import SELECTIVITY
from benchmarks.people import KEY, pseudonymous

WARM = 5_000
"""People of the release that compiles kernels, before anything is measured."""


class Made(NamedTuple):
    """A table that was anonymized."""

    groups: Published
    counted: Callable[[], Cells]
    """How its readers count people."""


def ours(**parameters: str) -> Callable[[pl.DataFrame, Contract], Made]:
    """The first release of a series, as groups."""

    def anonymize(people: pl.DataFrame, contract: Contract) -> Made:
        principle = contract.principle.model_copy(update=parameters)
        contract = contract.model_copy(update={"principle": principle})
        made = release(
            people.drop(IDENTIFIER),
            contract,
            State.empty(),
            1,
            lambda purpose: generator(KEY, "census", "v1", "2020-01-01", purpose),
        )
        groups = read(made.published, contract)
        if principle.format == ANATOMY.name:
            return Made(groups, lambda: estimated_cells(made.published, contract))
        return Made(groups, lambda: cells_of_groups(groups, contract))

    return anonymize


def once(people: pl.DataFrame, contract: Contract) -> Made:
    """Strict l-diverse Mondrian."""
    groups = mondrian(people.rename({IDENTIFIER: "person"}), contract, contract.principle.m)
    return Made(groups, lambda: cells_of_groups(groups, contract))


WAYS = {
    "m-invariance, best": ours(effort="best"),
    "m-invariance, fast": ours(effort="fast"),
    "m-invariance, anatomy": ours(effort="best", format="anatomy"),
    "l-diverse Mondrian": once,
}


def main() -> None:
    """Print the table, a row for each size and way."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--rows", type=int, nargs="+", default=[200_000, 600_000])
    arguments.add_argument("--sensitive", default="occupation", choices=["occupation", "income"])
    arguments.add_argument("--m", type=int, default=10, help="and l")
    chosen = arguments.parse_args()
    contract = parse_contract(
        census_contract(chosen.m, chosen.sensitive) | {"source": {"path": "{release}.parquet"}}
    )
    table = Table(title=f"{chosen.sensitive}, m = l = {chosen.m}")
    for heading in ("people", "made by", "groups", "seconds", "NCP", "median error"):
        table.add_column(heading, justify="right")
    for rows in (WARM, *chosen.rows):
        # More people than the census of the other benchmarks has are another census.
        people = pseudonymous(census(max(rows, ROWS)).sample(rows, seed=1), contract)
        true = cells_of_people(people, contract)
        for way, anonymize in WAYS.items():
            begun = time.process_time()
            made = anonymize(people, contract)
            spent = time.process_time() - begun
            if rows == WARM:
                continue
            (error,) = workload_errors(true, made.counted(), contract, (SELECTIVITY,), 1).values()
            loss = normalized_certainty_penalty(made.groups.boxes, made.groups.sizes, contract)
            groups = made.groups.sizes.height
            table.add_row(f"{rows:,}", way, f"{groups:,}", f"{spent:.1f}", f"{loss:.3f}", f"{error:.1%}")
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
