"""Everything of Dagster that is not its public API, and of Alembic what Dagster uses of it.

The one exception are Dagster's tables of runs and events, of which `tidy.py` deletes rows.

`KNOWN_TO_WORK_WITH` is the version it was tried with. A test says what to look at when another one is
installed, or when one of the names or signatures is not what it was.
"""

from __future__ import annotations

import functools
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import dagster as dg
from alembic.config import Config
from alembic.script import ScriptDirectory
from dagster._core.definitions.data_version import get_input_event_pointer_tag
from dagster._core.instance.types import _EventListenerLogHandler
from dagster._core.remote_origin import RemoteRepositoryOrigin
from dagster._core.workspace.load import location_origins_from_yaml_paths

from orchestration.package_files import package_file

KNOWN_TO_WORK_WITH = "1.13"
REPOSITORY = "__repository__"
"""The name of the repository that `dg.Definitions` become."""
LAST_EVENT = str(2**62)
"""Later than every event that Dagster will ever number."""


@contextmanager
def run_of_the_ui(instance: dg.DagsterInstance, job: str) -> Iterator[None]:
    """Give the runs that are created meanwhile the origin that runs begun in the UI have.

    That is the first code location of `workspace.yaml`. Without it, Dagster shows a run neither on the job's
    page nor in the overview, and can't execute it again. `execute_in_process` takes no origin; the method by
    which it creates its run does.
    """
    location = location_origins_from_yaml_paths([str(package_file("workspace.yaml"))])[0]
    origin = RemoteRepositoryOrigin(location, REPOSITORY).get_job_origin(job)
    create = instance.create_run_for_job
    # A method of this one instance: mypy knows of no such thing.
    instance.create_run_for_job = functools.partial(create, remote_job_origin=origin)  # type: ignore[method-assign]
    try:
        yield
    finally:
        del instance.create_run_for_job  # the class has it still


def newest_input(key: dg.AssetKey) -> dict[str, str]:
    """The tag of a materialization that says: made from the newest materialization there is of an input."""
    return {get_input_event_pointer_tag(key): LAST_EVENT}


def end_run(instance: dg.DagsterInstance, run: dg.DagsterRun) -> None:
    """Note that a run whose process is gone failed; or was canceled, if somebody had asked for that."""
    if run.status is dg.DagsterRunStatus.CANCELING:
        instance.report_run_canceled(run, "Ended while it was canceled.")
    else:
        instance.report_run_failed(run, "Ended before it was done.")


@contextmanager
def events_lost_in_silence() -> Iterator[None]:
    """Let Dagster raise what keeps it from noting an event (a full disk, say), and not print it as well."""
    module = sys.modules[_EventListenerLogHandler.__module__]
    module.__dict__["sys"] = SimpleNamespace(stderr=io.StringIO(), exc_info=sys.exc_info)
    try:
        yield
    finally:
        module.__dict__["sys"] = sys


@contextmanager
def migrations_read_once() -> Iterator[None]:
    """Let Alembic read Dagster's migrations once, and not for each of its files of tables.

    There are 90 of them, all of the three kinds of files have the same, and every run has a file of its own.
    """
    read = ScriptDirectory.from_config
    directories: dict[str | None, ScriptDirectory] = {}

    def from_config(config: Config) -> ScriptDirectory:
        location = config.get_main_option("script_location")
        if location not in directories:
            directories[location] = read(config)
        return directories[location]

    # To mypy, a method of a class is not to be replaced; here it is, for a while.
    ScriptDirectory.from_config = from_config  # type: ignore[method-assign]
    try:
        yield
    finally:
        ScriptDirectory.from_config = read  # type: ignore[method-assign]
