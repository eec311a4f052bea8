"""Counts estimated from a release, and their error bars.

A query counts people with one sensitive value whose one to three quasi-identifiers lie in random intervals;
each such condition is asked for every value. *Evenly* takes people as spread evenly over their group's
intervals; *estimated* is what `estimate.sql` in the published folder says. Relative errors are by the true
count, or 10 where it is smaller. An interval at 95 % is right if the true count is in it. *Any value* asks
each condition once more, of people with any value. The estimator's constants were chosen on the first
tables. Those *held out* had no say in them, but Adult: error bars on it were too short, so that values may
differ by more now.
"""

from __future__ import annotations

import functools
import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from anonymize.columns import VALUE
from anonymize.contract import CategoryAttribute, Contract
from anonymize.formats import ANATOMY
from anonymize.people.codes import code_domain, encode_columns
from anonymize.principles import parse_contract, principle_of
from anonymize.utility.queries import Workload, true_counts
from benchmarks.census import SEED as SEED_OF_CENSUS
from benchmarks.census import census, census_contract
from benchmarks.measures.estimator import DATE, estimating
from benchmarks.measures.queries import estimated_counts
from benchmarks.real_data import adult, adult_contract, data_folder, receipts_contract, receipts_series
from benchmarks.series import Made, Series, contract_of, released
from benchmarks.tables import Table, main
from orchestration.contracts.contract_file import load_contract
from orchestration.demo.hospital import CONTRACT, SEED, hospital_snapshots
from orchestration.readers.estimate.statements import quoted, text

QUICK = {"queries": 20, "words": ("a second hospital",)}
LEVELS = {0.95: 1.96, 0.8: 1.2816, 0.5: 0.6745}


def last(snapshots: Series, contract: Contract) -> Made:
    """The last release of a series."""
    *_, made = released(snapshots, contract)
    return made


def present(made: Made) -> pl.DataFrame:
    """The people who are in a release."""
    return made.people.join(made.candidate.linkage, on="pseudonym", how="semi")


def coded(made: Made) -> pl.DataFrame:
    """The same, with quasi-identifiers as codes, and `value`."""
    people = present(made)
    return people.select(VALUE, *encode_columns(people, made.contract).get_columns())


def hospital(**principle: Any) -> Contract:
    """The demo's contract under a principle; exact quasi-identifiers have no minimum widths."""
    declared = load_contract(CONTRACT).contract.model_dump(mode="json", exclude_none=True)
    if principle:
        declared["principle"] = principle
    if declared["principle"]["name"] == "e_equivalence":
        for one in declared["quasi_identifiers"]:
            one.pop("min_width")
    return parse_contract(declared)


def workloads(release: Made, queries: int) -> Iterator[Workload]:
    """Random conditions on one to three quasi-identifiers, each asked for every sensitive value."""
    attributes = dict(release.contract.attributes())
    chosen = [some for size in (1, 2, 3) for some in itertools.combinations(attributes, size)]
    rng, values = np.random.default_rng(1), present(release)[VALUE].unique().sort().to_list()
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


def spread_evenly(release: Made, workload: Workload) -> np.ndarray:
    """What the queries come to if people are spread evenly, less counterfeits."""
    contract, read = release.contract, release.read
    sizes = read.sizes.join(read.counterfeits, on="group_id", how="left")
    real = sizes.select("group_id", real=1 - pl.col("count").fill_null(0) / pl.col("size"))
    published = principle_of(contract).format(contract)
    if published is not ANATOMY:
        return estimated_counts(read.values.join(read.boxes, on="group_id"), workload, contract)
    main_table = published.internal(release.candidate.published, contract)["quasi_identifiers"]
    exact = main_table.select("group_id", *encode_columns(main_table, contract).get_columns())
    values, answers = read.values.join(real, on="group_id"), np.zeros(len(workload.value))
    for query, value in enumerate(workload.value):
        ends = zip(workload.columns, workload.low[query], workload.high[query], strict=True)
        inside = pl.all_horizontal(pl.col(column).is_between(low, high) for column, low, high in ends)
        joined = values.filter(pl.col(VALUE) == value).join(
            exact.group_by("group_id").agg(inside=inside.mean()), on="group_id"
        )
        answers[query] = (joined["tuples"] * joined["real"] * joined["inside"]).sum()
    return answers


def measured(release: Made, queries: int) -> tuple[dict[str, np.ndarray], float]:
    """What random queries come to, and the processor seconds that a condition took.

    Each query has its entry in `true`, `evenly`, `estimated` and `error`. Each condition is asked once more
    of people with any value: `any true`, `any evenly`, `any estimated`, `any error`.
    """
    contract, truth = release.contract, coded(release)
    names = ("true", "evenly", "estimated", "error")
    found: dict[str, list] = {name: [] for one in names for name in (one, f"any {one}")}
    with estimating(release.candidate.published, contract) as connection:
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


def of_hospital(seed: int | None = None, *, shuffled: bool = False, **principle: Any) -> Made:
    """The demo's last release; or the first of a hospital with other patients, by its seed."""
    snapshots = hospital_snapshots() if seed is None else hospital_snapshots(1, seed=SEED + seed)
    if shuffled:
        snapshots = ((date, one.with_columns(pl.col("disease").shuffle(seed=1))) for date, one in snapshots)
    return last(snapshots, hospital(**principle))


def of_census(sensitive: str = "occupation", seed: int = SEED_OF_CENSUS, **principle: Any) -> Made:
    """20,000 people. Occupation goes with age, education and gender; income with occupation."""
    declared = census_contract(sensitive=sensitive) | {"releases": {"first": DATE, "cron": "0 0 1 1 *"}}
    return last([(DATE, census(20_000, seed))], contract_of(declared, **principle))


def of_adult(**principle: Any) -> Made:
    """The first release of Adult, in which occupation is sensitive."""
    folder = data_folder()
    return last([(DATE, adult(folder))], contract_of(adult_contract(folder), **principle))


def of_receipts(**principle: Any) -> Made:
    """The last release of medical receipts, in which the chapter of the diagnosis is sensitive."""
    return last(receipts_series(data_folder()), contract_of(receipts_contract(), **principle))


GUARANTEE = {"name": "global_guarantee", "l": 2, "strategy": "constant_ratio"}
EXACT = {"name": "e_equivalence", "m": 4, "e": 3}
STREAMLINER = {"name": "streamliner", "l": 4}
Releases = Iterator[tuple[str, Callable[[], Made]]]


def m_invariance(m: int) -> dict[str, Any]:
    """The principle's parameters."""
    return {"name": "m_invariance", "m": m}


def chosen_on() -> Releases:
    """The releases that the estimator's constants were chosen on, by name."""
    third, part = functools.partial(of_hospital, 2), functools.partial
    yield "m_invariance: demo, 6th release", of_hospital
    yield "m_invariance: a second hospital", part(of_hospital, 1)
    yield "m_invariance: a third hospital", third
    yield "m_invariance: the third, diseases shuffled", part(third, shuffled=True)
    yield "m_invariance: census, occupation, m = 4", part(of_census, **m_invariance(4))
    yield "m_invariance: census, occupation, m = 10", part(of_census, **m_invariance(10))
    yield "m_invariance: census, income, m = 4", part(of_census, "income", **m_invariance(4))
    yield "e_equivalence: demo, 6th release", part(of_hospital, **EXACT)
    yield "e_equivalence: the third hospital", part(third, **EXACT)
    yield "e_equivalence: census, occupation", part(of_census, **EXACT)
    yield "streamliner: the third hospital", part(third, **STREAMLINER)
    yield "streamliner: census, occupation", part(of_census, **STREAMLINER)
    yield "global_guarantee: the third hospital", part(third, **GUARANTEE, releases=2)
    yield "global_guarantee: census, occupation", part(of_census, **GUARANTEE, releases=4)


def held_out() -> Releases:
    """Other seeds, which give other people and other links between attributes, and two real tables."""
    another = functools.partial(of_census, seed=SEED_OF_CENSUS + 1)
    makers: dict[str, tuple[Callable[..., Made], tuple[int, ...]]] = {
        "hospital 3": (functools.partial(of_hospital, 3), (4,)),
        "hospital 4": (functools.partial(of_hospital, 4), (4,)),
        "another census, occupation": (another, (4, 10)),
        "another census, income": (functools.partial(another, "income"), (4, 10)),
    }
    if data_folder():
        makers["Adult"] = of_adult, (4, 6)
        deferring = m_invariance(3) | {"on_ineligible": "defer"}
        yield "held out: receipts, m_invariance, m = 3", functools.partial(of_receipts, **deferring)
    for name, (make, counts) in makers.items():
        principles = {f"m_invariance, m = {m}": m_invariance(m) for m in counts}
        principles |= {"e_equivalence": EXACT, "streamliner": STREAMLINER}
        for words, principle in (principles | {"global_guarantee": GUARANTEE | {"releases": 4}}).items():
            yield f"held out: {name}, {words}", functools.partial(make, **principle)


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


def tables(queries: int = 10_000, words: tuple[str, ...] = ("",)) -> Iterator[Table]:
    """So many queries on each release whose name has one of the words."""
    levels, rows = [f"{level:.0%} right" for level in LEVELS], []
    for name, make in [*chosen_on(), *held_out()]:
        if any(word in name for word in words):
            found, seconds = measured(make(), queries)
            rows.append([name, len(found["true"]), *figures(found), f"{1000 * seconds:.0f}"])
    errors = ("median error, evenly", "estimated", "mean error, evenly", "estimated")
    bars = (*levels, *(f"any value, {level}" for level in levels))
    heads = ("release", "queries", *errors, *bars, "CPU ms a condition")
    yield Table("Counts estimated from a release", heads, rows)


if __name__ == "__main__":
    main(tables)
