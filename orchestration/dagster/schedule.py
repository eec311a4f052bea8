"""Releases that nobody asks for: a schedule on their dates, a sensor when their snapshots have arrived.

Both are of one series, which their names have in them, and off until somebody turns them on for that series.
"""

from collections.abc import Mapping, Sequence
from hashlib import blake2b

import dagster as dg

from republish.anonymize.errors import SnapshotError, StoreError
from republish.orchestration.dagster.automation import schedule_started, waits_for_somebody
from republish.orchestration.dagster.names import (
    PARTITION,
    automation_name,
    job_name,
    series_tag,
    upstream_keys,
)
from republish.orchestration.dagster.partitions import for_dagster
from republish.orchestration.dagster.upstream import materialized, missing_upstream
from republish.orchestration.series.calendar import FORMAT
from republish.orchestration.series.series import Series
from republish.orchestration.snapshots.sources import Source, source_of

ONCE_MORE = 3
"""How often the sensor tries a release again whose run died: a run may be what takes the machine down."""


def schedule_of(series: Series, cron: str) -> dg.ScheduleDefinition:
    """On every tick of the contract's cron, the release of that date, if all before it are published.

    Releases that the contract lists dates of have none: each day the next one that is due is looked for.
    """
    name = f"{automation_name(series.contract.product, series.contract.series)}_schedule"

    @dg.schedule(
        name=name,
        job_name=job_name(series.contract.product),
        cron_schedule=for_dagster(cron),
        execution_timezone="UTC",
        description=f"Releases {series.name} on schedule; skips while an earlier release or its own snapshot"
        " is missing.",
    )
    def release_schedule(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        if waits := waits_for_somebody(series, lambda: schedule_started(context.instance, name)):
            return dg.SkipReason(waits)
        release = context.scheduled_execution_time.strftime(FORMAT)
        if series.contract.releases.dates and (waiting := series.next_due) is not None:
            release = waiting
        if reason := why_not(series, release, context):
            return dg.SkipReason(reason)
        return dg.RunRequest(run_key=f"{series.contract.series} {release}", partition_key=release)

    return release_schedule


def sensor_of(series: Series) -> dg.SensorDefinition:
    """Whenever the snapshot of the next release is there."""

    @dg.sensor(
        name=f"{automation_name(series.contract.product, series.contract.series)}_arrival",
        job_name=job_name(series.contract.product),
        minimum_interval_seconds=60,
        description=_begins_when(series),
    )
    def arrival_sensor(context: dg.SensorEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        if waits := waits_for_somebody(series, lambda: context.last_sensor_start_time):
            return dg.SkipReason(waits)
        if (last := _cut_short(series, context.instance)) is not None:
            release, times = last
            return dg.RunRequest(
                run_key=f"{series.contract.series} {release} to its end {times}", partition_key=release
            )
        due = series.next_due
        if due is None:
            everything = "every release that is due is published"
            return dg.SkipReason(everything if series.calendar.due else series.calendar.none_is_due())
        if reason := why_not(series, due, context):
            return dg.SkipReason(reason)
        made = [str(materialized(context.instance, key, due)) for key in upstream_keys(series.contract)]
        times = min(_crashes(series, due, context.instance), ONCE_MORE)
        again = [f"once more {times}"] if times else []
        source = source_of(series.file, due)
        run_key = " ".join(
            [series.contract.series, due, source.attempt, series.file.sha256[:12], *made, *again]
        )
        asked, _, before = (context.cursor or "").partition("\n")
        if run_key != asked:
            now = _mark(series, source)
            context.update_cursor(f"{run_key if now == before else asked}\n{now}")
            if now != before:
                return dg.SkipReason(
                    f"the snapshot of {due} is there; it is released once it is the same at the next look"
                )
        return dg.RunRequest(run_key=run_key, partition_key=due)

    return arrival_sensor


def _begins_when(series: Series) -> str:
    """The sensor's description in the UI: it names all that the sensor waits for."""
    made = "".join(f", and {key} is materialized for its date" for key in series.contract.upstream)
    return f"Releases {series.name} when the snapshot of the next due release has arrived{made}."


def why_not(
    series: Series, release: str, context: dg.ScheduleEvaluationContext | dg.SensorEvaluationContext
) -> str | None:
    """Why a release can't be made now, or None if it can."""
    if release not in series.calendar.due:
        return f"{release} is not a release of {series.name} that is due"
    if series.is_published(release):
        return f"{release} is published"
    if (waiting := series.next_due) != release:
        return f"the release before, {waiting}, is not published yet"
    if series.contract.upstream and (key := missing_upstream(series, release, context.instance)):
        return f"{key.to_user_string()} is not materialized for {release} yet"
    try:
        arrived = source_of(series.file, release).exists()
    except (SnapshotError, StoreError) as error:
        return str(error)
    return None if arrived else f"the snapshot of {release} has not arrived"


def _cut_short(series: Series, instance: dg.DagsterInstance) -> tuple[str, int] | None:
    """The release that the last run published before it died, and how often runs of it did; None if none did.

    A further run does what follows a publication: it forgets people by the contract's rule, say.
    """
    last = next(iter(instance.get_runs(_runs(series), limit=1)), None)
    release = "" if last is None else last.tags.get(PARTITION, "")
    is_due = release in series.calendar.due
    if last is None or not last.is_failure or not is_due or not series.is_published(release):
        return None
    times = _crashes(series, release, instance)
    return (release, times) if 0 < times <= ONCE_MORE else None


def _crashes(series: Series, release: str, instance: dg.DagsterInstance) -> int:
    """How many of the last runs of a release died: they failed, and none of their steps did."""
    failed = _runs(series, {PARTITION: release}, [dg.DagsterRunStatus.FAILURE])
    return sum(
        not instance.all_logs(run.run_id, of_type=dg.DagsterEventType.STEP_FAILURE)
        for run in instance.get_runs(failed, limit=ONCE_MORE + 1)
    )


def _runs(
    series: Series, tags: Mapping[str, str] | None = None, statuses: Sequence[dg.DagsterRunStatus] = ()
) -> dg.RunsFilter:
    return dg.RunsFilter(
        job_name=job_name(series.contract.product),
        tags={**series_tag(series), **(tags or {})},
        statuses=list(statuses),
    )


def _mark(series: Series, source: Source) -> str:
    """Tells what a source has now from what it has when more is written; a query's mark is a secret."""
    try:
        mark = f"{source.release} {source.mark()}"
    except (SnapshotError, StoreError) as error:
        mark = str(error)
    return blake2b(mark.encode(), key=series.pseudonym_key, digest_size=16).hexdigest()
