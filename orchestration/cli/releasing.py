"""What `republish release` does before it needs Dagster: most of the time it finds nothing to make."""
# ruff: noqa: PLC0415 - with nothing to make, nobody waits for Dagster

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from anonymize.errors import ContractError
from orchestration.contracts.registry import register
from orchestration.series.due import none_is_due
from orchestration.series.series import Series, named
from orchestration.storage.home import only_one, sync
from orchestration.storage.manifest import verify_series

if TYPE_CHECKING:
    from dagster import DagsterInstance

UNFINISHED = ".unfinished"
"""There while a command has Dagster open, and after one that did not end as it should."""


@contextmanager
def releasing(series: Series) -> Iterator[Callable[[], DagsterInstance]]:
    """No other command releases the same series meanwhile; yields what opens Dagster, once it is needed.

    If the last command was killed, its runs look to Dagster as if they were running: they are ended first.
    """
    unfinished = series.private_folder / UNFINISHED
    with (
        only_one(series.private_folder, f"series {series.name}", name=".releasing"),
        ExitStack() as opened,
    ):
        register(series.home, series.file)

        @cache
        def dagster() -> DagsterInstance:
            from orchestration.dagster.releasing import dagster_instance, end_dead_runs

            instance = opened.enter_context(dagster_instance(series.home))
            _note(unfinished)
            end_dead_runs(series, instance)
            return instance

        if unfinished.exists():
            dagster()
        yield dagster
        opened.close()
        unfinished.unlink(missing_ok=True)  # after an error it stays: the next command ends dead runs


def _note(unfinished: Path) -> None:
    """Leave the file for the next command to find, also after a power cut."""
    unfinished.touch(mode=0o600)
    sync(unfinished.parent)


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
    with series.locked():
        published = [release for release in series.due if series.is_published(release)]
        if published:
            verify_series(series.published_folder)
            series.verify(published[-1])  # no later manifest vouches for the last one: history does
    return [release for release in due if release not in published]


def _due(series: Series, through: str | None) -> list[str]:
    due = series.due
    if not due:
        raise ContractError(str(series.file.path), [("releases.first", none_is_due(series.file))])
    if through is None:
        return due
    if through not in due:
        before = [release for release in due if release < through][-1:]
        after = [release for release in due if release > through][:1]
        nearest = " and ".join(before + after)
        message = f"{through} is no release that is due; the nearest are {nearest}, due are {named(due)}"
        raise ContractError("--through", [("", message)])
    return due[: due.index(through) + 1]
