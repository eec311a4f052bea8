"""Beside tools that anonymize a table once.

A release of a series may be followed by others, and a table that is anonymized once may not. What that
costs, in a first release: groups of at least m sensitive values of the same made-up census people, and
strict l-diverse Mondrian with l = m, so that no value is carried by more than 1/l of a group. NCP is the
share of its domain that an interval covers. The error is the median over 10,000 counts of expected
selectivity 10 %, as in [m_invariance.md](m_invariance.md).
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator

import polars as pl

from benchmarks.census import ROWS, census, census_contract
from benchmarks.measures.cells import Cells, cells_of_groups, cells_of_people
from benchmarks.measures.estimator import estimated_cells
from benchmarks.measures.penalties import normalized_certainty_penalty
from benchmarks.measures.queries import SELECTIVITY, workload_errors
from benchmarks.series import contract_of, pseudonymous, released
from benchmarks.tables import Table, main
from republish.anonymize.baseline.mondrian import mondrian
from republish.anonymize.contract import Contract
from republish.anonymize.formats import ANATOMY

QUICK = {"rows": (500,), "m": 4}
WARM = 5_000
"""People of the release that compiles kernels, before anything is measured."""
OURS = {
    "republish, best": {"effort": "best"},
    "republish, fast": {"effort": "fast"},
    "republish, format: anatomy": {"format": "anatomy"},
}


def tables(
    rows: tuple[int, ...] = (200_000, 600_000), sensitive: str = "occupation", m: int = 10
) -> Iterator[Table]:
    """A row for each size and way."""
    found = []
    # More people than the census of the other benchmarks has are another census.
    samples = [census(max(number, ROWS)).sample(number, seed=1) for number in (min(WARM, *rows), *rows)]
    for table, way in itertools.product(samples, (*OURS, "l-diverse Mondrian")):
        contract = contract_of(census_contract(m, sensitive), name="m_invariance", m=m, **OURS.get(way, {}))
        read, cells, processor = _made(table, contract, once=way not in OURS)
        true = cells_of_people(pseudonymous(table, contract), contract)
        (error,) = workload_errors(true, cells, contract, (SELECTIVITY,), 1).values()
        loss = normalized_certainty_penalty(read.boxes, read.sizes, contract)
        found.append((f"{table.height:,}", way, read.sizes.height, processor, loss, f"{error:.1%}"))
    yield Table(
        f"{sensitive}, m = l = {m}",
        ("people", "made by", "groups", "CPU seconds", "NCP", "median error"),
        found[len(OURS) + 1 :],
    )


def _made(table: pl.DataFrame, contract: Contract, *, once: bool) -> tuple[object, Cells, float]:
    """The groups, how readers count people in them, and processor seconds."""
    if once:
        people = pseudonymous(table, contract).rename({"identifier": "person"})
        begun = time.process_time()
        read = mondrian(people, contract, contract.principle.m)
        processor = time.process_time() - begun
        return read, cells_of_groups(read, contract), processor
    (made,) = released([("2020-01-01", table)], contract)
    if contract.principle.format == ANATOMY.name:
        return made.read, estimated_cells(made.candidate.published, contract), made.processor
    return made.read, cells_of_groups(made.read, contract), made.processor


if __name__ == "__main__":
    main(tables)
