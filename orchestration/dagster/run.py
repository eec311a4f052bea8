"""One release, as a run of its product's job in this process."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO, cast

import dagster as dg

from republish.anonymize.principle.candidate import ReleaseFigures
from republish.orchestration.dagster.assets import CANDIDATE
from republish.orchestration.dagster.factory import product_definitions
from republish.orchestration.dagster.instance import few_disk_waits
from republish.orchestration.dagster.names import COMMAND, DELTA, PUBLICATION, SNAPSHOT, job_name
from republish.orchestration.dagster.workers import working
from republish.orchestration.engine.local import workers_kept
from republish.orchestration.series.series import Series

NOT_NOTED = "Exception while writing logger call to event log"
"""The words with which Dagster prints the SQL of an event that it can't note, on a full disk say."""


@dataclass(frozen=True)
class Released:
    """A release made by this call."""

    release: str
    counts: ReleaseFigures
    seconds: dict[str, float]
    """Seconds by part: the steps, that of the candidate by algorithm, audit, files and charts."""
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
        heard = cast("TextIO", _WithoutSql(sys.stderr))
        waits = few_disk_waits(series.home.dagster.resolve())
        with waits, workers_kept(), working(series.home, run, is_over), redirect_stderr(heard):
            made = job.execute_in_process(
                partition_key=release,
                instance=instance,
                run_id=run,
                tags=COMMAND,
                run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            )
    except dg.DagsterExecutionInterruptedError:
        raise KeyboardInterrupt from None
    except dg.Failure as failure:
        raise getattr(failure, "error", failure) from None
    committed = series.record(release)
    counts = None if committed is None else committed.counts
    if committed is None or counts is None:
        raise AssertionError("a run that ends well commits its candidate")
    seconds = _spent(made.all_events, series.contract.product, committed.seconds)
    return Released(release, counts, seconds, series.published(release))


class _WithoutSql:
    """Standard error, without what Dagster prints of an error that it raises as well."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return len(text) if text.startswith(NOT_NOTED) else self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _spent(
    events: Sequence[dg.DagsterEvent], product: str, on_candidate: Mapping[str, float]
) -> dict[str, float]:
    """Seconds by what they were spent on, in order; the rest of the candidate's step is spent on charts."""
    took = {
        str(event.step_key).removeprefix(f"{product}_"): event.step_success_data.duration_ms / 1000
        for event in events
        if event.is_step_success
    }
    return {
        **{step: took[step] for step in (SNAPSHOT, DELTA)},
        **on_candidate,
        "charts": max(0.0, took[CANDIDATE] - sum(on_candidate.values())),
        PUBLICATION: took[PUBLICATION],
    }
