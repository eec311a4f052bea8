"""The predecessor of a release: the release before as it was left, read once and handed on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from republish.anonymize.errors import HomeError
from republish.anonymize.principle.state import State
from republish.anonymize.promise import Promise
from republish.orchestration.series.recorded import verify
from republish.orchestration.series.release_record import (
    ReleaseRecord,
    is_unchanged,
    read_knowledge,
    read_state,
)
from republish.orchestration.series.series import Series

if TYPE_CHECKING:
    from republish.anonymize.attack.knowledge import Knowledge


@dataclass(frozen=True)
class Predecessor:
    """The release before, in this series or in the one that it goes on from; of a first release, nothing."""

    folder: Path | None = None
    """Its working files."""
    committed: ReleaseRecord | None = None
    """Its candidate, as it is recorded there."""

    @property
    def promises(self) -> tuple[Promise, ...]:
        """Promises of the releases so far to the people they published first."""
        return self.committed.promises if self.committed else ()

    @property
    def declared(self) -> Mapping[str, Any] | None:
        """The columns and the principle that the contract declared then."""
        return self.committed.declared if self.committed else None

    def of_shard(self, place: str) -> Predecessor:
        """Itself for one shard, whose files are in a folder of that name; the whole if it is empty."""
        if self.folder is None or self.committed is None:
            return Predecessor(self.folder and self.folder / place)
        return Predecessor(self.folder / place, self.committed.of_shard(place))

    @cached_property
    def state(self) -> State:
        """The principle's memory."""
        if self.folder is None or self.committed is None:
            return State.empty()
        return read_state(self.folder, self.committed)

    @cached_property
    def knowledge(self) -> Knowledge | None:
        """An adversary's memory."""
        if self.folder is None or self.committed is None:
            return None
        return read_knowledge(self.folder, self.committed)


def predecessor_of(series: Series, release: str) -> Predecessor:
    """The predecessor of a release, as far as it is there; `verify_predecessor` checks it."""
    if previous := series.calendar.previous(release):
        return Predecessor(series.private(previous), series.record(previous))
    former = series.superseded
    return Predecessor(former.folder, former.committed) if former else Predecessor()


def verify_predecessor(series: Series, release: str, predecessor: Predecessor) -> None:
    """Check that the release before is there as it was left, and is the one that was published.

    Raises
    ------
    HomeError
        If it is not there, or its working files are not those of the release that was published.
    PublishedFolderError
        If its published folder was changed.
    """
    previous = series.calendar.previous(release)
    if previous is None:
        return  # a series that is gone on from was looked at when it was found
    folder, committed = series.private(previous), predecessor.committed
    if committed is None or not is_unchanged(folder, committed):
        raise HomeError(f"{series.name} {release} is built on {previous}. {_way_to(series, previous)}")
    if series.is_published(previous) and not committed.has_tables_of(verify(series, previous)):
        raise HomeError(
            f"{series.name} {release} is built on {previous}, and the working files in {folder} are those of"
            " another candidate than the one that was published: put them back from a copy, or begin a new"
            " series"
        )


def _way_to(series: Series, previous: str) -> str:
    """The way out where the release before is not there to build on."""
    if series.is_published(previous):
        return (
            f"It is published, but its working files in {series.private(previous)} are gone or were changed:"
            " put them back from a copy, or begin a new series"
        )
    return "There is none of that date with its audit passed: release that one first"
