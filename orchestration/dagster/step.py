"""A step of a release as Dagster assets: the same loop, errors and checks for every step."""

import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import dagster as dg

from republish.anonymize.errors import RepublishError
from republish.orchestration.dagster.instance import is_of
from republish.orchestration.dagster.names import SERIES_TAG, asset_key, tag_value
from republish.orchestration.dagster.partitions import release_partitions
from republish.orchestration.dagster.status import keep_facts
from republish.orchestration.dagster.verdicts import metadata_of, words_of
from republish.orchestration.dagster.workers import hold
from republish.orchestration.expectations import Verdict
from republish.orchestration.expectations.verdict import no_verdict
from republish.orchestration.series.homes import refuse_other_home
from republish.orchestration.series.series import Series

ONE_RUN = dg.BackfillPolicy.single_run()
"""A backfill is one run over ascending releases, each committed before the next.

Dagster puts assets into one run only where they depend on each other release by release. What a step takes of
the release before (memory, the snapshot to compare with, the manifest) it reads from the home, and Dagster
knows nothing of it. If Dagster did, it would call a release out of date that was just made.
"""


@dataclass(frozen=True)
class Done:
    """The outcome of a step for one release."""

    says: str
    """A line for the log."""
    metadata: Mapping[str, Mapping[str, Any]]
    """Entries for the UI, by the asset's name."""
    verdicts: tuple[Verdict, ...] = ()
    """A verdict on each of its checks."""
    is_kept: bool = True
    """False if the verdicts are gone: the release is published, and so had passed."""


@dataclass(frozen=True)
class CheckOn:
    """A check of a step, and the asset it is shown on."""

    asset: str
    name: str
    promises: str
    """The promise, in one sentence."""


@dataclass(frozen=True)
class Step:
    """A step of a release: the assets it makes, and how it makes them for one release."""

    name: str
    assets: tuple[dg.AssetSpec, ...]
    work: Callable[[Series, str], Done]
    checks: tuple[CheckOn, ...] = ()
    before: Callable[[], None] = field(default=lambda: None)
    """Called once when the step begins."""


def build(step: Step, described: Series, later: Sequence[Step] = ()) -> dg.AssetsDefinition:
    """The assets of a step, one function for all of them.

    Parameters
    ----------
    step
        What is made.
    described
        The series whose releases are made.
    later
        The steps after it. In a backfill, the releases before one that fails go through them here: Dagster
        begins no step after one that failed.
    """
    file, product = described.file, described.contract.product
    on = _shown_on(described, step)
    tag = {SERIES_TAG: tag_value(described.contract.series)}

    @dg.multi_asset(
        name=f"{product}_{step.name}",
        specs=list(step.assets),
        check_specs=[
            dg.AssetCheckSpec(
                check.name,
                asset=on[check.name],
                description=check.promises,
                blocking=True,  # of a release that breaks a promise, nothing further is made
                partitions_def=release_partitions(file),
            )
            for check in step.checks
        ],
        partitions_def=release_partitions(file),
        backfill_policy=ONE_RUN,
    )
    def make(
        context: dg.AssetExecutionContext,
    ) -> Iterator[dg.MaterializeResult[None] | dg.AssetCheckResult]:
        _refuse_another_series(context, described)
        if is_of(context.instance, described.home):
            hold(described.home, context.run.run_id)
        series = Series(file, described.home)  # the server's has read history when it began
        step.before()
        made: dict[str, Done] = {}
        for release in context.partition_keys:
            try:
                with _refusals():
                    refuse_other_home(series)
                    done = made[release] = step.work(series, release)
            except Refused as failure:
                new = _finish(context, series, described, step, made, later)
                keep_facts(context, series, new)
                found = _found(failure, step)
                _log_not_reached(context, described, (step, *later), release, {one.promise for one in found})
                _log_checks(context, on, release, tuple(found))
                yield from (_result(verdict, on) for verdict in found)
                if new:
                    context.log.info(f"{', '.join(new)}: published before it failed")
                raise
            context.log.info(f"{release}: {done.says}")
            for asset, entries in done.metadata.items():
                key = asset_key(series, asset)
                context.add_asset_metadata(dict(entries), asset_key=key, partition_key=release)
            _log_checks(context, on, release, done.verdicts)
        for spec in step.assets:
            yield dg.MaterializeResult(
                asset_key=spec.key,
                data_version=dg.DataVersion(file.contract.series),
                tags=tag,
            )
        for check in step.checks:
            yield _result(_verdict_on(check.name, done), on, blocks=_is_judged(check.name, done))

    return make


def _shown_on(described: Series, step: Step) -> dict[str, dg.AssetKey]:
    """The asset that each check of a step is shown on."""
    return {check.name: asset_key(described, check.asset) for check in step.checks}


def _refuse_another_series(context: dg.AssetExecutionContext, series: Series) -> None:
    """A run of an earlier series that is executed again would make a release of this one."""
    begun_for, declared = context.run.tags.get(SERIES_TAG), series.contract.series
    if begun_for not in (None, declared):
        raise dg.Failure(
            description=f"this run is of series {begun_for}, and the contract declares {declared}: begin a"
            f" new run for a release of {declared}",
            allow_retries=False,
        )


def _finish(
    context: dg.AssetExecutionContext,
    series: Series,
    described: Series,
    step: Step,
    made: Mapping[str, Done],
    later: Sequence[Step],
) -> list[str]:
    """Publish the releases of a backfill before the one that failed; returns those that are new.

    Nothing is done unless the run was to publish them. What keeps one of them from it ends this, too.
    """
    publication = [asset.key for one in (step, *later)[-1:] for asset in one.assets]
    selected = context.run.asset_selection
    new: list[str] = []
    for release, done in made.items():
        if series.is_published(release) or (selected and not set(publication) <= set(selected)):
            continue
        try:
            with _refusals():
                steps = [(step, done), *((one, one.work(series, release)) for one in later)]
        except Refused as failure:
            context.log.warning(f"{release}: not published: {failure.description}")
            break
        for one, its in steps:
            for asset in one.assets:
                name = asset.key.path[-1]
                materialized = dg.AssetMaterialization(
                    asset.key, partition=release, metadata=dict(its.metadata.get(name, {}))
                )
                context.log_event(materialized)
        for one, its in steps[1:]:
            _log_checks(context, _shown_on(described, one), release, its.verdicts)
        new.append(release)
    return new


@contextmanager
def _refusals() -> Iterator[None]:
    """A refusal of ours ends the step with its own words, and is not tried again."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - whatever a library raises
        raise Refused(error) from None


class Refused(dg.Failure):
    """The end of a run: a refusal in its own words.

    A library's error has none of its own: they may quote a person's value, and Dagster keeps them.
    """

    def __init__(self, error: Exception):
        at = traceback.extract_tb(error.__traceback__)[-1]
        unexpected = (
            f"unexpected {type(error).__name__} in {at.filename}, line {at.lineno}; republish release --debug"
            " shows more of it, and keeps nothing"
        )
        description = str(error) if isinstance(error, RepublishError) else unexpected
        super().__init__(description=description, allow_retries=False)
        self.error = error


# Python begins a message with the module of its class, but for built-in ones; what a publisher needs stands
# first on the page of a run.
Refused.__module__ = "builtins"


def _log_not_reached(
    context: dg.AssetExecutionContext,
    described: Series,
    steps: Sequence[Step],
    release: str,
    found: Collection[str],
) -> None:
    """Log a warning for each check that a release never came to.

    Dagster has no state for a check that was not looked at in a run that failed, and shows it as failed. A
    warning that says so comes nearest.

    Parameters
    ----------
    steps
        The one that failed, and those after it.
    found
        Checks of the first one that have a verdict.
    """
    selected = context.run.asset_selection
    for step in steps:
        for name, asset in _shown_on(described, step).items():
            if (step is steps[0] and name in found) or (selected and asset not in selected):
                continue
            context.log_event(
                dg.AssetCheckEvaluation(
                    asset_key=asset,
                    check_name=name,
                    passed=False,
                    severity=dg.AssetCheckSeverity.WARN,
                    description=f"Not reached: {release} was refused at {steps[0].name}, before this check "
                    "was looked at. The check did not fail; the page of the run says what did.",
                    partition=release,
                )
            )


def _found(failure: Refused, step: Step) -> list[Verdict]:
    """The verdicts on the checks of a step that failed; a step's only check fails with it."""
    refusal = failure.error
    if isinstance(refusal, RepublishError) and refusal.verdicts:
        return list(refusal.verdicts)
    return [
        no_verdict(check.name, failure.description or "") for check in step.checks if len(step.checks) == 1
    ]


def _log_checks(
    context: dg.AssetExecutionContext,
    on: Mapping[str, dg.AssetKey],
    release: str,
    verdicts: tuple[Verdict, ...],
) -> None:
    """Show what checks found of each release of a range: a result alone would show it of none."""
    if len(context.partition_keys) == 1:
        return
    for verdict in verdicts:
        context.log_event(
            dg.AssetCheckEvaluation(
                asset_key=on[verdict.promise],
                check_name=verdict.promise,
                passed=verdict.passed,
                metadata=metadata_of(verdict),
                description=words_of(verdict),
                partition=release,
            )
        )


def _verdict_on(name: str, done: Done) -> Verdict:
    """The verdict on a promise; a release of earlier software may not have been checked for it."""
    found = [verdict for verdict in done.verdicts if verdict.promise == name]
    if not done.is_kept and not found:
        return Verdict(name, passed=True, figures={})
    return found[0] if found else no_verdict(name, "Not checked when the release was published.")


def _is_judged(name: str, done: Done) -> bool:
    """True if a promise was looked at; a release published before its check was there is not refused."""
    return any(verdict.promise == name for verdict in done.verdicts)


def _result(verdict: Verdict, on: Mapping[str, dg.AssetKey], *, blocks: bool = True) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        passed=verdict.passed,
        asset_key=on[verdict.promise],
        check_name=verdict.promise,
        metadata=metadata_of(verdict),
        description=words_of(verdict),
        severity=dg.AssetCheckSeverity.ERROR if blocks else dg.AssetCheckSeverity.WARN,
    )
