"""The arrival of a release's snapshot."""

from __future__ import annotations

import difflib
import os
import re
from pathlib import Path

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
        why = never_comes(series, release, later)
        raise SnapshotError(f"{series.name} {release}: its snapshot is missing, {place}. {why}")
    return False


def missing_before(series: Series, release: str) -> str | None:
    """A release after a snapshot that is missing, whose own has arrived."""
    if source_of(series.file, release).exists():
        return None
    after = series.calendar.due[series.calendar.number(release) :]
    return next((later for later in after if source_of(series.file, later).exists()), None)


def never_comes(series: Series, release: str, later: str) -> str:
    """The way out where a snapshot is missing while a later one is there."""
    if series.contract.releases.dates:
        return f"That of {later} is there: if this one never comes, take {release} out of releases.dates"
    if series.calendar.previous(release) is None:
        return (
            f"That of {later} is there: if this one never comes, begin with that one: releases.first: {later}"
        )
    return (
        f"That of {later} is there: if this one never comes, deliver the one before it once more, under this"
        " date"
    )


def misnamed(series: Series, release: str) -> str:
    """A hint if a file beside a snapshot that is missing may be this snapshot under a wrong name.

    Files that are called as it but for other digits are those of other dates.
    """
    expected = Path(source_of(series.file, release).place)
    if not os.access(expected.parent, os.R_OK):
        return ""
    read = {Path(source_of(series.file, due).place).name for due in series.calendar.due}
    beside = {
        _shape(file.name).casefold(): file.name
        for file in sorted(expected.parent.iterdir())
        if file.name not in read and _shape(file.name) != _shape(expected.name)
    }
    close = difflib.get_close_matches(_shape(expected.name).casefold(), beside, n=1, cutoff=0.8)
    return f"; no release reads {beside[close[0]]} beside it: is that the one? Rename it" if close else ""


def _shape(name: str) -> str:
    return re.sub(r"\d", "0", name)
