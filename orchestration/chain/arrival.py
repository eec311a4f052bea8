"""The arrival of a release's snapshot."""

from __future__ import annotations

from republish.anonymize.errors import SnapshotError
from republish.orchestration.series.series import Series
from republish.orchestration.snapshots.sources import source_of


def has_arrived(series: Series, release: str) -> bool:
    """Whether a release's snapshot is there; without it, and without any later one, the release waits.

    Raises SnapshotError if it is missing and a later one is there, or the source can't be asked.
    """
    if source_of(series.file, release).exists():
        return True
    if later := missing_before(series, release):
        place = source_of(series.file, release).place
        way = never_comes(series, release, later)
        raise SnapshotError(f"{series.name} {release}: its snapshot is missing: {place}. {way}")
    return False


def missing_before(series: Series, release: str) -> str | None:
    """A release after a snapshot that is missing, whose own has arrived."""
    if source_of(series.file, release).exists():
        return None
    after = series.due[series.number(release) :]
    return next((later for later in after if source_of(series.file, later).exists()), None)


def never_comes(series: Series, release: str, later: str) -> str:
    """The way out where a snapshot is missing while a later one is there."""
    is_first = series.chain_number(release) == 1
    once_more = "deliver the one before it once more, under this date"
    way = f"let releases.first be {later}" if is_first else once_more
    return f"That of {later} is there: if this one never comes, {way}"
