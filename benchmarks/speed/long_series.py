"""What a release costs in a long series, from the first to the last.

Made-up census people under m-invariance (m = 10), of whom some are replaced before each release. Releases are
made by commands, `republish release`, so many by each. *CPU*: processor seconds per release of all that a
command starts, Great Expectations included. *Nothing to do*: processor seconds of a command that finds every
release published, and verifies them. Memory is the most that one process had. Disk is what the home holds
after the command: the working files of all releases (`keep_private: all`), unless so many are to be kept.
"""

from __future__ import annotations

import datetime as dt
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from benchmarks.census import census_contract, census_series
from benchmarks.spent import spent
from benchmarks.tables import Table, main

QUICK = {"people": 1_000, "replaced": 100, "releases": 2}
FIRST = dt.date(2020, 1, 1)
HEADINGS = (
    "", "people so far", "CPU", "nothing to do", "peak MiB",
    "published MiB", "private MiB", "Dagster MiB", "history MiB",
)  # fmt: skip
ON_DISK = ("published", "private", "dagster", "history.duckdb")


def tables(
    people: int = 20_000,
    replaced: int = 1_000,
    releases: int = 300,
    step: int = 10,
    keep_private: int = 0,
    folder: str = "",
) -> Iterator[Table]:
    """A row for each command, which makes `step` releases.

    What was measured is kept in `folder`, if one is given: a run that was interrupted goes on there.
    """
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(folder or temporary)
        with suppress(KeyboardInterrupt):  # what there is until then is shown
            for measured in _measure(work, people, replaced, releases, step, keep_private):
                print(json.dumps(measured), flush=True)
        rows = [list(row.values()) for row in _kept(work)]
    title = f"{people:,} people, {replaced:,} replaced, {rows[-1][0] if rows else 0} of {releases} releases"
    yield Table(title, HEADINGS, [[f"up to release {number}", *row] for number, *row in rows])


def _measure(
    folder: Path, people: int, replaced: int, releases: int, step: int, keep_private: int
) -> Iterator[dict[str, Any]]:
    """Make the releases that are not made yet, and keep and yield what each command took."""
    home, snapshots, contract = folder / "home", folder / "snapshots", folder / "census.yaml"
    snapshots.mkdir(parents=True, exist_ok=True)
    declared = census_contract() | {
        "source": {"path": "snapshots/{release}.parquet"},
        "releases": {"first": f"{FIRST}", "cron": "0 0 * * *"},
        "principle": {"name": "m_invariance", "m": 10, "on_ineligible": "counterfeit", "people_per_group": 2},
        "keep_private": keep_private or "all",
    }
    contract.write_text(yaml.safe_dump(declared))
    done, due = (_kept(folder) or [{"release": 0}])[-1]["release"], []
    series = census_series(people + replaced * releases, people, replaced, releases)
    for number, (_, snapshot) in enumerate(series, start=1):
        if number <= done:
            continue
        due.append(f"{FIRST + dt.timedelta(days=number - 1)}")
        snapshot.write_parquet(snapshots / f"{due[-1]}.parquet")
        if number % step and number < releases:
            continue
        words = ["release", str(contract), "--through", due[-1], "--home", str(home)]
        command = [sys.executable, "-m", "republish", *words]
        made, idle = spent(*command), spent(*command)
        measured = {
            "release": number,
            "people": people + replaced * (number - 1),
            "processor": round(made["processor"] / len(due), 2),
            "idle": round(idle["processor"], 2),
            "memory": made["memory"],
            **{name: _mebibytes(home / name) for name in ON_DISK},
        }
        for release in due:
            (snapshots / f"{release}.parquet").unlink()
        due.clear()
        with _file(folder).open("a") as lines:
            lines.write(json.dumps(measured) + "\n")
        yield measured


def _kept(folder: Path) -> list[dict[str, Any]]:
    """What was measured in a folder so far, a row for each command."""
    lines = _file(folder).read_text().splitlines() if _file(folder).exists() else []
    return [json.loads(line) for line in lines]


def _file(folder: Path) -> Path:
    return folder / "measured.jsonl"


def _mebibytes(path: Path) -> float:
    """What a file, or all in a folder, takes on disk."""
    files = path.rglob("*") if path.is_dir() else [path]
    return round(sum(file.stat().st_blocks for file in files) / 2**11, 2)


if __name__ == "__main__":
    main(tables)
