"""Runs of the command line belong to the code location that the UI loads, as if they were begun there."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg
from dagster._core.definitions.repository_definition import SINGLETON_REPOSITORY_NAME
from dagster._core.remote_origin import RemoteJobOrigin, RemoteRepositoryOrigin
from dagster._core.workspace.load import location_origins_from_yaml_paths

from orchestration.shipped import shipped

WORKSPACE = shipped("workspace.yaml")


def origin(job: str) -> RemoteJobOrigin:
    """Where Dagster finds a job of ours again: in the first code location of `workspace.yaml`."""
    location = location_origins_from_yaml_paths([str(WORKSPACE)])[0]
    return RemoteRepositoryOrigin(location, SINGLETON_REPOSITORY_NAME).get_job_origin(job)


@contextmanager
def run_of_the_ui(instance: dg.DagsterInstance, job: str) -> Iterator[None]:
    """Give the runs that are created meanwhile the origin that runs begun in the UI have.

    Without it, Dagster shows a run neither on the job's page nor in the overview, and can't execute it again.
    `execute_in_process` has no word for an origin; what it creates its run by does.
    """
    create = instance.create_run_for_job
    instance.create_run_for_job = functools.partial(create, remote_job_origin=origin(job))
    try:
        yield
    finally:
        del instance.create_run_for_job  # the class has it still
