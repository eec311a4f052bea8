"""A release through Dagster, and the Dagster of a home."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
from dagster._core.errors import DagsterExecutionInterruptedError
from sqlalchemy.exc import DBAPIError

from anonymize.errors import HomeError, RepublishError
from orchestration.dagster.factory import product_definitions
from orchestration.dagster.names import job_name, series_tag
from orchestration.dagster.origin import run_of_the_ui
from orchestration.dagster.resources import resources
from orchestration.series.committed import read_record
from orchestration.series.series import Series
from orchestration.shipped import shipped
from orchestration.storage.home import Home, only_for_the_owner, only_one, private_folder
from orchestration.storage.store import write_copy

DAGSTER_YAML = shipped("dagster.yaml")
COMMAND = {"republish/command": "release"}
"""The tag that tells the runs of this command from those begun in the UI."""


@dataclass(frozen=True)
class Released:
    """A release made by this call."""

    release: str
    people: int
    groups: int
    counterfeits: int
    held_back: int
    seconds: dict[str, float]
    """Whole seconds by part: algorithm, audit, files, and Dagster with all the rest."""
    folder: Path


def make_release(series: Series, release: str, instance: dg.DagsterInstance) -> Released:
    """Run the product's job for one release, in this process.

    Raises
    ------
    RepublishError
        What refused the release, as it was raised in the step.
    """
    started = time.perf_counter()
    needed = dg.Definitions(resources=resources(series.home))
    definitions = dg.Definitions.merge(product_definitions(series), needed)
    job = definitions.resolve_job_def(job_name(series.contract.product))
    try:
        with run_of_the_ui(instance, job.name):
            job.execute_in_process(
                partition_key=release,
                instance=instance,
                tags=COMMAND,
                run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            )
    except DagsterExecutionInterruptedError:
        raise KeyboardInterrupt from None
    except dg.Failure as failure:
        if isinstance(failure.__cause__, RepublishError):
            raise failure.__cause__ from None
        raise getattr(failure, "unexpected", failure) from None
    committed = read_record(series.private(release), series.candidate_key(release))
    seconds = dict(committed.seconds)
    seconds["dagster"] = time.perf_counter() - started - sum(seconds.values())
    figures = committed.figures
    return Released(
        release=release,
        people=figures["people"],
        groups=figures["groups"],
        counterfeits=figures["counterfeits"],
        held_back=figures["held_back"],
        seconds=seconds,
        folder=series.published(release),
    )


def end_dead_runs(series: Series, instance: dg.DagsterInstance) -> None:
    """End the runs of commands that were killed; whoever calls this has the lock of `releasing`.

    In the UI such a run would be running for ever, and count as one of those allowed.
    """
    unfinished = dg.RunsFilter(
        job_name=job_name(series.contract.product),
        statuses=[dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED],
        tags={**COMMAND, **series_tag(series)},
    )
    for run in instance.get_runs(unfinished):
        if run.parent_run_id is None:  # else the UI executes a run of this command once more
            instance.report_run_failed(run, "Ended before it was done.")


@contextmanager
def dagster_instance(home: Home) -> Iterator[dg.DagsterInstance]:
    """The Dagster instance in the home; telemetry is off because its `dagster.yaml` says so."""
    folder = prepare_dagster_home(home)
    try:
        with only_one(folder, "Dagster's own tables", name=".lock"):  # two that make them at once fail
            instance = dg.DagsterInstance.from_config(str(folder))
        with instance:
            yield instance
    except (DBAPIError, sqlite3.DatabaseError) as error:
        raise HomeError(
            f"{folder}: Dagster's own tables can't be read or written: {getattr(error, 'orig', error)}."
            " Make room on the disk, or move the folder away: Dagster begins anew, and what is published is"
            " untouched"
        ) from None


def prepare_dagster_home(home: Home) -> Path:
    """Make DAGSTER_HOME in the home, with this project's `dagster.yaml`, and set the variable."""
    folder = private_folder(home.dagster)
    only_for_the_owner()
    with only_one(folder, "Dagster's settings", name=".lock"):
        write_copy(folder / "dagster.yaml", DAGSTER_YAML)
    os.environ["DAGSTER_HOME"] = str(folder)
    os.environ["REPUBLISH_HOME"] = str(home.path)
    return folder
