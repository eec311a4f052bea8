"""Whether releases are late or failed, as checks of their own: on the publication, looked at all the time.

They are found out by a sensor, by `republish release`, and by whoever executes them in the UI. Dagster's own
mail of a failed run (`make_email_on_run_failure_sensor`) knows nothing of runs that a command made, and its
freshness policies tell nobody: a release that never came would be missed in silence.
"""

from collections.abc import Callable

import dagster as dg

from republish.orchestration.dagster.instance import end_dead_runs, is_of
from republish.orchestration.dagster.names import (
    FAILURE,
    FRESHNESS,
    PARTITION,
    PUBLICATION,
    asset_key,
    job_name,
    series_tag,
)
from republish.orchestration.dagster.tell import tell
from republish.orchestration.series.series import Series
from republish.orchestration.storage.home import Home

Looked = Callable[[Series, dg.DagsterInstance], tuple[bool, str]]
"""Whether all is well, and a sentence on it."""
Watched = Callable[[dg.DagsterInstance], list[dg.AssetCheckEvaluation]]
"""What some checks find now."""


def watch(series: Series, instance: dg.DagsterInstance) -> list[dg.AssetCheckEvaluation]:
    """What both checks find now."""
    found = []
    for name, (look, _) in CHECKS.items():
        passed, words = look(series, instance)
        found.append(
            dg.AssetCheckEvaluation(
                asset_key=asset_key(series, PUBLICATION),
                check_name=name,
                passed=passed,
                description=words,
                severity=dg.AssetCheckSeverity.WARN,
            )
        )
    return found


def report(series: Series, instance: dg.DagsterInstance) -> None:
    """Note what both checks find now."""
    for found in watch(series, instance):
        instance.report_runless_asset_event(found)


def checks_of(series: Series) -> list[dg.AssetChecksDefinition]:
    """The checks, to be executed in the UI by themselves."""
    return [_check(series, name) for name in CHECKS]


def watch_sensor(home: Home, product: str, name: str, watched: Watched) -> dg.SensorDefinition:
    """The sensor that looks every few minutes, and notes what changed since it looked last.

    Parameters
    ----------
    home, product
        Whose runs it ends when their process is gone, and the product that it is named by.
    name
        What is said to be well or not, in messages: product and series, say.
    watched
        What the checks find now.
    """

    @dg.sensor(
        name=f"{job_name(product)}_watch",
        minimum_interval_seconds=300,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Notes whether the contract is valid, whether releases are late, and whether the last run"
        " failed; says so by webhook or mail, if there is any. Ends runs whose process is gone.",
    )
    def look(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        if is_of(context.instance, home):
            end_dead_runs(home, context.instance)
        found = watched(context.instance)
        words = " ".join(str(one.description) for one in found)
        wrong = " ".join(str(one.description) for one in found if not one.passed)
        noted, _, told = (context.cursor or "").partition("\n")
        if wrong != told and tell(name, wrong, context.log):
            told = wrong
        cursor = f"{words}\n{told}"
        if cursor == context.cursor:
            return dg.SkipReason(words)
        return dg.SensorResult(asset_events=found if words != noted else [], cursor=cursor)

    return look


def _check(series: Series, name: str) -> dg.AssetChecksDefinition:
    look, promises = CHECKS[name]

    @dg.asset_check(asset=asset_key(series, PUBLICATION), name=name, description=promises)
    def check(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
        passed, words = look(series, context.instance)
        return dg.AssetCheckResult(passed=passed, description=words, severity=dg.AssetCheckSeverity.WARN)

    return check


def _freshness(series: Series, _: dg.DagsterInstance) -> tuple[bool, str]:
    """A release may be made on the day on which it is due; after that, it is late."""
    due, waiting, late = series.calendar.due, series.next_due, series.late
    if not due:
        return True, f"{series.calendar.none_is_due()}."
    if waiting is None:
        return True, f"Every release that is due is published; the last one is {due[-1]}."
    if not late:
        return True, f"{waiting} is due today, and not published yet."
    days = f"{len(late)} releases are late" if len(late) > 1 else "It is late"
    return False, f"{waiting} is due and not published. {days}: republish validate says what it waits for."


def _failure(series: Series, instance: dg.DagsterInstance) -> tuple[bool, str]:
    """What Dagster keeps of a refusal has no person's value in it, and is said once more."""
    runs = dg.RunsFilter(job_name=job_name(series.contract.product), tags=series_tag(series))
    last = next(iter(instance.get_runs(runs, limit=1)), None)
    if last is None:
        return True, "No release was attempted yet."
    release = last.tags.get(PARTITION, "a range of releases")
    if last.status != dg.DagsterRunStatus.FAILURE:
        return True, f"The last run, of {release}, did not fail."
    failed = instance.all_logs(last.run_id, of_type=dg.DagsterEventType.STEP_FAILURE)
    data = [entry.dagster_event.step_failure_data for entry in failed if entry.dagster_event]
    said = [one.user_failure_data.description for one in data if one.user_failure_data]
    return False, f"The last run, of {release}, failed: {(said or ['see its log'])[0]}"


CHECKS: dict[str, tuple[Looked, str]] = {
    FRESHNESS: (_freshness, "Every release that is due is published, at the latest on its day."),
    FAILURE: (_failure, "The last run that was to make a release did not fail."),
}
"""What looks, and the promise, by the check's name."""
