"""What commands cost: processor seconds, seconds by the clock, and memory, beside what they are to cost.

Made-up census people under m-invariance (m = 10; m = 3 of fewer than a thousand), 1 % of them replaced before
the second release. Each command is a process of its own, with its imports. Processor seconds are of it and
its workers, without Great Expectations' own process, and medians of several runs. The attack, the algorithm
and the floor are compared by the clock of one run: the floor is what polars takes to read the snapshot, sort
it by each quasi-identifier and write it, and beside it stands an l-diverse Mondrian of the same people. The
audit is of five releases with two sensitive columns, with the private folder.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import polars as pl
import yaml

from benchmarks.census import QUASI_IDENTIFIERS, census, census_contract
from benchmarks.series import contract_of, pseudonymous
from benchmarks.speed.shards import MACHINE, RELEASES, Spent, deliver, series_contract, watched
from benchmarks.tables import Table, main
from republish.anonymize.baseline.mondrian import mondrian
from republish.anonymize.columns import IDENTIFIER
from republish.anonymize.contract import Contract
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.series.series import Series
from republish.orchestration.storage.home import Home

QUICK = {"people": (300,), "divided": 0, "rounds": 1, "audited": 0}
FIVE = tuple(f"202{year}-01-01" for year in range(5))
GOALS = {300: "1.8 / 1.8", 1_000_000: "14 / 16"}
"""Processor seconds of the first and second release of so many people."""
TWO_COLUMNS = {
    "sensitive": [{"name": "occupation"}, {"name": "income"}],
    "principle": {
        "name": "m_invariance",
        "m": 4,
        "on_ineligible": "wait",
        "people_per_group": 2,
        "on_value_change": "refuse",
    },
}


def tables(
    people: tuple[int, ...] = (300, 20_000, 200_000, 1_000_000),
    divided: int = 1_000_000,
    shards: int = 4,
    audited: int = 4_200,
    rounds: int = 3,
) -> Iterator[Table]:
    """Rows of each command. `divided` people are released in shards; with 0 of them this is left out."""
    rows: list[list[Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for number in people:
            several = rounds if number <= 20_000 else 1
            made = [_released(Path(folder) / f"{number}-{at}", number) for at in range(several)]
            rows += _of_releases(number, made, Path(folder) / f"{number}-0")
        if divided:
            spent = _released(Path(folder) / "divided", divided, shards)
            each = [one.processor / divided * 1e6 for one in spent]
            rows.append([f"CPU s a million, {shards} shards, first / second", _both(each), "10 / 12"])
        if audited:
            one = _audited(Path(folder) / "audited", audited)
            rows.append([f"audit of 5 releases of {audited:,} people: CPU s", one.processor, "10"])
    yield Table("What commands cost", ("", "measured", "goal"), rows)


def _of_releases(people: int, made: list[list[Spent]], work: Path) -> Iterator[list[Any]]:
    """Rows on the releases of so many people, and on what was asked of the second one."""
    spent = [median(one[at].processor for one in made) for at in range(len(RELEASES))]
    yield [f"{people:,} people, release: CPU s, first / second", _both(spent), GOALS.get(people, "-")]
    clock = [median(one[at].seconds for one in made) for at in range(len(RELEASES))]
    yield [f"{people:,} people, release: seconds, first / second", _both(clock), "-"]
    memory = max(one.memory for some in made for one in some)
    yield [f"{people:,} people, release: memory, MiB", memory, "-"]
    series = Series(load_contract(work / "census.yaml"), Home.named(work / "home"))
    record = series.record(RELEASES[1])
    assert record is not None
    took = record.seconds
    yield [f"{people:,} people, attack over algorithm", took["audit"] / took["algorithm"], "0.7"]
    if people >= 20_000:
        contract = contract_of(census_contract())
        snapshot = pl.read_parquet(work / f"{RELEASES[1]}.parquet")
        least = floor(snapshot)
        yield [f"{people:,} people, algorithm over polars' floor", took["algorithm"] / least, "15"]
        yield [f"{people:,} people, Mondrian over polars' floor", _mondrian(snapshot, contract) / least, "-"]
    asked = [str(series.published(RELEASES[1])), "--where", "age between 30 and 40 and gender = 1"]
    estimated = _run("estimate", *asked)
    yield [f"{people:,} rows, estimate: seconds", estimated.seconds, "3" if people == 1_000_000 else "-"]
    yield [f"{people:,} rows, estimate: MiB", estimated.memory, "1,024" if people == 1_000_000 else "-"]


def _both(figures: list[float]) -> str:
    return " / ".join(f"{one:.1f}" for one in figures)


def _released(work: Path, people: int, shards: int = 1) -> list[Spent]:
    """Release twice in a folder of its own."""
    work.mkdir()
    contract = series_contract(work, shards, m=10 if people >= 1_000 else 3)
    deliver([work / f"{release}.parquet" for release in RELEASES], people, min(people, 1_000_000))
    words = ["release", str(contract), "--home", str(work / "home"), "--through"]
    return [_run(*words, release) for release in RELEASES]


def _mondrian(snapshot: pl.DataFrame, contract: Contract) -> float:
    people = pseudonymous(snapshot, contract).rename({IDENTIFIER: "person"})
    began = time.perf_counter()
    mondrian(people, contract, 10)
    return time.perf_counter() - began


def _audited(work: Path, people: int) -> Spent:
    """Audit five releases of people with two sensitive columns, a tenth of whom are replaced each time."""
    work.mkdir()
    gone = people // 10
    everybody = census(people + gone * len(FIVE), seed=3)
    for at, release in enumerate(FIVE):
        table = everybody.slice(at * gone, people)
        table.select("person_id", *QUASI_IDENTIFIERS, "occupation", "income").write_parquet(
            work / f"{release}.parquet"
        )
    source = {"source": {"path": "{release}.parquet"}, "releases": {"first": FIVE[0], "cron": "0 0 1 1 *"}}
    contract, home = work / "census.yaml", work / "home"
    contract.write_text(yaml.safe_dump(census_contract() | source | TWO_COLUMNS))
    _run("release", str(contract), "--home", str(home), "--through", FIVE[-1])
    series = Series(load_contract(contract), Home.named(home))
    given = ["--truth", str(work), "--contract", str(contract), "--private", str(series.private_folder)]
    return _run("audit", str(series.published_folder), *given)


def _run(*words: str) -> Spent:
    return watched([sys.executable, "-m", "republish", *words], MACHINE, dict(os.environ))


def floor(snapshot: pl.DataFrame) -> float:
    """Seconds to read the snapshot, sort it by each quasi-identifier, and write it: the median of three."""
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "snapshot.parquet"), Path(folder, "sorted.parquet")
        snapshot.write_parquet(source, compression="zstd")
        for _ in range(3):
            began = time.perf_counter()
            table = pl.read_parquet(source)
            for name in QUASI_IDENTIFIERS:
                table = table.sort(name)
            table.write_parquet(target, compression="zstd")
            seconds.append(time.perf_counter() - began)
    return float(np.median(seconds))


if __name__ == "__main__":
    main(tables)
