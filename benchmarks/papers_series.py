"""One series of section 5.2 of the m-invariance paper: what each of its releases costs and is worth."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from anonymize.contract import Contract
from anonymize.formats.published import Published
from anonymize.principles import parse_contract, principle_of
from benchmarks import series
from benchmarks.census import census_contract, census_series
from benchmarks.estimator import estimated_cells
from benchmarks.measures.cells import Cells, cells_of_groups, cells_of_people
from benchmarks.measures.ncp import normalized_certainty_penalty
from benchmarks.measures.queries import median_relative_error, range_workload
from benchmarks.phases import timed

QUERIES = 10_000


@dataclass(frozen=True)
class Case:
    """A series of the paper."""

    sensitive: str
    """`occupation` for Tocc, `income` for Tsal."""
    m: int
    r: int
    """Update volume: how many people are replaced before each release but the first."""
    live: int
    """People in each snapshot. Twice as many wait to come."""


class Asked(NamedTuple):
    """Which counts are asked for in a series."""

    selectivities: tuple[float, ...]
    """Of the workloads; none: nothing is asked."""
    every: int = 1
    """In the first release of so many, people are taken as spread evenly over their group's intervals."""
    estimated: int | None = None
    """In the first release of so many, counts are estimated as `republish estimate` does."""


def measure(case: Case, releases: int, asked: Asked) -> Iterator[dict[str, Any]]:
    """Release by release: the case, and what was measured.

    Parameters
    ----------
    case
        The series.
    releases
        How many there are.
    asked
        Which counts are asked for.

    Yields
    ------
    dict
        The fields of the case; `release` (1, 2, …), `counterfeits`, `seconds` (of all processors), `ncp`;
        where counts were asked for, the median relative error by selectivity: `evenly`, `estimated`.
    """
    contract = case_contract(case)
    snapshots = census_series(3 * case.live, case.live, case.r, releases=releases, sensitive=case.sensitive)
    made = series.released(snapshots, contract)
    for number in range(1, releases + 1):
        with timed({"release": (series, "release")}, time.process_time) as seconds:
            people, candidate = next(made)
        published = read(candidate.published, contract)
        yield {
            **asdict(case),
            "release": number,
            "counterfeits": candidate.figures["counterfeits"],
            "seconds": seconds["release"],
            "ncp": normalized_certainty_penalty(published.boxes, published.sizes, contract),
            **_errors(number, people, candidate.published, contract, asked),
        }


def read(tables: Mapping[str, pl.DataFrame], contract: Contract) -> Published:
    """A candidate's tables as groups."""
    published = principle_of(contract).format(contract)
    return published.read(published.internal(tables, contract), contract)


def case_contract(case: Case) -> Contract:
    """The contract of a case's series."""
    declared = census_contract(case.m, case.sensitive) | {"source": {"path": "{release}.parquet"}}
    if case.m > 2:  # of two values, a batch is eligible: none is as frequent as one in two
        declared["principle"] = {**declared["principle"], "on_ineligible": "counterfeit"}
    return parse_contract(declared)


def _errors(
    number: int, people: pl.DataFrame, tables: Mapping[str, pl.DataFrame], contract: Contract, asked: Asked
) -> dict[str, dict[str, float]]:
    """The workload errors of the release of this number, by estimator."""
    readings = {}
    if asked.selectivities and (number - 1) % asked.every == 0:
        readings["evenly"] = cells_of_groups(read(tables, contract), contract)
    if asked.selectivities and asked.estimated and (number - 1) % asked.estimated == 0:
        readings["estimated"] = estimated_cells(tables, contract)
    true = cells_of_people(people, contract) if readings else None
    return {
        estimator: workload_errors(true, cells, contract, asked.selectivities, number)
        for estimator, cells in readings.items()
    }


def workload_errors(
    true: Cells, estimated: Cells, contract: Contract, selectivities: tuple[float, ...], seed: int
) -> dict[str, float]:
    """The median relative error of 10,000 random queries, by expected selectivity.

    Parameters
    ----------
    true, estimated
        The table, and the release as it is read.
    contract
        Their domains.
    selectivities
        Of the workloads.
    seed
        Which queries are asked.
    """
    found = {}
    for selectivity in selectivities:
        rng = np.random.default_rng([seed, round(1000 * selectivity)])
        workload = range_workload(contract, QUERIES, selectivity, rng)
        found[f"{selectivity:g}"] = median_relative_error(true.counts(workload), estimated.counts(workload))
    return found
