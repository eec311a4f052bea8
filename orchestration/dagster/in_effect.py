"""What a changed contract changes, and from which release on: published releases stay as they are."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

from republish.anonymize.errors import RepublishError
from republish.orchestration.chain.changes import contract_changes, describe_changes
from republish.orchestration.contracts.schedule import ticks
from republish.orchestration.dagster.names import job_name
from republish.orchestration.over_releases import what_changed
from republish.orchestration.series.calendar import FORMAT
from republish.orchestration.series.release_record import ReleaseRecord
from republish.orchestration.series.series import Series
from republish.orchestration.storage.manifest import MANIFEST
from republish.orchestration.storage.store import read_json

NOTHING_YET = (
    "No release of {series} is published yet. Dagster's daemon knows new assets a minute after *Reload"
    " definitions*: a backfill that fails because an asset *existed at storage-time, but no longer does* was"
    " begun too early. Begin it again."
)


def not_applied(series: Series, committed: ReleaseRecord) -> str:
    """What of the contract a published release was made without, in words; empty if nothing."""
    if not committed.not_applied:
        return ""
    changes = ", ".join(_changed(series, committed.declared, committed.parameters))
    beginning = _next_release(series)
    what = (
        f"Already published; {' and '.join(committed.not_applied)} not applied{changes and f' ({changes})'}."
    )
    return f"{what} What changed holds from {beginning} on." if beginning else what


def in_effect(series: Series) -> str:
    """What the next release is made with, and since or from when, in Markdown.

    It is read as definitions are loaded: whatever is wrong with the home is said by the next release.
    """
    releases = series.releases
    if not releases:
        return NOTHING_YET.format(series=series.name)
    last, first = releases[-1], releases[0]
    stated = read_json(series.published(last) / MANIFEST) or {}
    try:
        record = series.record(last)
    except RepublishError:
        record = None
    declared = record.declared if record else {}
    if declared:
        changes = describe_changes(contract_changes(declared, series.contract))
    else:
        changes = _changed(series, {}, stated.get("principle", {}))
    beginning = _next_release(series)
    if not changes:
        return "A changed contract changes no published release: a backfill of these dates verifies them." + (
            f" The next release is {beginning}." if beginning else ""
        )
    holds = f"They hold from {beginning} on" if beginning else "There is no further release for them"
    stay = (
        f"{holds}. The releases from {first} to {last} stay as they are: a backfill verifies them, and says"
        " *Already published; parameters not applied*."
    )
    anew = (
        f"**To publish earlier dates with them, begin a new series**: in {series.file.path}, write another"
        f" `series`, with `supersedes: {series.contract.series}` (it goes on from this one) or"
        " `separate_readers: true` (nobody gets both). Choose *Deployment*, *Reload definitions*; then"
        f" *Materialize all* on the job `{job_name(series.contract.product)}`, from the first date on. The"
        " sensor and the schedule of the new series are off until somebody turns them on."
    )
    heading = f"**Changes in the contract since {last}, the last published release:**"
    return "\n".join([heading, "", *(f"- {change}" for change in changes), "", stay, "", anew])


def _changed(series: Series, declared: Mapping[str, Any], parameters: Mapping[str, Any]) -> list[str]:
    """Each difference from the present contract, as far as it is known: `m 4 → 5`."""
    if declared:
        return [f"{change.name} {change.says}" for change in contract_changes(declared, series.contract)]
    present = series.contract.principle.model_dump(mode="json")
    return list(what_changed([parameters, present]).values())


def _next_release(series: Series) -> str | None:
    """The first release that is not published, be it due or not; None if there is none any more."""
    if (due := series.next_due) is not None:
        return due
    releases, last = series.contract.releases, next(reversed(series.calendar.due), "")
    if releases.dates:
        return next((f"{date:{FORMAT}}" for date in releases.dates if f"{date:{FORMAT}}" > last), None)
    if releases.cron is None:
        return None
    first = dt.date.fromisoformat(series.file.first_release)
    after = next((tick for tick in ticks(releases.cron, first) if f"{tick:{FORMAT}}" > last), None)
    if after is None or (releases.last is not None and after.date() > releases.last):
        return None
    return f"{after:{FORMAT}}"
