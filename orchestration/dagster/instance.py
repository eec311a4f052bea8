"""The Dagster of a home: its settings, its tables, and the runs that a killed command left there."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
import yaml
from sqlalchemy import Engine, event
from sqlalchemy.exc import DBAPIError

from republish.anonymize.errors import HomeError
from republish.orchestration.dagster import workers
from republish.orchestration.package_files import package_file
from republish.orchestration.series.calendar import now
from republish.orchestration.storage.home import Home, no_room, only_for_the_owner, only_one, private_folder
from republish.orchestration.storage.store import write_text

OWN = "own.yaml"
"""In DAGSTER_HOME: settings of Dagster that are the publisher's own, `storage` say. Never written to."""
UNDER_WAY = [
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]
"""What Dagster says of runs that a process should be working on. Those in the queue wait for the daemon."""
TIME_TO_BEGIN = 600
"""Seconds from the beginning of a run to its first step, at most."""


@contextmanager
def dagster_instance(home: Home) -> Iterator[dg.DagsterInstance]:
    """The Dagster instance in the home; telemetry is off because its `dagster.yaml` says so."""
    folder = prepare_dagster_home(home)
    with usable_tables(folder), instance_of(folder) as made:
        yield made


def instance_of(folder: Path) -> dg.DagsterInstance:
    """The Dagster instance in DAGSTER_HOME, which is this folder."""
    with only_one(folder, "Dagster's own tables", name=".lock"):  # two that make them at once fail
        return _instance(folder)


def _instance(folder: Path) -> dg.DagsterInstance:
    try:
        return dg.DagsterInstance.get()
    except DBAPIError:
        raise
    except Exception as error:  # what they name may raise anything: a driver, a database that does not answer
        own = folder / OWN
        if not own.exists():
            raise
        why = (str(error).splitlines() or [type(error).__name__])[-1].strip()
        raise HomeError(f"{own}: Dagster can't begin with these settings: {why}. See to them") from None


@contextmanager
def usable_tables(folder: Path) -> Iterator[None]:
    """Raise HomeError where Dagster's tables in a folder turn out to be of no use."""
    try:
        yield
    except (DBAPIError, sqlite3.DatabaseError) as error:
        reason = getattr(error, "orig", error)
        if getattr(reason, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            raise HomeError(no_room(folder, errno.ENOSPC)) from None
        raise HomeError(
            f"{folder}: Dagster's own tables can't be read or written: {reason}."
            f" Make room on the disk, start the database that {OWN} names, or move the folder away: Dagster"
            " begins anew, and what is published is untouched"
        ) from None


@contextmanager
def few_disk_waits(folder: Path) -> Iterator[None]:
    """Let Dagster's SQLite files in a folder wait for the disk once at the end, and not after every event.

    Dagster opens and closes such a file for each of some 250 reads and writes of a release. The connection
    that is closed last copies the write-ahead log into the file, and waits for the disk. Therefore one
    connection to each file stays open here. A power cut may lose the last events, and damages no file.
    """
    kept: dict[str, sqlite3.Connection] = {}

    def opened(connection: Any, _: Any) -> None:
        if not isinstance(connection, sqlite3.Connection):
            return
        file = connection.execute("PRAGMA database_list").fetchone()[2]
        if not Path(file).is_relative_to(folder):
            return
        connection.execute("PRAGMA synchronous = NORMAL")
        if file not in kept and connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
            kept[file] = sqlite3.connect(file, check_same_thread=False)
            kept[file].execute("SELECT 1 FROM sqlite_master").fetchone()

    event.listen(Engine, "connect", opened)
    try:
        yield
    finally:
        event.remove(Engine, "connect", opened)
        for connection in kept.values():
            connection.close()


def prepare_dagster_home(home: Home) -> Path:
    """Make DAGSTER_HOME in the home, with this project's `dagster.yaml`, and set the variable."""
    folder = private_folder(home.dagster)
    only_for_the_owner()
    with only_one(folder, "Dagster's settings", name=".lock"):
        file, settings = folder / "dagster.yaml", _settings(folder / OWN)
        if not file.is_file() or file.read_text(encoding="utf-8") != settings:
            write_text(file, settings)
    os.environ["DAGSTER_HOME"] = str(folder)
    os.environ["REPUBLISH_HOME"] = str(home.path)
    return folder


def _settings(own: Path) -> str:
    """The `dagster.yaml` of republish, with what the publisher's file says of its own or says otherwise."""
    ours = package_file("dagster.yaml").read_text(encoding="utf-8")
    if not own.exists():
        return ours
    try:
        stated = yaml.safe_load(own.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        stated = None
    if not isinstance(stated, dict):
        raise HomeError(f"{own}: is no YAML file with settings of Dagster, as in storage: {{postgres: …}}")
    return yaml.safe_dump(yaml.safe_load(ours) | stated, sort_keys=False)


def is_of(instance: dg.DagsterInstance, home: Home) -> bool:
    """Whether an instance is the home's own, and not that of a project that has the home's products."""
    return home.dagster.is_dir() and home.dagster.samefile(instance.root_directory)


def end_dead_runs(home: Home, instance: dg.DagsterInstance) -> None:
    """End the runs of the home's Dagster whose process is gone: commands and daemons that were killed.

    To Dagster, such a run would be running for ever, and it lets one run at a time. A run without a file is
    of a process that was killed before its first step, or of an older version.
    """
    known = workers.files(home)
    for record in instance.get_run_records(dg.RunsFilter(statuses=UNDER_WAY)):
        run = record.dagster_run
        changed = max(record.create_timestamp, record.update_timestamp).timestamp()
        if run.run_id in known or now().timestamp() - changed > TIME_TO_BEGIN:
            with workers.if_dead(home, run.run_id) as is_dead:
                if is_dead and run.status is dg.DagsterRunStatus.CANCELING:
                    instance.report_run_canceled(run, "Ended while it was canceled.")
                elif is_dead:
                    instance.report_run_failed(run, "Ended before it was done.")
    for name in workers.left(home):
        run_left = instance.get_run_by_id(name)
        if run_left is None or run_left.is_finished:
            workers.clear(home, name)
