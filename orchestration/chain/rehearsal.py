"""Releases of all snapshots that are there, made one after the other in a home that is deleted afterwards.

They are chained, audited and published there as in the series' own home: a dry run of one release says
nothing of the next one, which is built on it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from republish.anonymize.principle.candidate import ReleaseFigures
from republish.orchestration.chain.candidate import compute_candidate
from republish.orchestration.chain.delta import compare_snapshots
from republish.orchestration.chain.publication import publish
from republish.orchestration.chain.snapshot import take_snapshot
from republish.orchestration.series.series import Series
from republish.orchestration.storage.home import Home
from republish.orchestration.storage.scratch import scratch_folder

NOT_COPIED = ("dagster", ".lock", ".releasing")
"""Of a home: what the chain does not read."""


@contextmanager
def rehearsal(series: Series) -> Iterator[Series]:
    """The series in a copy of its home, in which releases may be made: nothing of it gets out."""
    with scratch_folder() as folder:
        place = folder / "home"
        if series.home.path.is_dir():
            shutil.copytree(
                series.home.path, place, ignore=shutil.ignore_patterns(*NOT_COPIED), symlinks=True
            )
        contract = series.contract.model_copy(update={"published_to": None})
        home = replace(Home.at(place), is_rehearsal=True)
        yield replace(series, home=home, file=replace(series.file, contract=contract))


def rehearse(series: Series, release: str) -> tuple[int, ReleaseFigures]:
    """Make the next release of a rehearsed series: its people, and what was counted of it.

    Raises
    ------
    RepublishError
        What the release would be refused with.
    """
    people = take_snapshot(series, release).people
    compare_snapshots(series, release)
    counts = compute_candidate(series, release).counts
    publish(series, release)
    assert counts is not None, "a candidate that was committed is counted"
    return people, counts
