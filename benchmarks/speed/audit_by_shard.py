"""What the audit of a divided series takes: the whole at once, and shard by shard.

Made-up census people under m-invariance (m = 10) in two releases, 1 % of them replaced before the second.
`republish audit` attacks both with everything that it has; the searches for people who are known to share a
value have `patience` seconds together. *Memory* is the most that the command and its workers had together:
the sum of their proportional set sizes, read from /proc five times a second. *The whole* with the private
folder is audited under a contract that does not say that there are shards. Without it, who is in which group
is found from the tables alone, and less is attacked. Seconds are of a machine that was busy with other work.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import yaml

from benchmarks.speed.shards import MACHINE, RELEASES, deliver, series_contract, watched
from benchmarks.tables import Table, main
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.series.series import Series
from republish.orchestration.storage.home import Home

QUICK = {"people": (300,), "shards": (2,), "chunk": 150, "patience": 1}
HEADINGS = ("", "seconds", "CPU seconds", "memory, MiB")


def tables(
    people: tuple[int, ...] = (1_000_000,),
    shards: tuple[int, ...] = (4,),
    chunk: int = 250_000,
    patience: int = 20,
    folder: str = "",
) -> Iterator[Table]:
    """A table for each series, with a row for each way to audit it."""
    for number, divided in zip(people, shards, strict=True):
        with tempfile.TemporaryDirectory(dir=folder or None) as temporary:
            rows = list(_audits(Path(temporary), number, divided, chunk, patience))
        yield Table(f"{number:,} people in {divided} shards, two releases", HEADINGS, rows)


def _audits(
    work: Path, people: int, shards: int, chunk: int, patience: int
) -> Iterator[tuple[str, float, float, float]]:
    contract, home = series_contract(work, shards), work / "home"
    deliver([work / f"{release}.parquet" for release in RELEASES], people, chunk)
    command = [
        sys.executable,
        "-m",
        "republish",
        "release",
        str(contract),
        "--through",
        RELEASES[-1],
        "--home",
        str(home),
    ]
    watched(command, MACHINE, {"REPUBLISH_LIMITS": "rows=100000000"})
    series = Series(load_contract(contract), Home.named(home))
    undivided = work / "undivided.yaml"
    declared = yaml.safe_load(contract.read_text())
    del declared["shards"]
    undivided.write_text(yaml.safe_dump(declared))
    linked = ["--private", str(series.private_folder)]
    ways = (
        ("the whole, without the private folder", contract, [], "local[1]"),
        ("the whole, with the private folder", undivided, linked, "local[1]"),
        ("shard by shard, one at a time", contract, linked, "local[1]"),
        ("shard by shard, two at a time", contract, linked, "local[2]"),
    )
    for way, given, more, engine in ways:
        asked = ["audit", str(series.published_folder), "--truth", str(work), "--contract", str(given)]
        command = [
            sys.executable,
            "-m",
            "republish",
            *asked,
            "--seconds",
            str(patience),
            *more,
        ]
        yield (
            way,
            *watched(command, MACHINE, {"REPUBLISH_ENGINE": engine, "REPUBLISH_LIMITS": "rows=100000000"}),
        )


if __name__ == "__main__":
    main(tables)
