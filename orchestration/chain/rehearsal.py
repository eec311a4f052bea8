"""Releases made for a try: of the snapshots that are there, by the chain itself, in a home that is deleted.

`republish validate` rehearses the next release, or one after the other, and `republish compare` the first
ones of several contracts. Nothing is published there: a release can be built on one that passed its audit.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from republish.orchestration.chain.candidate import compute_candidate
from republish.orchestration.chain.delta import compare_snapshots
from republish.orchestration.chain.shard import draw_candidate, people_of
from republish.orchestration.engine import the_engine
from republish.orchestration.series.release_record import ReleaseRecord, read_state
from republish.orchestration.series.series import Series
from republish.orchestration.series.shards import ShardJob, jobs_of
from republish.orchestration.storage.home import Home, private_folder
from republish.orchestration.storage.scratch import scratch_folder


@contextmanager
def rehearsal(series: Series, *, anew: bool = False) -> Iterator[Series]:
    """The series in a temporary home that reads the real one: nothing of what is made there gets out.

    Parameters
    ----------
    anew
        Whether that home has nothing but the key of the real one, so that the series is not begun there.
    """
    with scratch_folder() as folder:
        home = Home.at(folder / "home")
        if anew:
            _copy_files(series.home.path, home.path, "secret.key")
        else:
            _mirror(series, home.path)
        contract = series.contract.model_copy(update={"published_to": None})
        file = replace(series.file, contract=contract)
        yield replace(series, home=replace(home, is_rehearsal=True), file=file)


def _mirror(series: Series, place: Path) -> None:
    """Have all of a series' home in another place: its files as copies, folders of releases as links.

    Releases of the series that are not published are left out, for these are made there; so is what a
    process is writing at the moment, whose names begin with a dot.
    """
    real = series.home.path
    _copy_files(real, place, besides=series.home.history.name)
    series.history.copy(place)  # as no process is writing it
    for folder in sorted([*real.glob("private/*"), *real.glob("private/*/*"), *real.glob("published/*/*")]):
        own = place / folder.relative_to(real)
        if not folder.is_dir() or any(part.startswith(".") for part in own.relative_to(place).parts):
            continue
        private_folder(own)
        _copy_files(folder, own)
        if folder.parent.parent.parent == real:
            for release in folder.glob("[!.]*/"):
                if folder != series.private_folder or series.is_published(release.name):
                    (own / release.name).symlink_to(release, target_is_directory=True)


def _copy_files(folder: Path, into: Path, names: str = "[!.]*", besides: str = "/") -> None:
    """Copy a folder's files with such names, but for those that begin in one way."""
    for file in folder.glob(names):
        if file.is_file() and not file.name.startswith(besides):
            shutil.copy2(file, into)


def rehearse(tried: Series, release: str) -> ReleaseRecord:
    """Make and audit the next release of a rehearsed series, whose snapshot was taken there.

    Raises
    ------
    RepublishError
        What the release would be refused with (`compare_snapshots`, `compute_candidate`).
    """
    compare_snapshots(tried, release)
    return compute_candidate(tried, release)


def held_back_next(tried: Series, release: str, made: ReleaseRecord) -> int:
    """How many people the release after a rehearsed one would hold back, if its table were the same.

    Those are people whose values come and go: they may be published for some releases and not for ever.
    """
    sensitive = tried.contract.sensitive
    if sensitive is None or sensitive.semantics != "transient":
        return 0
    number = tried.chain_number(release) + 1
    jobs = [replace(job, number=number) for job in jobs_of(tried, release, tried.private(release))]
    return sum(the_engine().run(partial(held_back_of_shard, made.files), jobs))


def held_back_of_shard(files: Mapping[str, str], job: ShardJob) -> int:
    """How many people of a shard its job's release would hold back, built on the files of the one before."""
    state = read_state(job.own, ReleaseRecord({}, files=files).of_shard(job.shard.place))
    people = people_of(job.shard, job.release, job.own)
    return draw_candidate(job.shard, job.release, job.number, people, state).figures.held_back
