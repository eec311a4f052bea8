"""The answer of `republish validate`: the snapshots that are there, changes, and the next release."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from anonymize.contract.changes import declared_columns
from anonymize.errors import RepublishError, SnapshotError
from orchestration.chain.arrival import has_arrived
from orchestration.chain.changes import contract_changes, describe_changes, refuse_changes
from orchestration.chain.dry_run import dry_run, refuse_damaged, with_home_untouched
from orchestration.chain.snapshot import (
    KEPT,
    LEFT_OUT_STATED,
    Taken,
    digest_of_source,
    first_shard,
    look_at_snapshot,
)
from orchestration.expectations import start_judge
from orchestration.series.due import none_is_due
from orchestration.series.predecessor import predecessor_of
from orchestration.series.series import Series
from orchestration.snapshots.missing import in_words
from orchestration.snapshots.profile import HEADS, levels, lumpy_columns, profile
from orchestration.snapshots.sources import source_of
from orchestration.storage.scratch import scratch_folder
from orchestration.storage.store import read_json

Say = Callable[[str], None]
SMALL_BATCH = 1_000
"""If fewer people wait together, this is said: of so few, the value that is too frequent is seldom known."""
FEWEST_IN_A_SHARD, PEOPLE_IN_A_SHARD, MOST_IN_A_SHARD = 1_000_000, 2_000_000, 5_000_000
"""People of a shard: fewer lengthen intervals, so many fit into 2 GiB, and more take more than 4."""


def examine(series: Series, say: Say, *, profiles: bool = False) -> int:
    """Look at a series and its snapshots, and run the chain dry for the next release. Nothing is changed.

    Parameters
    ----------
    profiles
        Whether to say what is in the columns of the next snapshot, and of those that are refused. The lowest
        and the highest values are people's: they are for the publisher's eyes alone.

    Returns
    -------
    int
        The exit code of the first refusal, as `republish release` would have it; 0 if nothing is refused.
    """
    series, show = with_home_untouched(series), say if profiles else lambda _line: None
    due, first = series.due, series.file.first_release
    # The first snapshot may be looked at before its date.
    waiting = [release for release in due or [first] if not series.is_published(release)]
    _say_what_is_there(series, waiting, say)
    refusals = []
    try:
        refuse_damaged(series)
    except RepublishError as refusal:
        say(f"  no release could be made: {refusal}")
        refusals.append(refusal)
    may_be_released = not refusals
    absent = [release for release in waiting[1:] if not source_of(series.file, release).exists()]
    for release in waiting:
        if release in absent[1:]:
            continue  # the first one that is missing says what is to be done
        try:
            is_next = release == waiting[0] and may_be_released
            if is_next:
                _say_changes(series, release, say)
            with scratch_folder() as folder:
                taken = _look_at_snapshot(series, release, folder, say)
                if is_next:
                    _foresee(series, release, taken, folder, say, show)
        except RepublishError as refusal:
            say(f"  {release}: would be refused: {str(refusal).removeprefix(f'{series.name} {release}: ')}")
            _say_profile(getattr(refusal, "table", None), series, show)
            refusals.append(refusal)
    if len(absent) > 1:
        say(f"  {absent[1]} to {absent[-1]}: {len(absent) - 1:,} more releases have no snapshot")
    return refusals[0].exit_code if refusals else 0


def _say_what_is_there(series: Series, waiting: list[str], say: Say) -> None:
    due, first = series.due, series.file.first_release
    arrived = [release for release in waiting if source_of(series.file, release).exists()]
    if arrived:
        start_judge()  # it gets ready meanwhile
    if first != series.contract.releases.first.isoformat():
        say(f"  the first release is that of {first}, the schedule's first date from releases.first on")
    counts = (
        f"{len(due)} releases are due, {len(due) - len(waiting)} of them published;"
        f" of the others, {len(arrived)} snapshots are there"
    )
    say(f"  {counts if due else none_is_due(series.file)}")
    if not series.home.path.exists():
        say(f"  there is no home in {series.home.path}, so nothing counts as published: is --home right?")
    published = [release for release in due if release not in waiting]
    # A large source takes minutes to divide: that of the latest release is looked at.
    for release in published[-1:] if series.contract.shards > 1 else published:
        if replaced := _replaced(series, release):
            say(f"  {release}: {replaced}")


def _replaced(series: Series, release: str) -> str | None:
    """A sentence if the source now has another snapshot than a release was published from, else None."""
    kept = read_json(series.private(release) / KEPT)
    committed = series.record(release)
    if kept is None or committed is None or not source_of(series.file, release).exists():
        return None
    columns = declared_columns(series.contract)
    if kept["columns"] != series.contract.column_names() or columns != {
        part: committed.declared.get(part) for part in columns
    }:
        return None  # under other columns the same people look different
    try:
        with scratch_folder() as folder:
            found = digest_of_source(series, release, folder)
    except SnapshotError as error:
        return f"is published, and its snapshot can't be read any more: {error}"
    if found == kept["sha256"]:
        return None
    return (
        f"is published from a snapshot of {kept['people']:,} people, and the source now has another one. What"
        " is published stays; correct the next snapshot instead"
    )


def _look_at_snapshot(series: Series, release: str, folder: Path, say: Say) -> Taken | None:
    """Say how many people there are; None if the snapshot has not arrived."""
    if not has_arrived(series, release):
        say(f"  {release}: no snapshot yet in {source_of(series.file, release).place}")
        return None
    taken = look_at_snapshot(series, release, folder)
    left_out = in_words(taken.stated.get(LEFT_OUT_STATED, {}))
    say(f"  {release}: {taken.people:,} people, no faults{left_out and f'; {left_out}'}")
    return taken


def _say_profile(table: pl.DataFrame | None, series: Series, say: Say) -> None:
    """Say what is in the columns of a snapshot, aligned; nothing if there is none."""
    if table is None:
        return
    rows = [HEADS, *profile(table, series.contract)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        name, kind, *figures = (f"{entry:{width}}" for entry, width in zip(row, widths, strict=True))
        numbers = (f"{figure.strip():>{len(figure)}}" for figure in figures)
        say("    " + "  ".join((name, kind, *numbers)))


def _say_changes(series: Series, release: str, say: Say) -> None:
    for line in describe_changes(contract_changes(predecessor_of(series, release).declared, series.contract)):
        say(f"  {release}: changed since the release before: {line}")


def _foresee(series: Series, release: str, taken: Taken | None, folder: Path, say: Say, show: Say) -> None:
    """Say what would become of the next release; what stands against it is raised."""
    if taken is None:
        refuse_changes(series, release, predecessor_of(series, release).declared)
        return
    some = first_shard(series, folder)
    for sentence in lumpy_columns(some, series.contract):
        say(f"  {release}: advice: {sentence}")
    if advice := _shards_advised(taken, series):
        say(f"  {release}: advice: {advice}")
    if some.height < taken.people:
        show(f"    {some.height:,} of the people, those of the first shard:")
    _say_profile(some, series, show)
    for line in levels(some, series.contract):
        show(f"    {line}; republish compare --parameter level says what it costs")
    foreseen = dry_run(series, release, folder)
    figures = foreseen.figures
    say(
        f"  {release}: would be released with {figures.groups:,} groups, {figures.counterfeits:,}"
        f" counterfeits and {figures.held_back:,} people held back"
    )
    if 0 < foreseen.waiting < SMALL_BATCH:
        say(
            f"  {release}: advice: {foreseen.waiting:,} people would wait together, which is a small batch."
            " Whoever knows that they are in the table knows that one value is too frequent among them; once"
            " they are released, it is probably the value that most of their groups have. Release less often,"
            " so that more people come at a time, or choose a smaller m"
        )
    predecessor = predecessor_of(series, release)
    former = predecessor.committed and predecessor.committed.counts
    if former and contract_changes(predecessor.declared, series.contract):
        share, before = (one.counterfeits / max(1, one.tuples) for one in (figures, former))
        say(
            f"  {release}: with what changed, {share:.1%} of the tuples would be counterfeits, and in the"
            f" release before {before:.1%} are"
        )
    if forecast := foreseen.held_back_next:
        say(f"  if the next table is the same, {forecast:,} people are held back then")


def _shards_advised(taken: Taken, series: Series) -> str | None:
    """Another number of shards for so many people; None where it is right, or can't change any more."""
    declared = series.contract.shards
    most = max(1, taken.people // FEWEST_IN_A_SHARD)
    wanted = min(most, max(1, -(-taken.people // PEOPLE_IN_A_SHARD)))
    is_begun = any(series.is_published(release) for release in series.due)
    if is_begun or (declared == 1 and taken.people <= MOST_IN_A_SHARD) or wanted <= declared <= most:
        return None
    return (
        f"shards: {wanted} would have about {taken.people // wanted:,} people each; it can't be changed once"
        " the series is begun"
    )
