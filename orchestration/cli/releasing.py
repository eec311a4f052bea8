"""The due releases of a contract, made in order. Mostly there is none to make: Dagster is not loaded then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from republish.anonymize.errors import ContractError
from republish.anonymize.people.rows import counted_in
from republish.anonymize.principles import principle_of
from republish.orchestration.chain.arrival import has_arrived, misnamed
from republish.orchestration.cli.terminal import confirm, out
from republish.orchestration.cli.work import Work
from republish.orchestration.contracts.contract_file import ContractFile
from republish.orchestration.contracts.registry import register
from republish.orchestration.dagster import workers
from republish.orchestration.expectations import start_judge
from republish.orchestration.series.homes import is_found_above, series_at
from republish.orchestration.series.lock import locked, named
from republish.orchestration.series.recorded import verify_published
from republish.orchestration.series.series import Series
from republish.orchestration.snapshots.sources import source_of
from republish.orchestration.storage.home import RELEASING, Home, only_one
from republish.orchestration.storage.manifest import MANIFEST, release_folders
from republish.orchestration.storage.store import read_json

if TYPE_CHECKING:
    from dagster import DagsterInstance

    from republish.orchestration.dagster.run import Released


@dataclass(frozen=True)
class Made:
    """The outcome of a command that makes releases."""

    folder: Path
    """The published series."""
    waits: bool
    """Whether a due release has to wait."""


def make_due_releases(
    file: ContractFile,
    through: str | None,
    home: Path | None,
    *,
    without_upstream: bool = False,
    yes: bool = False,
) -> Made:
    """Make every due release of a contract that is not published yet, and print a line on each.

    Parameters
    ----------
    through
        The last release to make; None for all that are due.
    without_upstream
        Whether to make releases before the assets upstream of them are materialized.
    yes
        Whether a first release may be made in a home that nobody has named, without a question.

    Raises
    ------
    RepublishError
        What refused a release; nothing of it is published.
    """
    place = series_at(file, home).home.path
    if home is None and not yes:
        _ask_about(file, place)
    series = Series(file, Home.at(place))
    waits = False
    with Work(series.name) as work, releasing(series) as dagster:
        work.step("verifying what is published")
        unpublished = releases_to_make(series, through)
        if file.contract.retention is not None:
            from republish.orchestration.rights.retention import forget_absent

            # Each release does so once it is published; the last one may have been killed before it did.
            forget_absent(series, releasing=True)
        if unpublished:
            work.print(f"{series.name} is published in {_shown(place)}")
        work.parts, work.pace = len(unpublished), _seconds_of_the_last(series, unpublished)
        for release in unpublished:
            work.begin(release)
            if reason := _waits_for(series, release, None if without_upstream else dagster):
                work.print(f"{release}  waits for {reason}")
                waits = True
                break
            start_judge()  # it gets ready while Dagster does
            began = time.perf_counter()
            from republish.orchestration.dagster.run import make_release

            imports = time.perf_counter() - began
            released = make_release(series, release, dagster())
            gone = _forgotten(series, release)
            work.print(_line(released, work.end(), counted_in(series.contract), imports, gone))
    for sentence in principle_of(file.contract).advice(file.contract) if work.done else ():
        out.print(f"{series.name}: {sentence}")
    if not work.done and not waits:
        out.print(f"{series.name}: every release that is due is published, and is as it was published")
    return Made(series.published_folder, waits)


def _ask_about(file: ContractFile, home: Path) -> None:
    """Ask whether a product is to be published in a home that nobody has named, and that has nothing of it.

    Raises
    ------
    ContractError
        If nobody can be asked.
    typer.Abort
        If the answer is no.
    """
    product = file.contract.product
    if not is_found_above(file, home) or any(release_folders(home / "published" / product)):
        return
    if not sys.stdin.isatty():
        message = (
            f"{home} was found above {file.path}, and nothing of {product} is published there yet. Name the"
            " home by --home or REPUBLISH_HOME, or say that it is the one by --yes"
        )
        raise ContractError("--home", [("", message)])
    confirm(f"Publish {product} for the first time in the home {home}, which was found above its contract?")


def _shown(home: Path) -> Path:
    """A home as somebody in the working folder calls it."""
    return home.relative_to(Path.cwd()) if home.is_relative_to(Path.cwd()) else home


def _waits_for(series: Series, release: str, dagster: Callable[[], DagsterInstance] | None) -> str | None:
    """The reason why a due release has to wait; None if it can be made.

    Dagster is asked for upstream assets, if the contract names any and the caller gives a Dagster to ask.
    """
    if not has_arrived(series, release):
        return f"its snapshot: {source_of(series.file, release).place}{misnamed(series, release)}"
    if dagster is None or not series.contract.upstream:
        return None
    from republish.orchestration.dagster.upstream import missing_upstream

    key = missing_upstream(series, release, dagster())
    if key is None:
        return None
    return (
        f"{key.to_user_string()}, which is not materialized for it in the Dagster of {series.home.dagster}."
        " If you know that the snapshot is complete, release it with --without-upstream"
    )


def _seconds_of_the_last(series: Series, unpublished: list[str]) -> float | None:
    """The seconds of the last release that is recorded: the next one takes about as long."""
    before = series.calendar.previous(unpublished[0]) if unpublished else None
    record = series.record(before) if before else None
    return sum(record.seconds.values()) if record else None


def _forgotten(series: Series, release: str) -> int:
    """How many rows of a snapshot were left out, because the people asked to be forgotten for good."""
    from republish.orchestration.chain.snapshot import FORGOTTEN_STATED, KEPT

    return int((read_json(series.private(release) / KEPT) or {}).get(FORGOTTEN_STATED, 0))


def _line(released: Released, seconds: float, what: str, imports: float, forgotten: int) -> str:
    """A line on a release, with the seconds that were waited for it by what they were spent on.

    The first release of a command waits until what makes releases is imported, Dagster most of all. *Dagster*
    is what it takes to open its tables, and to note a run there.
    """
    took = ({"imports": imports} if imports >= 0.05 else {}) | released.seconds
    took["dagster"] = seconds - sum(took.values())
    spent = ", ".join(f"{part} {one:.1f}" for part, one in took.items())
    counts = released.counts
    held_back = f"  {counts.held_back:,} held back" if counts.held_back else ""
    without = sum(((read_json(released.folder / MANIFEST) or {}).get("left_out") or {}).values())
    held_back += f"  {without:,} left out" if without else ""
    held_back += f"  {forgotten:,} forgotten for good" if forgotten else ""
    return (
        f"{released.release}  published  {counts.people:>9,} {what}  {counts.groups:>7,} groups"
        f"  {counts.counterfeits:>5,} counterfeits{held_back}  {seconds:5.1f} s ({spent})"
    )


@contextmanager
def releasing(series: Series) -> Iterator[Callable[[], DagsterInstance]]:
    """No other command releases the same series meanwhile; yields what opens Dagster, once it is needed.

    Runs of a process that was killed look to Dagster as if they were running: they are ended first.
    """
    with (
        only_one(series.private_folder, f"series {series.name}", name=RELEASING),
        ExitStack() as opened,
    ):
        register(series.home, series.file)

        @cache
        def dagster() -> DagsterInstance:
            from republish.orchestration.dagster.instance import dagster_instance, end_dead_runs

            instance = opened.enter_context(dagster_instance(series.home))
            opened.callback(_report, series, instance)
            end_dead_runs(series.home, instance)
            return instance

        if workers.left(series.home):
            dagster()
        yield dagster


def _report(series: Series, instance: DagsterInstance) -> None:
    """Note whether releases are late or failed. What can't be noted changes nothing of what was released."""
    from republish.orchestration.dagster.watch import report

    with suppress(Exception):
        report(series, instance)


def releases_to_make(series: Series, through: str | None) -> list[str]:
    """The due releases that are not published, up to and with `through`.

    Published ones are verified: their files and the chain of their manifests.

    Raises
    ------
    ContractError
        If `through` is not one of the contract's releases that are due, or the contract is not the one
        that the series was begun with.
    PublishedFolderError
        If a published release was changed or is gone.
    HomeError
        If the series can't be gone on with: another key, a newer history.
    """
    due = _due(series, through)
    with locked(series):
        verify_published(series)
    return [release for release in due if not series.is_published(release)]


def _due(series: Series, through: str | None) -> list[str]:
    due = series.calendar.due
    if not due:
        key = "releases.dates" if series.contract.releases.dates else "releases.first"
        raise ContractError(str(series.file.path), [(key, series.calendar.none_is_due())])
    if through is None:
        return due
    if through not in due:
        before = [release for release in due if release < through][-1:]
        after = [release for release in due if release > through][:1]
        nearest = " and ".join(before + after)
        message = f"{through} is no release that is due; the nearest are {nearest}, due are {named(due)}"
        raise ContractError("--through", [("", message)])
    return due[: due.index(through) + 1]
