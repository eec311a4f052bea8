"""Old runs of a home's Dagster: which there are, and their end. Dagster itself deletes none."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from republish.orchestration.dagster.instance import dagster_instance
from republish.orchestration.dagster.names import PARTITION, SERIES_TAG, job_name
from republish.orchestration.series.place import Place
from republish.orchestration.storage.home import Home

OVER = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]


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
    found = []
    with dagster_instance(home) as instance:
        for folder in sorted(home.path.glob("published/*/*")):
            product, series = folder.parent.name, folder.name
            for before in Place(home, product, series).releases[-keep:][:1]:
                made = dg.RunsFilter(job_name=job_name(product), tags={SERIES_TAG: series}, statuses=OVER)
                runs = tuple(
                    run.run_id
                    for run in instance.get_runs(made)
                    if run.tags.get(PARTITION, before) < before  # a run for several releases has no such tag
                )
                if runs:
                    found.append(OldRuns(product, series, before, runs))
    return found


def delete_runs(home: Home, old: OldRuns) -> None:
    """Delete old runs and their events.

    Raises
    ------
    HomeError
        If Dagster's tables can't be written.
    """
    with dagster_instance(home) as instance:
        for run in old.runs:
            instance.delete_run(run)
            # In SQLite, a run has a file for its events. Dagster empties it, which makes it no smaller.
            for file in (home.dagster / "history" / "runs").glob(f"{run}.db*"):
                file.unlink(missing_ok=True)
    _shrink(home.dagster / "history" / "runs" / "index.db")


def _shrink(events: Path, patience: float = 10) -> None:
    """Give the room of deleted events back to the disk, which SQLite keeps for later ones: 0.1 MB a release.

    Where another process is at work on the file for so many seconds, or there is no room for a copy, it stays
    as large.
    """
    if not events.exists():
        return
    with suppress(sqlite3.OperationalError), closing(sqlite3.connect(events, timeout=patience)) as connection:
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
