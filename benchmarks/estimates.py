"""How far counts are off that a researcher estimates from a release, and how often their intervals are right.

    python -m benchmarks.estimates                    10,000 queries on each table
    python -m benchmarks.estimates 200 demo census    so many, on tables whose names have one of these

A query counts people with one sensitive value whose one to three quasi-identifiers lie in random intervals;
each such condition is asked for every value. "evenly" takes people as spread evenly over their group's
intervals; "estimated" is what `estimate.sql` in the published folder says. Relative errors are by the true
count, or 10 where it is smaller. An interval at 95 % is right if the true count is in it. "Any value" asks
each condition once more, of people with any value.
"""

from __future__ import annotations

import functools
import itertools
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from anonymize.columns import VALUE
from anonymize.contract import CategoryAttribute, Contract
from anonymize.formats import ANATOMY, GENERALIZATION
from anonymize.people.codes import code_domain, encode_columns
from anonymize.principle.state import State
from anonymize.principles import parse_contract, principle_of
from anonymize.utility.queries import Workload, true_counts
from benchmarks.census import SEED as SEED_OF_CENSUS
from benchmarks.census import census, census_contract
from benchmarks.estimator import DATE, estimating
from benchmarks.measures.queries import estimated_counts
from benchmarks.people import pseudonymous
from benchmarks.real_data import adult, adult_contract, data_folder, receipts_contract, receipts_series
from orchestration.contracts.contract_file import load_contract
from orchestration.demo.hospital import CONTRACT, SEED, hospital_snapshots
from orchestration.readers.estimate.statements import quoted, text

LEVELS = {0.95: 1.96, 0.8: 1.2816, 0.5: 0.6745}


@dataclass(frozen=True)
class Released:
    """A release and the truth behind it."""

    contract: Contract
    people: pl.DataFrame
    """`pseudonym`, `qi_0`, …, `value` of those who are in the release."""
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
    return Released(contract, people.join(candidate.linkage, on="pseudonym", how="semi"), candidate.published)


def hospital(**principle: Any) -> Contract:
    """The demo's contract under a principle; exact quasi-identifiers have no minimum widths."""
    declared = load_contract(CONTRACT).contract.model_dump(mode="json", exclude_none=True)
    if principle:
        declared["principle"] = principle
    if declared["principle"]["name"] == "e_equivalence":
        for one in declared["quasi_identifiers"]:
            one.pop("min_width")
    return parse_contract(declared)


def census_under(sensitive: str = "occupation", **principle: Any) -> Contract:
    """A census under a principle. Occupation goes with age, education and gender; income with occupation."""
    once = {"source": {"path": "{release}.parquet"}, "releases": {"first": DATE, "cron": "0 0 1 1 *"}}
    return parse_contract({**census_contract(sensitive=sensitive), **once, "principle": principle})


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
    """What random queries come to, and the processor seconds that a condition took.

    Each query has its entry in `true`, `evenly`, `estimated` and `error`. Each condition is asked once more
    of people with any value: `any true`, `any evenly`, `any estimated`, `any error`.
    """
    contract = release.contract
    truth = release.people.select(VALUE, *encode_columns(release.people, contract).get_columns())
    names = ("true", "evenly", "estimated", "error")
    found: dict[str, list] = {name: [] for one in names for name in (one, f"any {one}")}
    with estimating(release.published, contract) as connection:
        seconds, conditions = 0.0, 0
        for workload in workloads(release, queries):
            true, evenly = true_counts(truth, workload), spread_evenly(release, workload)
            started = time.process_time()
            asked = f"{condition(workload, contract)}, split := {quoted(contract.sensitive.name)}"
            rows = connection.sql(f"FROM estimate({asked})").fetchall()
            seconds += time.process_time() - started
            answers = {value: (people, error) for _, value, people, error, *_ in rows}
            estimated, error = zip(*(answers.get(value, (0.0, 0.0)) for value in workload.value), strict=True)
            for name, column in zip(names, (true, evenly, estimated, error), strict=True):
                found[name].extend(column)
            rows = connection.sql(f"FROM estimate({condition(workload, contract)})").fetchall()
            people, error = rows[0][2:4] if rows else (0.0, 0.0)
            for name, one in zip(names, (sum(true), sum(evenly), people, error), strict=True):
                found[f"any {name}"].append(one)
            conditions += 1
    return {name: np.array(entries, float) for name, entries in found.items()}, seconds / conditions


def demo(**principle: Any) -> Released:
    """The demo's last release."""
    return released((snapshot for _, snapshot in hospital_snapshots()), hospital(**principle))


def another_hospital(seed: int, **principle: Any) -> Released:
    """The first release of a hospital with other patients."""
    ((_, snapshot),) = hospital_snapshots(1, seed=SEED + seed)
    return released(iter([snapshot]), hospital(**principle))


def hospital_without_links() -> Released:
    """The first release of a hospital where diseases have nothing to do with patients."""
    ((_, snapshot),) = hospital_snapshots(1, seed=SEED + 2)
    return released(iter([shuffled(snapshot, 1)]), hospital())


def counted(sensitive: str = "occupation", seed: int = SEED_OF_CENSUS, **principle: Any) -> Released:
    """The first release of 20,000 people of a census."""
    return released(iter([census(20_000, seed)]), census_under(sensitive, **principle))


def of_adult(folder: Path, **principle: Any) -> Released:
    """The first release of Adult, in which occupation is sensitive."""
    once = {"source": {"path": "{release}.parquet"}, "principle": principle}
    return released(iter([adult(folder)]), parse_contract({**adult_contract(folder), **once}))


def of_receipts(folder: Path) -> Released:
    """The last release of medical receipts, in which the chapter of the diagnosis is sensitive."""
    deferring = {"name": "m_invariance", "m": 3, "on_ineligible": "defer"}
    once = {"source": {"path": "{release}.parquet"}, "principle": deferring}
    snapshots = (snapshot for _, snapshot in receipts_series(folder))
    return released(snapshots, parse_contract({**receipts_contract(), **once}))


GUARANTEE = {"name": "global_guarantee", "l": 2, "strategy": "constant_ratio"}
EXACT = {"name": "e_equivalence", "m": 4, "e": 3}
Tables = Iterator[tuple[str, Callable[[], Released]]]


def tables() -> Tables:
    """What is measured, by name. The estimator's constants were chosen on these tables."""
    yield "m_invariance: demo, 6th release", demo
    yield "m_invariance: a second hospital", lambda: another_hospital(1)
    yield "m_invariance: a third hospital", lambda: another_hospital(2)
    yield "m_invariance: the third, diseases shuffled", hospital_without_links
    yield "m_invariance: census, occupation, m = 4", lambda: counted(name="m_invariance", m=4)
    yield "m_invariance: census, occupation, m = 10", lambda: counted(name="m_invariance", m=10)
    yield "m_invariance: census, income, m = 4", lambda: counted("income", name="m_invariance", m=4)
    yield "e_equivalence: demo, 6th release", lambda: demo(**EXACT)
    yield "e_equivalence: the third hospital", lambda: another_hospital(2, **EXACT)
    yield "e_equivalence: census, occupation", lambda: counted(**EXACT)
    yield "streamliner: the third hospital", lambda: another_hospital(2, name="streamliner", l=4)
    yield "streamliner: census, occupation", lambda: counted(name="streamliner", l=4)
    yield "global_guarantee: the third hospital", lambda: another_hospital(2, **GUARANTEE, releases=2)
    yield "global_guarantee: census, occupation", lambda: counted(**GUARANTEE, releases=4)


def held_out() -> Tables:
    """Tables that had no say in the estimator's constants.

    Other seeds, which give hospitals and censuses other people and censuses other links between attributes,
    and, where they are at hand, two real tables. Of these, Adult had a say in how much values may differ and
    in how far places are off where intervals are wide; receipts had none.
    """
    made: dict[str, tuple[Callable[..., Released], tuple[int, ...]]] = {}
    for seed in (3, 4):
        made[f"hospital {seed}"] = functools.partial(another_hospital, seed), (4,)
    for sensitive in ("occupation", "income"):
        make = functools.partial(counted, sensitive, SEED_OF_CENSUS + 1)
        made[f"another census, {sensitive}"] = make, (4, 10)
    if folder := data_folder():
        made["Adult"] = functools.partial(of_adult, folder), (4, 6)
        yield "held out: receipts, m_invariance, m = 3", functools.partial(of_receipts, folder)
    for name, (make, counts) in made.items():
        for m in counts:
            yield (
                f"held out: {name}, m_invariance, m = {m}",
                functools.partial(make, name="m_invariance", m=m),
            )
        yield f"held out: {name}, e_equivalence", functools.partial(make, **EXACT)
        yield f"held out: {name}, streamliner", functools.partial(make, name="streamliner", l=4)
        yield f"held out: {name}, global_guarantee", functools.partial(make, **GUARANTEE, releases=4)


def figures(found: Mapping[str, np.ndarray]) -> list[str]:
    """Median and mean relative errors, evenly and estimated, then how many intervals are right at each level.

    The last is stated for people with one value, and for those with any value, unless these counts are exact.
    """
    true = found["true"]
    relative = {w: np.abs(found[w] - true) / np.maximum(true, 10) for w in ("evenly", "estimated")}
    shown = [f"{summary(one):.1%}" for summary in (np.median, np.mean) for one in relative.values()]
    for kind in ("", "any "):
        off, error = np.abs(found[f"{kind}estimated"] - found[f"{kind}true"]), found[f"{kind}error"]
        right = [(off <= z * error + 0.5).mean() for z in LEVELS.values()]
        shown += [f"{share:.1%}" if error.any() else "exact" for share in right]
    return shown


def main() -> None:
    queries, words = int(sys.argv[1]) if sys.argv[1:] else 10_000, sys.argv[2:] or [""]
    table = Table(title="Counts estimated from a release")
    levels = [f"{level:.0%} right" for level in LEVELS]
    headings = [
        "table",
        "queries",
        "median error, evenly",
        "estimated",
        "mean, evenly",
        "estimated ",
        *levels,
    ]
    for heading in [*headings, *(f"any value, {level}" for level in levels), "processor ms a condition"]:
        table.add_column(heading, justify="right")
    console = Console(width=200)
    for name, make in [*tables(), *held_out()]:
        if any(word in name for word in words):
            found, seconds = measured(make(), queries)
            row = [name, f"{len(found['true']):,}", *figures(found), f"{1000 * seconds:.0f}"]
            console.print(*row)
            table.add_row(*row)
    console.print(table)


if __name__ == "__main__":
    main()
