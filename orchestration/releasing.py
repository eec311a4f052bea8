"""Every due release of a contract in order, each through Dagster."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from anonymize.errors import ContractError, RepublishError
from orchestration.home import Home, only_one, private_folder
from orchestration.manifest import verify_series
from orchestration.product.factory import product_definitions
from orchestration.product.names import job_name
from orchestration.registry import register
from orchestration.series import Series
from orchestration.steps.candidate import read_committed

DAGSTER_YAML = Path(__file__).parents[1] / "dagster.yaml"


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


def releases_to_make(series: Series, through: str | None) -> list[str]:
    """The due releases that are not published, up to and with `through`.

    Published ones are verified: their files and the chain of their manifests.

    Raises
    ------
    ContractError
        If `through` is not one of the contract's releases that are due.
    PublishedFolderError
        If a published release was changed.
    """
    due = series.due
    if not due:
        raise ContractError(str(series.file.path), [("releases.first", "no release is due yet")])
    if through is not None:
        if through not in due:
            raise ContractError(
                str(series.file.path),
                [("releases", f"{through} is no release that is due; due are {_named(due)}")],
            )
        due = due[: due.index(through) + 1]
    if any(series.is_published(release) for release in due):
        verify_series(series.published(due[0]).parent)
    return [release for release in due if not series.is_published(release)]


def make_release(series: Series, release: str, instance: dg.DagsterInstance) -> Released:
    """Run the product's job for one release, in this process.

    Raises
    ------
    RepublishError
        What refused the release, as it was raised in the step.
    """
    started = time.perf_counter()
    job = product_definitions(series).resolve_job_def(job_name(series.contract.product))
    try:
        job.execute_in_process(
            partition_key=release,
            instance=instance,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        )
    except dg.Failure as failure:
        if isinstance(failure.__cause__, RepublishError):
            raise failure.__cause__ from None
        raise
    committed = read_committed(series.private(release))
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


@contextmanager
def releasing(series: Series) -> Iterator[dg.DagsterInstance]:
    """A Dagster instance in the home, while no other command releases the same series."""
    home, contract = series.home, series.contract
    folder = home.private(contract.product, contract.series)
    with only_one(folder, f"series {series.name}", name=".releasing"), dagster_instance(home) as instance:
        register(home, series.file)
        yield instance


@contextmanager
def dagster_instance(home: Home) -> Iterator[dg.DagsterInstance]:
    """The Dagster instance in the home; telemetry is off because its `dagster.yaml` says so."""
    with dg.DagsterInstance.from_config(str(prepare_dagster_home(home))) as instance:
        yield instance


def prepare_dagster_home(home: Home) -> Path:
    """Make DAGSTER_HOME in the home, with this project's `dagster.yaml`, and set the variable."""
    folder = private_folder(home.dagster)
    shutil.copyfile(DAGSTER_YAML, folder / "dagster.yaml")
    os.environ["DAGSTER_HOME"] = str(folder)
    os.environ["REPUBLISH_HOME"] = str(home.path)
    return folder


def _named(due: list[str]) -> str:
    return ", ".join(due) if len(due) <= 4 else f"{due[0]}, {due[1]}, …, {due[-1]}"
