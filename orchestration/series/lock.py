"""The lock of a series. Whoever takes it finds the series as it was left, or is refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from republish.anonymize.errors import ContractError, HomeError, PublishedFolderError
from republish.orchestration.series.calendar import today
from republish.orchestration.series.facts import FACTS, SHARDS, Facts
from republish.orchestration.series.other_series import note_last, refuse_siblings
from republish.orchestration.series.pending_erasures import refuse_unforgotten
from republish.orchestration.series.recorded import record_publication, recorded_facts, terms_of, verify
from republish.orchestration.series.series import Series
from republish.orchestration.storage.home import only_one
from republish.orchestration.storage.manifest import verify_release
from republish.orchestration.storage.replacing import settle_replacing
from republish.orchestration.storage.store import clear_partial


@contextmanager
def locked_for(series: Series, release: str) -> Iterator[Path]:
    """Lock a series while working on a release; yields the release's private folder.

    Raises
    ------
    HomeError
        If the release is not due, the series was begun with another key, the history by newer
        software, or another run has the lock; or if people have to be forgotten again before it.
    ContractError
        If the contract is not the one the series was begun with where that can't change.
    PublishedFolderError
        If a release that was published is gone, or is not as it was published.
    """
    is_early = series.home.is_rehearsal and release == series.file.first_release
    if release not in series.calendar.due and not is_early:
        raise HomeError(
            f"{series.name} {release}: is not due. This machine's clock says {today()}: make it on its date,"
            " or set the clock right"
        )
    with locked(series):
        if not series.is_published(release):
            refuse_unforgotten(series, release)
        for folder in (series.private(release), *series.private(release).glob("shard-*")):
            clear_partial(folder)
        yield series.private(release)


@contextmanager
def locked(series: Series) -> Iterator[None]:
    """Check that a series is unchanged, then lock it. Raises as `locked_for` does."""
    with only_one(series.private_folder, f"series {series.name}"):
        settle_replacing(series.home, series.private_folder.parent)
        clear_partial(series.private_folder)
        on_disk = check(series)
        clear_partial(series.published_folder)
        vouched, in_history = recorded_facts(series).published, _in_history(series)
        for release in on_disk:
            if release not in in_history:
                verify(series, release)
        for release in on_disk:
            if release not in vouched or release not in in_history:
                record_publication(series, release)
        note_last(series)
        yield


def check(series: Series) -> list[str]:
    """Check that releases can be added to a series, and change nothing; returns those on disk.

    Raises as `locked_for` does.
    """
    on_disk, facts = series.releases, recorded_facts(series)
    _refuse_lost(series, on_disk, {*facts.published, *_in_history(series)})
    _refuse_other_terms(series, on_disk, facts)
    _refuse_other_schedule(series, on_disk)
    refuse_siblings(series, series.file, begun=bool(on_disk))
    for release in on_disk:
        if release not in facts.published:
            _refuse_strange(series, release)
    return on_disk


def _in_history(series: Series) -> dict[str, str]:
    return series.history.published(series.product, series.series)


def _refuse_lost(series: Series, on_disk: list[str], recorded: set[str]) -> None:
    """Refuse to make a published release again whose folder is gone: somebody may have the first one."""
    if lost := sorted(recorded - set(on_disk)):
        raise PublishedFolderError(
            f"{series.published(lost[0])}: was published, and is not there any more. Put it back from a copy,"
            " or begin a new series"
        )


def _refuse_other_terms(series: Series, on_disk: list[str], facts: Facts) -> None:
    if not on_disk:
        return
    usual = {SHARDS: 1, "rows": "one"}
    begun, now = {**usual, **facts.terms}, {**usual, **terms_of(series)}
    said = f"but series {series.series} was begun with"
    _refuse(
        series,
        (
            (part, f"is {now[part]}, {said} {begun.get(part)}: begin a new series")
            for part in ("identifier", "sensitive", "principle", "supersedes", "rows", SHARDS)
            if begun.get(part) != now[part]
        ),
    )


def _refuse_other_schedule(series: Series, on_disk: list[str]) -> None:
    """A release's number and what it is built on follow from the dates: those of the past can't move."""
    first, last = series.calendar.due[: len(on_disk)], series.contract.releases.last
    if (dates := series.contract.releases.dates) and on_disk and on_disk != first:
        is_early = on_disk[-1] > today() and on_disk[-1] in map(str, dates)
        if not is_early:
            message = (
                f"they begin with {named([*map(str, dates[: len(on_disk)])])}, and published are"
                f" {named(on_disk)}: a release is built on all before it, so leave dates as they were and"
                f" write new ones behind {on_disk[-1]}, or begin a new series"
            )
            _refuse(series, [("releases.dates", message)])
    if len(first) < len(on_disk) and on_disk[: len(first)] == first and (not last or today() <= f"{last}"):
        raise HomeError(
            f"{series.published(on_disk[-1])}: is published, and by this machine's clock it is not due yet."
            f" The clock says {today()}: set it right; or leave releases.first and releases.cron as they were"
        )
    if on_disk != first:
        message = (
            f"by this schedule the first releases are {named(first) or 'none'}, and published are"
            f" {named(on_disk)}: leave releases.first and releases.cron as they were and releases.last behind"
            " the published ones, or begin a new series"
        )
        _refuse(series, [("releases", message)])


def _refuse(series: Series, faults: Iterable[tuple[str, str]]) -> None:
    if faults := list(faults):
        raise ContractError(str(series.file.path), faults)


def _refuse_strange(series: Series, release: str) -> None:
    """Refuse a fact that a run was killed before noting, unless its tables are those of its candidate."""
    stated, committed = verify_release(series.published(release)), series.committed(release)
    if committed is None or not committed.has_tables_of(stated):
        raise PublishedFolderError(
            f"{series.published(release)}: is not known to {series.private_folder / FACTS}. If the series"
            f" published it, {series.private_folder} is older than that: put it back from a newer copy; or"
            " move the release out of the home, republish backup the home, and republish restore that with"
            " --published. If the series did not publish it, take it away"
        )


def named(releases: list[str]) -> str:
    """Releases in a message: all of a few, or the first ones and the last."""
    if len(releases) <= 4:
        return ", ".join(releases)
    return f"{releases[0]}, {releases[1]}, …, {releases[-1]}"
