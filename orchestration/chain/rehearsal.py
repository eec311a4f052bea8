"""The chain run dry: every step of a release but those that write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from anonymize.columns import IDENTIFIER
from anonymize.principle.candidate import ReleaseFigures
from anonymize.principle.state import State
from orchestration.chain.audit import Audit
from orchestration.chain.candidate import make_whole
from orchestration.chain.delta import compare, with_corrected
from orchestration.chain.inputs import people_of
from orchestration.chain.making import Clock, draw_candidate, make_audited, refuse_unfit, remembered_of
from orchestration.chain.same_people import refuse_same_people
from orchestration.chain.snapshot import Taken
from orchestration.engine import the_engine
from orchestration.series.basis import basis_of
from orchestration.series.committed import Committed, read_state
from orchestration.series.series import Series
from orchestration.series.shards import Shard, shards_of


def rehearsing(series: Series) -> Series:
    """The same series in a home that stays as it is: no key is made in it."""
    return replace(series, home=series.home.untouched())


def refuse_damaged(series: Series) -> None:
    """Check what a series has published, as every release does before anything else.

    Raises
    ------
    RepublishError
        As `Series.locked_for` and `Series.verify_published` do.
    """
    series.check()
    series.verify_published()


@dataclass(frozen=True)
class Rehearsed:
    """What a release would come to."""

    figures: ReleaseFigures
    waiting: int
    """How many people would wait, where all who are new do: it is known that they share a value too often."""
    held_back_next: int
    """How many people the release after it would hold back, if its table were the same."""


def rehearse(series: Series, release: str, taken: Taken, folder: Path) -> Rehearsed:
    """Make the candidate that a release would be made of, and audit it; nothing is written in the home.

    Parameters
    ----------
    series
        What `rehearsing` returned.
    release
        The next one that is not published.
    taken
        As `look_at_snapshot` found it.
    folder
        Where it has put the shards of people who are divided.

    Raises
    ------
    RepublishError
        Whatever `compare_snapshots` and `compute_candidate` would refuse it with.
    """
    basis, clock = basis_of(series, release), Clock()
    (first, *others) = taken.shards
    if isinstance(first, Path):
        compare(series, release, taken.shards, basis, folder)
        made = make_whole(series, release, basis, folder, clock)
        jobs = [
            _Job(shard, release, folder, part.files)
            for shard, part in zip(shards_of(series), made.shards, strict=True)
        ]
        held_back_next = sum(the_engine().run(forecast, jobs)) if _may_run_out(series) else 0
        return Rehearsed(made.figures, _waiting(made.audit), held_back_next)
    assert not others
    changes = compare(series, release, taken.shards, basis).changes
    assert changes is not None
    refuse_unfit(series, release, basis)
    refuse_same_people(series, [first.table[IDENTIFIER]])
    people, before = with_corrected(first.table, changes), remembered_of(series, release, basis)
    shard = Shard(series)
    alone = make_audited(shard, release, series.chain_number(release), people, before, clock)
    figures, state = alone.candidate.figures, alone.candidate.state
    held_back_next = _held_back(shard, release, people, state) if _may_run_out(series) else 0
    return Rehearsed(figures, _waiting(alone.audit), held_back_next)


def _waiting(audit: Audit) -> int:
    return int(audit.figures.get("waiting") or 0)


def _may_run_out(series: Series) -> bool:
    """Whether values come and go: then people may be published for some releases and not for ever."""
    sensitive = series.contract.sensitive
    return sensitive is not None and sensitive.semantics == "transient"


def _held_back(shard: Shard, release: str, people: pl.DataFrame, state: State) -> int:
    """How many people the release after this one would hold back, if its table were the same."""
    number = shard.series.chain_number(release) + 1
    return draw_candidate(shard, release, number, people, state).figures.held_back


@dataclass(frozen=True)
class _Job:
    """A shard of a release that was rehearsed, and its files in a folder."""

    shard: Shard
    release: str
    folder: Path
    files: Mapping[str, str]


def forecast(job: _Job) -> int:
    """How many people of a shard the release after this one would hold back."""
    own = job.shard.within(job.folder)
    state = read_state(own, Committed({}, files=job.files).of_shard(job.shard.place))
    return _held_back(job.shard, job.release, people_of(job.shard, job.release, own), state)
