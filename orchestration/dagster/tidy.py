"""Old runs of a home's Dagster: which there are, what their logs take on the disk, and their end.

Every run has a file of events of its own, which nobody needs but to read its log. What the pages of assets
show is in the index of all runs: the last materialization of each release, and what its checks found. That
stays.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from anonymize.errors import HomeError
from orchestration.dagster.instance import OWN, usable_tables
from orchestration.dagster.names import job_name
from orchestration.series.siblings import published_releases
from orchestration.storage.home import Home
from orchestration.storage.statements import statement

PATIENCE = 60
"""Seconds to wait for another process that writes to Dagster's tables."""
FROM_INDEX = ("delete_check_executions", "delete_events", "delete_event_tags")
FROM_RUNS = ("delete_run_tags", "delete_runs")


@dataclass(frozen=True)
class OldRuns:
    """The finished runs that made releases of a series before a certain one."""

    product: str
    series: str
    before: str
    """The first release whose runs stay."""
    runs: tuple[str, ...]
    """Their ids."""


def old_runs(home: Home, keep: int) -> list[OldRuns]:
    """The finished runs of each series in a home, but for its last releases; only series that have some.

    Parameters
    ----------
    home
        The publisher's folder.
    keep
        The number of published releases of each series whose runs stay.

    Raises
    ------
    HomeError
        If Dagster's tables can't be read.
    """
    if (home.dagster / OWN).exists() and not _runs(home).exists():
        raise HomeError(
            f"{home.dagster / OWN}: puts Dagster's tables elsewhere, and only those in the home are tidied"
        )
    if not _runs(home).exists():
        return []
    with _opened(home, _runs(home)) as connection:
        finished = connection.execute(statement("select_finished_runs")).fetchall()
    found = []
    for folder in sorted(path for path in home.path.glob("published/*/*") if path.is_dir()):
        product, series = folder.parent.name, folder.name
        before = published_releases(home, product, series)[-keep:][:1]
        runs = tuple(
            run
            for run, *of, release in finished
            if of == [job_name(product), series] and before and release is not None and release < before[0]
        )
        if runs:
            found.append(OldRuns(product, series, before[0], runs))
    return found


def size_of_logs(home: Home, old: OldRuns) -> int:
    """Bytes of the files that old runs have of their own."""
    return sum(_size(file) for run in old.runs for file in _files(home, run))


def size_of_dagster(home: Home) -> int:
    """Bytes of all that Dagster keeps in a home."""
    return _size(home.dagster)


def delete_runs(home: Home, old: OldRuns) -> None:
    """Delete old runs and their events. If it is interrupted, it can be called again.

    A run stays on Dagster's list until nothing else is left of it.

    Raises
    ------
    HomeError
        If Dagster's tables can't be written.
    """
    which = {"runs": json.dumps(old.runs)}
    with _opened(home, _index(home)) as connection:
        for name in FROM_INDEX:
            connection.execute(statement(name), which)
    for run in old.runs:
        for file in _files(home, run):
            shutil.rmtree(file) if file.is_dir() else file.unlink(missing_ok=True)
    with _opened(home, _runs(home)) as connection:
        for name in FROM_RUNS:
            connection.execute(statement(name), which)


def give_back(home: Home) -> None:
    """Give the pages that deleted rows took in Dagster's tables back to the disk.

    Raises
    ------
    HomeError
        If Dagster's tables can't be written.
    """
    for file in (_index(home), _runs(home)):
        if file.exists():
            with _opened(home, file) as connection:
                (free,) = connection.execute("PRAGMA freelist_count").fetchone()
                if free:
                    connection.execute("VACUUM")


def _runs(home: Home) -> Path:
    return home.dagster / "history" / "runs.db"


def _index(home: Home) -> Path:
    return home.dagster / "history" / "runs" / "index.db"


def _files(home: Home, run: str) -> list[Path]:
    """What a run has of its own: its events, and what its steps printed under older settings."""
    events = _index(home).with_name(f"{run}.db")
    mine = [
        *(events.with_name(events.name + end) for end in ("", "-wal", "-shm")),
        home.dagster / "storage" / run,
    ]
    return [file for file in mine if file.exists()]


def _size(path: Path) -> int:
    return sum(
        file.stat().st_size for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file()
    )


@contextmanager
def _opened(home: Home, file: Path) -> Iterator[sqlite3.Connection]:
    """One of Dagster's files of tables; what is done meanwhile is done as a whole or not at all."""
    with (
        usable_tables(home.dagster),
        closing(sqlite3.connect(file, timeout=PATIENCE)) as connection,
        connection,
    ):
        yield connection
