"""Old runs of a home's Dagster: which there are, what their logs take on the disk, and their end.

Nobody needs the events of an old run but to read its log. In SQLite, they are in a file of the run's own; in
a database, beside those of all others. What the pages of assets show is in the index of all runs: the last
materialization of each release, and what its checks found. That stays.
"""

from __future__ import annotations

import itertools
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
from sqlalchemy import Connection, bindparam, text

from orchestration.dagster.instance import dagster_instance, usable_tables
from orchestration.dagster.names import job_name
from orchestration.series.siblings import published_releases
from orchestration.storage.home import Home
from orchestration.storage.statements import statement

PATIENCE = 60
"""Seconds to wait for another process that writes to Dagster's tables."""
AT_ONCE = 1_000
"""Runs whose rows are deleted by one statement."""
SQLITE = "sqlite"
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
    if not home.dagster.is_dir():
        return []
    with dagster_instance(home) as instance, _runs(instance) as connection:
        finished = connection.execute(text(statement("select_finished_runs"))).fetchall()
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
    """Bytes of the files that old runs have of their own, or of their events in a database."""
    with dagster_instance(home) as instance, _index(instance) as connection:
        if connection.dialect.name == SQLITE:
            return sum(_size(file) for run in old.runs for file in _files(home, run))
        return sum(_execute(connection, "select_size_of_events", runs).scalar_one() for runs in _some(old))


def is_in_home(home: Home) -> bool:
    """Whether Dagster's tables are files in the home, and not in a database elsewhere."""
    with dagster_instance(home) as instance, _index(instance) as connection:
        return connection.dialect.name == SQLITE


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
    with dagster_instance(home) as instance:
        with _index(instance) as connection:
            for name, runs in itertools.product(FROM_INDEX[:2], _some(old)):
                _execute(connection, name, runs)
            connection.execute(text(statement(FROM_INDEX[2])))
        for run in old.runs:
            for file in _files(home, run):
                shutil.rmtree(file) if file.is_dir() else file.unlink(missing_ok=True)
        with _runs(instance) as connection:
            for name, runs in itertools.product(FROM_RUNS, _some(old)):
                _execute(connection, name, runs)


def give_back(home: Home) -> None:
    """Give the pages that deleted rows took in Dagster's tables back to the disk.

    Raises
    ------
    HomeError
        If Dagster's tables can't be written.
    """
    for file in (_history(home) / "runs" / "index.db", _history(home) / "runs.db"):
        if file.exists():
            with (
                usable_tables(home.dagster),
                closing(sqlite3.connect(file, timeout=PATIENCE)) as connection,
                connection,
            ):
                (free,) = connection.execute("PRAGMA freelist_count").fetchone()
                if free:
                    connection.execute("VACUUM")


def _history(home: Home) -> Path:
    return home.dagster / "history"


def _files(home: Home, run: str) -> list[Path]:
    """What a run has of its own: its events, and what its steps printed under older settings."""
    events = _history(home) / "runs" / f"{run}.db"
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
def _index(instance: dg.DagsterInstance) -> Iterator[Connection]:
    """The tables of all runs' events; in SQLite what is done meanwhile is done as a whole or not at all."""
    storage: Any = instance.event_log_storage  # of an SQL database, and the type says of any
    with storage.index_connection() as connection:
        yield _patient(connection)


@contextmanager
def _runs(instance: dg.DagsterInstance) -> Iterator[Connection]:
    """The tables of runs."""
    storage: Any = instance.run_storage
    with storage.connect() as connection:
        yield _patient(connection)


def _patient(connection: Connection) -> Connection:
    if connection.dialect.name == SQLITE:
        connection.execute(text(f"PRAGMA busy_timeout = {PATIENCE * 1000}"))
    return connection


def _some(old: OldRuns) -> list[tuple[str, ...]]:
    return [old.runs[start : start + AT_ONCE] for start in range(0, len(old.runs), AT_ONCE)]


def _execute(connection: Connection, name: str, runs: tuple[str, ...]) -> Any:
    """Execute a statement on the rows of some runs."""
    asked = text(statement(name)).bindparams(bindparam("runs", expanding=True))
    return connection.execute(asked, {"runs": runs})
