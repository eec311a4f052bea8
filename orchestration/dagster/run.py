"""One release, as a run of its product's job in this process."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from anonymize.errors import RepublishError
from anonymize.principle.candidate import ReleaseFigures
from orchestration.dagster.factory import product_definitions
from orchestration.dagster.names import COMMAND, job_name
from orchestration.dagster.private import run_of_the_ui
from orchestration.dagster.workers import working
from orchestration.series.series import Series


@dataclass(frozen=True)
class Released:
    """A release made by this call."""

    release: str
    counts: ReleaseFigures
    seconds: dict[str, float]
    """Seconds by part: algorithm, audit, files."""
    folder: Path


def make_release(series: Series, release: str, instance: dg.DagsterInstance) -> Released:
    """Run the product's job for one release, in this process.

    Raises
    ------
    RepublishError
        What refused the release, as it was raised in the step.
    """
    job = product_definitions(series).resolve_job_def(job_name(series.contract.product))
    run = str(uuid.uuid4())

    def is_over() -> bool:
        noted = instance.get_run_by_id(run)
        return noted is None or noted.is_finished

    try:
        with working(series.home, run, is_over), run_of_the_ui(instance, job.name):
            job.execute_in_process(
                partition_key=release,
                instance=instance,
                run_id=run,
                tags=COMMAND,
                run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            )
    except dg.DagsterExecutionInterruptedError:
        raise KeyboardInterrupt from None
    except dg.Failure as failure:
        if isinstance(failure.__cause__, RepublishError):
            raise failure.__cause__ from None
        raise getattr(failure, "unexpected", failure) from None
    committed = series.record(release)
    assert committed is not None, "a run that ended well committed its candidate"
    assert committed.counts is not None, "a run that ended well committed its candidate"
    return Released(release, committed.counts, dict(committed.seconds), series.published(release))
