"""A step of a release as Dagster assets: the same loop, errors and checks for every step."""

import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
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

Yielded = dg.MaterializeResult[None] | dg.AssetCheckResult | dg.AssetCheckEvaluation | dg.Output[None]
ALREADY = "already published"
"""The entry of a published release that says what of the contract is not applied to it."""
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
    already: str = ""
    """Where the release is published: what of the contract is not applied to it."""


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

    check_specs = [
        dg.AssetCheckSpec(
            check.name,
            asset=on[check.name],
            description=check.promises,
            blocking=True,  # of a release that breaks a promise, nothing further is made
            partitions_def=release_partitions(file),
        )
        for check in step.checks
    ]

    @dg.multi_asset(
        name=f"{product}_{step.name}",
        specs=list(step.assets),
        check_specs=check_specs,
        partitions_def=release_partitions(file),
        backfill_policy=ONE_RUN,
    )
    def make(
        context: dg.AssetExecutionContext,
    ) -> Iterator[Yielded]:
        _refuse_another_series(context, described)
        if is_of(context.instance, described.home):
            hold(described.home, context.run.run_id)
        series = Series(file, described.home)  # the server's has read history when it began
        made: dict[str, Done] = {}
        for release in context.partition_keys:
            try:
                with _refusals():
                    refuse_other_home(series)
                    done = made[release] = step.work(series, release)
            except Refused as failure:
                yield from _note_failure(context, series, (step, *later), release, made, failure)
                raise
            _note(context, step, on, release, done)
        for spec in step.assets:
            yield dg.MaterializeResult(
                asset_key=spec.key,
                data_version=dg.DataVersion(file.contract.series),
                tags=tag,
            )
        for check in check_specs:
            if context.has_partition_key:
                verdict = _verdict_on(check.name, done)
                yield dg.AssetCheckResult(**_finding(on, verdict, blocks=_is_judged(check.name, done)))
            else:  # a result in a run of a range would be one of no partition: it is noted by release
                yield dg.Output(None, output_name=check.get_python_identifier())

    return make


def _note(
    context: dg.AssetExecutionContext, step: Step, on: Mapping[str, dg.AssetKey], release: str, done: Done
) -> None:
    """Note what a step made and found of one release."""
    context.log.info(f"{release}: {done.says}")
    if done.already:
        context.log.warning(f"{release}: {done.already}")
    for asset in step.assets:
        if entries := _entries(done, asset.key.path[-1]):
            context.add_asset_metadata(entries, asset_key=asset.key, partition_key=release)
    if not context.has_partition_key:
        for check in step.checks:
            verdict, blocks = _verdict_on(check.name, done), _is_judged(check.name, done)
            context.log_event(_evaluation(on, release, verdict, blocks=blocks))


def _note_failure(
    context: dg.AssetExecutionContext,
    series: Series,
    steps: Sequence[Step],
    release: str,
    made: Mapping[str, Done],
    failure: "Refused",
) -> Iterator[dg.AssetCheckEvaluation]:
    """Note what a run that fails found, after the releases before the one that failed are published.

    `steps` are the one that failed, which has `made` the releases before, and those after it.
    """
    step, *later = steps
    new = _finish(context, series, step, made, later)
    keep_facts(context, series, new)
    found = _found(failure, step)
    looked_at = {(check.name, one) for one in made for check in step.checks}
    looked_at |= {(verdict.promise, release) for verdict in found}
    _log_not_reached(context, series, steps, release, looked_at, new)
    if new:
        context.log.info(f"{', '.join(new)}: published before it failed")
    for verdict in found:
        yield _evaluation(_shown_on(series, step), release, verdict)


def _entries(done: Done, asset: str) -> dict[str, Any]:
    """The entries of an asset for the UI."""
    already = {ALREADY: done.already} if done.already else {}
    return {**already, **done.metadata.get(asset, {})}


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
                    asset.key, partition=release, metadata=_entries(its, name)
                )
                context.log_event(materialized)
        for one, its in steps[1:]:
            for verdict in its.verdicts:
                context.log_event(_evaluation(_shown_on(series, one), release, verdict))
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
    series: Series,
    steps: Sequence[Step],
    failed: str,
    looked_at: Collection[tuple[str, str]],
    new: Collection[str],
) -> None:
    """Note each check that a run which fails never came to.

    Dagster has no state for a check that was not looked at in a run that failed, and shows it as failed. Of
    a release that is published, it had passed. Of others, a warning that says so comes nearest.

    Parameters
    ----------
    steps
        The one that failed, and those after it.
    failed
        The release that it failed at.
    looked_at
        Checks of the first step, and releases that they have a verdict on.
    new
        Releases that were published all the same, whose checks are noted.
    """
    selected = context.run.asset_selection
    not_reached = (
        f"Not reached: {failed} was refused at {steps[0].name}, before this check was looked at. The check"
        " did not fail; the page of the run says what did."
    )
    passed = f"Already published: it passed then. This run ended at {failed}, before it was looked at again."
    for step in steps:
        for name, asset in _shown_on(series, step).items():
            if selected and asset not in selected:
                continue
            for release in context.partition_keys:
                if release in new or (step is steps[0] and (name, release) in looked_at):
                    continue
                is_published = series.is_published(release)
                context.log_event(
                    dg.AssetCheckEvaluation(
                        asset_key=asset,
                        check_name=name,
                        passed=is_published,
                        severity=dg.AssetCheckSeverity.WARN,
                        description=passed if is_published else not_reached,
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


def _evaluation(
    on: Mapping[str, dg.AssetKey], release: str, verdict: Verdict, *, blocks: bool = True
) -> dg.AssetCheckEvaluation:
    """What a check found of one release."""
    return dg.AssetCheckEvaluation(**_finding(on, verdict, blocks=blocks), partition=release)


def _finding(on: Mapping[str, dg.AssetKey], verdict: Verdict, *, blocks: bool) -> dict[str, Any]:
    """What a check found, as Dagster's classes name the parts of it."""
    return {
        "asset_key": on[verdict.promise],
        "check_name": verdict.promise,
        "passed": verdict.passed,
        "metadata": metadata_of(verdict),
        "description": words_of(verdict),
        "severity": dg.AssetCheckSeverity.ERROR if blocks else dg.AssetCheckSeverity.WARN,
    }


def _verdict_on(name: str, done: Done) -> Verdict:
    """The verdict on a promise; a release of earlier software may not have been checked for it."""
    found = next((verdict for verdict in done.verdicts if verdict.promise == name), None)
    if found is None:
        gone = Verdict(name, passed=True, figures={}, found="It passed; what it found is not kept any more.")
        found = no_verdict(name, "Not checked when the release was published.") if done.is_kept else gone
    return replace(found, found=" ".join(filter(None, (done.already, found.found))))


def _is_judged(name: str, done: Done) -> bool:
    """True if a promise was looked at; a release published before its check was there is not refused."""
    return any(verdict.promise == name for verdict in done.verdicts)
