"""The chain run dry: a release made in a folder that is deleted afterwards, and never published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from republish.anonymize.principle.candidate import ReleaseFigures
from republish.orchestration.chain.candidate import make_whole
from republish.orchestration.chain.delta import compare
from republish.orchestration.chain.inputs import people_of
from republish.orchestration.chain.making import Clock, draw_candidate
from republish.orchestration.engine import the_engine
from republish.orchestration.series.lock import check
from republish.orchestration.series.predecessor import predecessor_of
from republish.orchestration.series.recorded import verify_published
from republish.orchestration.series.release_record import ReleaseRecord, read_state
from republish.orchestration.series.series import Series
from republish.orchestration.series.shards import ShardJob, jobs_of


def with_home_untouched(series: Series) -> Series:
    """A series in a home that stays as it is: no key is made in it."""
    return replace(series, home=series.home.untouched())


def refuse_damaged(series: Series) -> None:
    """Check what a series has published, as every release does before anything else.

    Raises RepublishError as `Series.locked_for` and `Series.verify_published` do.
    """
    check(series)
    verify_published(series)


@dataclass(frozen=True)
class DryRun:
    """The outcome of a release that is not published."""

    figures: ReleaseFigures
    waiting: int
    """How many people would wait, where all who are new do: it is known that they share a value too often."""
    held_back_next: int
    """How many people the release after it would hold back, if its table were the same."""


def dry_run(series: Series, release: str, folder: Path) -> DryRun:
    """Make the candidate that a release would be made of, and audit it; nothing is written in the home.

    Parameters
    ----------
    series
        What `with_home_untouched` returned.
    release
        The next one that is not published.
    folder
        In place of its private folder: `look_at_snapshot` has put its snapshot there.

    Raises
    ------
    RepublishError
        Whatever `compare_snapshots` and `compute_candidate` would refuse it with.
    """
    predecessor = predecessor_of(series, release)
    compare(series, release, predecessor, folder)
    made = make_whole(series, release, predecessor, folder, Clock())
    sensitive, held_back_next = series.contract.sensitive, 0
    if sensitive is not None and sensitive.semantics == "transient":
        # Values come and go: people may be published for some releases and not for ever.
        jobs = jobs_of(series, release, folder, predecessor)
        held_back_next = sum(the_engine().run(partial(forecast, made.files), jobs))
    return DryRun(made.figures, int(made.audit.figures.get("waiting") or 0), held_back_next)


def forecast(files: Mapping[str, str], job: ShardJob) -> int:
    """How many people of a shard the release after this one would hold back, if its table were the same."""
    state = read_state(job.own, ReleaseRecord({}, files=files).of_shard(job.shard.place))
    people = people_of(job.shard, job.release, job.own)
    return draw_candidate(job.shard, job.release, job.number + 1, people, state).figures.held_back
