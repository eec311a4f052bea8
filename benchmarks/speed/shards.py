"""Releases of people who are divided into shards: seconds, and the memory of all processes together.

Made-up census people under m-invariance (m = 10), 1 % of them replaced before the second release. Releases
are made by the command `republish release`. *Memory* is the most that the command, its workers and Great
Expectations had together: the sum of their proportional set sizes, read from /proc five times a second. A run
that exceeds the limit is ended. *Dividing* has the start of the command in it; *groups* is making, attacking
and judging all shards. *Merging* is sorting, numbering and writing their groups. *Noting* is comparing all
files with their digests and noting who is published, *publishing* the rest, with the end of the command.
Seconds are longer where a machine is busy with other work; CPU seconds are not.

On paper, one process merges and publishes as quickly as here, and the executors share the rest. Each has four
cores, and works on four shards at a time. *GiB each* is what an executor takes, by what a process and each
person of its shards are reckoned to take (`orchestration/engine/local.py`).
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pyarrow.parquet as pq
import yaml

from benchmarks.census import QUASI_IDENTIFIERS, census, census_contract
from benchmarks.tables import Table, main
from republish.orchestration.chain.delta import CHANGES
from republish.orchestration.chain.population_overlap import noted_files
from republish.orchestration.chain.snapshot import KEPT, PEOPLE
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.engine.local import BASE, PER_PERSON
from republish.orchestration.series.release_record import COMMITTED
from republish.orchestration.series.series import Series
from republish.orchestration.series.shards import shard_folders
from republish.orchestration.snapshots.sources import PIECE
from republish.orchestration.storage.home import Home

QUICK = {"people": (2_000,), "shards": (2,), "chunk": 1_000, "limit": 8_192, "engine": "local[1]", "whole": 0}
MACHINE = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20
"""The memory of this machine, in MiB."""
RELEASES = "2024-01-01", "2025-01-01"
HEADINGS = (
    "", "seconds", "seconds per million", "CPU per million", "memory, MiB", "dividing", "checking", "delta",
    "groups", "merging", "noting", "publishing", "counterfeits", "published MiB", "private MiB",
)  # fmt: skip


CORES_HERE, CORES = 2, 4
"""Cores that were measured on, and those of an executor on paper."""
BY_ONE_PROCESS = "merging", "publishing"
"""Steps that more executors do not make quicker."""
BY_ALL = "dividing", "checking", "delta", "groups", "noting"
"""Steps that they share, by shards."""


class Spent(NamedTuple):
    """What a command took, with all that it started."""

    seconds: float
    processor: float
    memory: float
    """MiB, of all processes together."""


def tables(
    people: tuple[int, ...] = (5_000_000, 100_000_000),
    shards: tuple[int, ...] = (5, 100),
    chunk: int = 1_000_000,
    limit: int = 8_192,
    engine: str = "local[2]",
    folder: str = "",
    pieces: str = "",
    whole: int = 10_000_000,
) -> Iterator[Table]:
    """A row for each release of each series.

    People are made `chunk` by `chunk`; `limit` is in MiB. Series are made in `folder`, else where temporary
    files are. `pieces` is a file: rows are added to those that it has from earlier runs. `whole` people are
    in one shard, which may take all memory that there is; with 0, this is left out.
    """
    kept = Path(pieces) if pieces else None
    rows = [json.loads(line) for line in kept.read_text().splitlines()] if kept and kept.exists() else []
    for number, divided in zip(people, shards, strict=True):
        with tempfile.TemporaryDirectory(dir=folder or None) as temporary:
            for at, row in enumerate(_releases(Path(temporary), number, divided, chunk, limit, engine), 1):
                rows.append([f"{number:,} in {divided} shards, release {at}", *row])
                print(json.dumps(rows[-1]), flush=True)
                if kept:
                    kept.write_text("".join(f"{json.dumps(one)}\n" for one in rows))
    yield Table(f"{engine}, at most {limit:,} MiB", HEADINGS, rows)
    if whole:
        with tempfile.TemporaryDirectory(dir=folder or None) as temporary:
            made = enumerate(_releases(Path(temporary), whole, 1, chunk, MACHINE, engine), 1)
            alone = [[f"{whole:,} in one shard, release {at}", *row] for at, row in made]
        yield Table("Beside it: one shard, without a limit", HEADINGS, alone)
    largest = dict(zip(HEADINGS, rows[-1], strict=True))
    yield from on_paper(largest, people[-1], CORES_HERE)


def on_paper(
    measured: Mapping[str, Any],
    measured_people: int,
    cores_here: int,
    people: int = 1_000_000_000,
    shards: tuple[int, ...] = (250, 500, 1_000),
    executors: tuple[int, ...] = (10, 40, 160),
) -> Iterator[Table]:
    """What a release of more people would take on a cluster, by the steps of a measured one.

    Parameters
    ----------
    measured
        A row by its headings.
    measured_people, cores_here
        How many people it is about, and the cores that shared the work.
    people
        How many are to be released.
    shards, executors
        A row for each number of shards; a column for each number of executors.
    """
    times = people / measured_people

    def seconds(step: str, number: int, shared: int) -> float:
        if step in BY_ONE_PROCESS:
            return float(measured[step]) * times
        rounds = math.ceil(number / (shared * CORES))
        return float(measured[step]) * cores_here * times / number * rounds

    steps = (*BY_ONE_PROCESS, *BY_ALL)
    yield Table(
        f"On paper: seconds for {people:,} people",
        ("shards", "people in each", "GiB each", *(f"{count} executors" for count in executors)),
        [
            [
                f"{number}",
                people // number,
                CORES * (BASE + PER_PERSON * people // number) / 2**30,
                *(sum(seconds(step, number, count) for step in steps) for count in executors),
            ]
            for number in shards
        ],
    )
    written = (float(measured["published MiB"]) + float(measured["private MiB"])) * times / 1024
    yield Table(
        f"On paper: minutes by step, {people:,} people, {shards[1]} shards, {executors[1]} executors",
        ("", "minutes"),
        [
            *([step, seconds(step, shards[1], executors[1]) / 60] for step in steps),
            ["GiB of two releases on the storage that all share", written],
            ["files of the divided snapshot", math.ceil(people / PIECE) * shards[1]],
        ],
    )


def _releases(
    work: Path, people: int, shards: int, chunk: int, limit: int, engine: str
) -> Iterator[list[float]]:
    contract, home = series_contract(work, shards), work / "home"
    deliver([work / f"{release}.parquet" for release in RELEASES], people, chunk)
    for release in RELEASES:
        words = ["release", str(contract), "--through", release, "--home", str(home)]
        command = [sys.executable, "-m", "republish", *words]
        began = time.time()
        spent = watched(command, limit, {"REPUBLISH_ENGINE": engine, "REPUBLISH_LIMITS": "rows=1000000000"})
        (work / f"{release}.parquet").unlink()
        series = Series(load_contract(contract), Home.named(home))
        committed, private = series.record(release), series.private(release)
        assert committed is not None
        assert committed.counts is not None
        merging = committed.seconds.get("merging", 0.0)
        folders = shard_folders(private)
        divided = min((one / PEOPLE).stat().st_mtime for one in folders)
        taken = (private / KEPT).stat().st_mtime
        compared = max((one / CHANGES).stat().st_mtime for one in folders)
        made = (private / COMMITTED).stat().st_mtime
        noted = max(one.stat().st_mtime for one in noted_files(series.private_folder))
        yield [
            spent.seconds,
            spent.seconds / people * 1e6,
            spent.processor / people * 1e6,
            spent.memory,
            divided - began,
            taken - divided,
            compared - taken,
            made - compared - merging,
            merging,
            noted - made,
            began + spent.seconds - noted,
            committed.counts.counterfeits,
            _mebibytes(home / "published"),
            _mebibytes(home / "private"),
        ]


def series_contract(work: Path, shards: int, **principle: Any) -> Path:
    """Write the contract of a divided series, with more parameters of its principle, and say where."""
    declared = census_contract() | {
        "source": {"path": "{release}.parquet"},
        "releases": {"first": RELEASES[0], "cron": "0 0 1 1 *"},
        "principle": {"name": "m_invariance", "m": 10, "on_ineligible": "counterfeit", "people_per_group": 2}
        | principle,
        "shards": shards,
    }
    file = work / "census.yaml"
    file.write_text(yaml.safe_dump(declared))
    return file


def deliver(files: Sequence[Path], people: int, chunk: int) -> None:
    """Write snapshots, never more than a chunk of them in memory; each has one in a hundred replaced."""
    gone = max(1, chunk // 100)
    with ExitStack() as opened:
        writers: dict[Path, pq.ParquetWriter] = {}
        for number, start in enumerate(range(0, people, chunk)):
            made = census(chunk + gone * len(files), seed=number)
            own = made.with_columns(pl.col("person_id") + number * 2 * chunk)
            whole = own.select("person_id", *QUASI_IDENTIFIERS, "occupation").to_arrow()
            for release, file in enumerate(files):
                table = whole.slice(release * gone, min(chunk, people - start))
                if file not in writers:
                    writer = pq.ParquetWriter(file, table.schema, compression="zstd")
                    writers[file] = opened.enter_context(writer)
                writers[file].write_table(table)


def watched(command: Sequence[str], limit: int, environment: dict[str, str]) -> Spent:
    """Run a command, and see what it and all that it starts take.

    Raises
    ------
    MemoryError
        If they have more than so many MiB together; they are ended.
    subprocess.CalledProcessError
        If it does not end well.
    """
    began, before, most = time.perf_counter(), os.times(), 0.0
    process = subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, start_new_session=True
    )
    while process.poll() is None:
        most = max(most, sum(map(_proportional, _tree(process.pid))))
        if most > limit:
            os.killpg(process.pid, 9)
            raise MemoryError(f"{most:,.0f} MiB, and {limit:,} are the most")
        time.sleep(0.2)
    seconds, after = time.perf_counter() - began, os.times()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, list(command))
    processor = (after.children_user + after.children_system) - (
        before.children_user + before.children_system
    )
    return Spent(seconds, processor, most)


def _tree(pid: int) -> Iterator[int]:
    """A process and all that it has started."""
    yield pid
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in listed.read_text().split():
                yield from _tree(int(child))


def _proportional(pid: int) -> float:
    """The proportional set size of a process in MiB; 0 of one that has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


def _mebibytes(path: Path) -> float:
    return sum(file.stat().st_blocks for file in path.rglob("*")) / 2**11


if __name__ == "__main__":
    main(tables)
