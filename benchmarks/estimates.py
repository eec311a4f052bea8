"""How far counts are off that a researcher estimates from a release, and how often their intervals are right.

    python benchmarks/estimates.py            10,000 queries on the demo, 1,000 on each of the others
    python benchmarks/estimates.py 200        so many on each

A query counts people with one sensitive value whose one to three quasi-identifiers lie in random intervals;
each such condition is asked for every value. "evenly" takes people as spread evenly over their group's
intervals; "estimated" is what `estimate.sql` in the published folder says. Relative errors are by the true
count, or 10 where it is smaller. An interval at 95 % is right if the true count is in it.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from anonymize.codes import code_domain, encode_columns
from anonymize.columns import VALUE
from anonymize.contract import CategoryAttribute, Contract
from anonymize.formats import ANATOMY, GENERALIZATION
from anonymize.principles import parse_contract, principle_of
from anonymize.state import State
from anonymize.utility.queries import Workload, estimated_counts, true_counts
from benchmarks.census import census, census_contract
from benchmarks.people import pseudonymous
from orchestration.contracts.contract_file import load_contract
from orchestration.datapackage.dated import dated
from orchestration.datapackage.package import data_package
from orchestration.demo import CONTRACT, SEED, hospital_snapshots
from orchestration.estimate.command import prepared
from orchestration.estimate.statements import estimate_sql, quoted, text

DATE = "2024-01-01"
LEVELS = {0.95: 1.96, 0.8: 1.2816, 0.5: 0.6745}


@dataclass(frozen=True)
class Released:
    """A release and the truth behind it."""

    contract: Contract
    people: pl.DataFrame
    """`pseudonym`, `qi_0`, …, `value`."""
    published: Mapping[str, pl.DataFrame]


def released(snapshots: Iterator[pl.DataFrame], contract: Contract) -> Released:
    """The last release of a series of snapshots."""
    principle, state = principle_of(contract), State.empty()
    for number, snapshot in enumerate(snapshots, start=1):
        people = pseudonymous(snapshot, contract)

        def draw(purpose: str, number: int = number) -> np.random.Generator:
            return np.random.default_rng([number, *purpose.encode()])

        candidate = principle.release(people.drop("identifier"), contract, state, number, draw)
        state = candidate.state
    return Released(contract, people, candidate.published)


def hospital(**principle: Any) -> Contract:
    """The demo's contract under a principle; exact quasi-identifiers have no minimum widths."""
    declared = load_contract(CONTRACT).contract.model_dump(mode="json", exclude_none=True)
    if principle:
        declared["principle"] = principle
        for one in declared["quasi_identifiers"]:
            one.pop("min_width")
    return parse_contract(declared)


def census_with_occupation(m: int) -> Contract:
    """A census in which occupation is sensitive, and goes with age, education and gender."""
    once = {"source": {"path": "{release}.parquet"}, "releases": {"first": DATE}}
    return parse_contract({**census_contract(m), **once})


def shuffled(snapshot: pl.DataFrame, seed: int) -> pl.DataFrame:
    """The same people, with diseases that have nothing to do with them."""
    return snapshot.with_columns(pl.col("disease").shuffle(seed=seed))


def workloads(release: Released, queries: int) -> Iterator[Workload]:
    """Random conditions on one to three quasi-identifiers, each asked for every sensitive value."""
    attributes = dict(release.contract.attributes())
    chosen = [some for size in (1, 2, 3) for some in itertools.combinations(attributes, size)]
    rng, values = np.random.default_rng(1), release.people[VALUE].unique().sort().to_list()
    for query in range(-(-queries // len(values))):
        some = chosen[query % len(chosen)]
        domains = [code_domain(attributes[column]) for column in some]
        ends = np.array([np.sort(rng.integers(low, high + 1, 2)) for low, high in domains], float)
        low, high = (np.tile(end, (len(values), 1)) for end in ends.T)
        yield Workload(some, low, high, tuple(values))


def condition(workload: Workload, contract: Contract) -> str:
    """The condition of a workload in SQL."""
    parts, attributes = [], dict(contract.attributes())
    for position, column in enumerate(workload.columns):
        attribute = attributes[column]
        low, high = int(workload.low[0, position]), int(workload.high[0, position])
        if isinstance(attribute, CategoryAttribute):
            labels = ", ".join(map(text, attribute.labels[low : high + 1]))
            parts.append(f"{quoted(attribute.name)} IN ({labels})")
        else:
            parts.append(f"{quoted(attribute.name)} BETWEEN {low} AND {high}")
    return " AND ".join(parts)


def spread_evenly(release: Released, workload: Workload) -> np.ndarray:
    """What the queries come to if people are spread evenly, less counterfeits."""
    contract = release.contract
    release_format = principle_of(contract).format(contract)
    read = release_format.read(release_format.internal(release.published, contract), contract)
    sizes = read.sizes.join(read.counterfeits, on="group_id", how="left")
    real = sizes.select("group_id", real=1 - pl.col("count").fill_null(0) / pl.col("size"))
    if release_format is ANATOMY:
        main = release_format.internal(release.published, contract)["quasi_identifiers"]
        exact = main.select("group_id", *encode_columns(main, contract).get_columns())
        inside = _inside(exact, workload)
        answers = np.zeros(len(workload.value))
        values = read.values.join(real, on="group_id")
        for query, value in enumerate(workload.value):
            share = (
                exact.select("group_id")
                .with_columns(inside=inside[query])
                .group_by("group_id")
                .agg(pl.col("inside").mean())
            )
            joined = values.filter(pl.col(VALUE) == value).join(share, on="group_id")
            answers[query] = (joined["tuples"] * joined["real"] * joined["inside"]).sum()
        return answers
    assert release_format is GENERALIZATION
    tuples = read.values.join(read.boxes, on="group_id")
    return estimated_counts(
        tuples.select(pl.all().exclude("tuples").repeat_by("tuples").explode()), workload, contract
    )


def _inside(exact: pl.DataFrame, workload: Workload) -> np.ndarray:
    """bool[Q, N]: which tuples each query's conditions admit."""
    found = np.ones((len(workload.value), exact.height), bool)
    for position, column in enumerate(workload.columns):
        codes = exact[column].to_numpy()
        found &= (codes >= workload.low[:, [position]]) & (codes <= workload.high[:, [position]])
    return found


def measured(release: Released, queries: int) -> tuple[dict[str, np.ndarray], float]:
    """For each query `true`, `evenly`, `estimated`, `error`; and the seconds that a condition took."""
    contract = release.contract
    release_format = principle_of(contract).format(contract)
    stated = {"product": contract.product, "series": contract.series, "release": DATE, "n": 1}
    stated["principle"] = contract.principle.model_dump(mode="json")
    types = {name: str(dtype) for one in release.published.values() for name, dtype in one.schema.items()}
    truth = release.people.select(VALUE, *encode_columns(release.people, contract).get_columns())
    found: dict[str, list] = {"true": [], "evenly": [], "estimated": [], "error": []}
    with tempfile.TemporaryDirectory() as temporary:
        for name, table in release.published.items():
            dated(table, DATE).write_parquet(Path(temporary) / f"{name}.parquet")
        statements = estimate_sql(data_package(contract, release_format, stated, types))
        with prepared(Path(temporary), statements) as connection:
            seconds, conditions = 0.0, 0
            for workload in workloads(release, queries):
                found["true"].extend(true_counts(truth, workload))
                found["evenly"].extend(spread_evenly(release, workload))
                started = time.perf_counter()
                asked = f"{condition(workload, contract)}, split := {quoted(contract.sensitive.name)}"
                rows = connection.sql(f"FROM estimate({asked})").fetchall()
                seconds += time.perf_counter() - started
                answers = {value: (people, error) for _, value, people, error, *_ in rows}
                for value in workload.value:
                    people, error = answers.get(value, (0.0, 0.0))
                    found["estimated"].append(people)
                    found["error"].append(error)
                conditions += 1
    return {name: np.array(entries, float) for name, entries in found.items()}, seconds / conditions


def tables(queries: int | None) -> Iterator[tuple[str, Released, int]]:
    """What is measured, by name, with how many queries."""
    snapshots = (snapshot for _, snapshot in hospital_snapshots())
    yield "demo, 6th release, m = 4", released(snapshots, hospital()), queries or 10_000
    few = queries or 1_000
    for seed in (SEED + 1, SEED + 2):
        ((_, snapshot),) = hospital_snapshots(1, seed=seed)
        yield f"another hospital ({seed}), m = 4", released(iter([snapshot]), hospital()), few
    yield "diseases shuffled, m = 4", released(iter([shuffled(snapshot, 1)]), hospital()), few
    people = census(20_000)
    for m in (4, 10):
        yield f"census, 20,000, m = {m}", released(iter([people]), census_with_occupation(m)), few
    exact = hospital(name="e_equivalence", m=4, e=3)
    yield "another hospital, Anatomy, m = 4", released(iter([snapshot]), exact), few


def main() -> None:
    queries = int(sys.argv[1]) if sys.argv[1:] else None
    table = Table(title="Counts estimated from a release")
    for heading in ("table", "queries", "median error, evenly", "estimated", "mean, evenly", "estimated "):
        table.add_column(heading, justify="right")
    for level in LEVELS:
        table.add_column(f"{level:.0%} right", justify="right")
    table.add_column("ms a condition", justify="right")
    for name, release, number in tables(queries):
        found, seconds = measured(release, number)
        true, error = found["true"], found["error"]
        relative = {
            which: np.abs(found[which] - true) / np.maximum(true, 10) for which in ("evenly", "estimated")
        }
        figures = [np.median(relative["evenly"]), np.median(relative["estimated"])]
        figures += [relative["evenly"].mean(), relative["estimated"].mean()]
        right = [(np.abs(found["estimated"] - true) <= z * error + 0.5).mean() for z in LEVELS.values()]
        shown = [*(f"{figure:.1%}" for figure in figures), *(f"{share:.1%}" for share in right)]
        table.add_row(name, f"{len(true):,}", *shown, f"{1000 * seconds:.0f}")
        Console(width=150).print(name, len(true), *shown, f"{1000 * seconds:.0f} ms")
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
