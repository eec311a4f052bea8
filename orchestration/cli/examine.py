"""The answer of `republish validate`: the snapshots that are there, changes, and the next release."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from republish.anonymize.contract.changes import declared_columns
from republish.anonymize.errors import RepublishError, SnapshotError
from republish.anonymize.people.rows import counted_in
from republish.anonymize.principle.candidate import ReleaseFigures
from republish.orchestration.chain.arrival import has_arrived, misnamed
from republish.orchestration.chain.changes import contract_changes, describe_changes, refuse_changes
from republish.orchestration.chain.dry_run import dry_run, refuse_damaged, with_home_untouched
from republish.orchestration.chain.rehearsal import rehearsal, rehearse
from republish.orchestration.chain.snapshot import (
    KEPT,
    LEFT_OUT_STATED,
    Taken,
    digest_of_source,
    first_shard,
    look_at_snapshot,
)
from republish.orchestration.expectations import start_judge
from republish.orchestration.series.predecessor import predecessor_of
from republish.orchestration.series.series import Series
from republish.orchestration.snapshots.missing import in_words
from republish.orchestration.snapshots.profile import HEADS, levels, lumpy_columns, profile
from republish.orchestration.snapshots.sources import source_of
from republish.orchestration.steps import say_step
from republish.orchestration.storage.scratch import scratch_folder
from republish.orchestration.storage.store import read_json

Say = Callable[[str], None]
SMALL_BATCH = 1_000
"""If fewer people wait together, this is said: of so few, the value that is too frequent is seldom known."""
FEWEST_IN_A_SHARD, PEOPLE_IN_A_SHARD, MOST_IN_A_SHARD = 1_000_000, 2_000_000, 5_000_000
"""People of a shard: fewer lengthen intervals, so many fit into 2 GiB, and more take more than 4."""


def examine(series: Series, say: Say, *, profiles: bool = False, every: bool = False) -> int:
    """Look at a series and its snapshots, and run the chain dry for the next release. Nothing is changed.

    Parameters
    ----------
    every
        Whether to run it for all snapshots that are there, one after the other.
    profiles
        Whether to say what is in the columns of the next snapshot, and of those that are refused. The lowest
        and the highest values are people's: they are for the publisher's eyes alone.

    Returns
    -------
    int
        The exit code of the first refusal, as `republish release` would have it; 0 if nothing is refused.
    """
    series, show = with_home_untouched(series), say if profiles else lambda _line: None
    due, first = series.calendar.due, series.file.first_release
    # The first snapshot may be looked at before its date.
    waiting = [release for release in due or [first] if not series.is_published(release)]
    _say_what_is_there(series, waiting, say)
    refusals: list[RepublishError] = []
    try:
        refuse_damaged(series)
    except RepublishError as refusal:
        say(f"  no release could be made: {refusal}")
        refusals.append(refusal)
    told = _Refused(series)
    if every and not refusals and series.calendar.due:
        waiting = _say_of_all(series, waiting, told, say, show)
    _look_at_each(series, waiting, told, say, show, foresees=not refusals and not every)
    told.say_all(say, show)
    refusals += told.refusals
    return refusals[0].exit_code if refusals else 0


def _look_at_each(
    series: Series, waiting: list[str], told: _Refused, say: Say, show: Say, *, foresees: bool
) -> None:
    """Look at each snapshot by itself, and at the first one also as the next release, if it `foresees`."""
    absent = [release for release in waiting[1:] if not source_of(series.file, release).exists()]
    for release in waiting:
        if release in absent[1:]:
            continue  # the first one that is missing says what is to be done
        try:
            is_next = release == waiting[0] and foresees
            if is_next:
                _say_changes(series, release, say)
            with scratch_folder() as folder:
                taken = _look_at_snapshot(series, release, folder, say)
                if is_next:
                    _foresee(series, release, taken, folder, say, show)
        except RepublishError as refusal:
            told(release, refusal)
    if len(absent) > 1:
        say(f"  {absent[1]} to {absent[-1]}: {len(absent) - 1:,} more releases have no snapshot")
    if foresees and not told.refusals and (others := [one for one in waiting[1:] if one not in absent]):
        say(
            f"  only {waiting[0]} was tried: --all tries the other snapshots ({len(others):,}) as well, each"
            " built on the one before"
        )


SEVERAL_FAULTS, FIGURE = re.compile(r"\d+ faults in the snapshot\n"), re.compile(r"\d[\d,.:-]*")


@dataclass
class _Fault:
    """What one or several snapshots would be refused for."""

    said: str
    """Of the first of them."""
    is_tried: bool
    releases: list[str] = field(default_factory=list)
    profile: list[str] = field(default_factory=list)
    """Of the first snapshot, if no fault before says it already."""
    other_figures: bool = False

    def __str__(self) -> str:
        first, *others = self.releases
        if not others:
            return f"{first}: {'is the first that ' if self.is_tried else ''}would be refused: {self.said}"
        which = f"{first} {'to' if others[1:] else 'and'} {others[-1]}"
        figures = f" (these are the figures of {first})" if self.other_figures else ""
        return f"in {len(self.releases):,} snapshots, {which}: would be refused: {self.said}{figures}"


@dataclass
class _Refused:
    """Refusals: a fault is said once, of all snapshots that have it, after all were looked at."""

    series: Series
    refusals: list[RepublishError] = field(default_factory=list)
    _faults: dict[str, _Fault] = field(default_factory=dict)
    """By what is the same: figures and dates differ."""

    def __call__(self, release: str, refusal: RepublishError, tried_in: Path | None = None) -> None:
        """Remember why a release would be refused.

        `tried_in` is the home in which those before it were made, which nobody finds later.
        """
        self.refusals.append(refusal)
        said = str(refusal).replace(f"{tried_in}/", "")
        for where in (f"{self.series.name} {release}", source_of(self.series.file, release).where):
            said = said.removeprefix(f"{where}: ")
        is_several, added = SEVERAL_FAULTS.match(said), list[_Fault]()
        for fault in said[is_several.end() :].split("\n") if is_several else [said]:
            new = _Fault(fault.strip(), tried_in is not None)
            same = self._faults.setdefault(FIGURE.sub("0", new.said), new)
            same.releases.append(release)
            same.other_figures |= same.said != new.said
            added += [new] if same is new else []
        if added:
            _say_profile(getattr(refusal, "table", None), self.series, added[0].profile.append)

    def say_all(self, say: Say, show: Say) -> None:
        """Say each fault, and show what is in the columns of the first snapshot that has it."""
        for fault in self._faults.values():
            say(f"  {fault}")
            for line in fault.profile:
                show(line)


def _say_of_all(series: Series, waiting: list[str], told: _Refused, say: Say, show: Say) -> list[str]:
    """Make the releases that are not published in a home of their own.

    Returns those whose snapshots were not looked at: nothing can be built on a release that is refused.
    """
    released, counted = 0, counted_in(series.contract)
    with rehearsal(series) as tried:
        for at, release in enumerate(waiting):
            say_step(f"trying {release}")
            if not source_of(series.file, release).exists():
                rest = waiting[at:]
                break
            try:
                if not released:
                    _say_changes(series, release, say)
                people, counts = rehearse(tried, release)
            except RepublishError as refusal:
                told(release, refusal, tried.home.path)
                rest = waiting[at + 1 :]
                break
            if not released:
                _say_advice(tried, release, people, first_shard(tried, tried.private(release)), say, show)
            released += 1
            say(f"  {release}: {people:,} {counted}, {_would_be_released(counts, counted)}")
        else:
            rest = []
    if not told.refusals and released:
        later = any(source_of(series.file, release).exists() for release in rest)
        which = "those before the missing one" if later else "all snapshots that are there"
        say(f"  {which} would be released ({released:,})")
    return rest


def _say_what_is_there(series: Series, waiting: list[str], say: Say) -> None:
    due, first = series.calendar.due, series.file.first_release
    arrived = [release for release in waiting if source_of(series.file, release).exists()]
    if arrived:
        start_judge()  # it gets ready meanwhile
    if first != series.contract.releases.first.isoformat():
        say(f"  the first release is that of {first}, the schedule's first date from releases.first on")
    counts = (
        f"{len(due)} releases are due, {len(due) - len(waiting)} of them published;"
        f" snapshots are there of {len(arrived)} of the others"
    )
    say(f"  {counts if due else series.calendar.none_is_due()}")
    if not series.home.path.exists():
        place = series.home.path
        say(f"  nothing is published yet; the home will be created at {place} (--home names another one)")
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
        f"is published from a snapshot of {kept['people']:,} {counted_in(series.contract)}, and the source"
        " now has another one. What is published stays; correct the next snapshot instead"
    )


def _look_at_snapshot(series: Series, release: str, folder: Path, say: Say) -> Taken | None:
    """Say how many people there are; None if the snapshot has not arrived."""
    if not has_arrived(series, release):
        hint = misnamed(series, release)
        say(f"  {release}: no snapshot yet in {source_of(series.file, release).place}{hint}")
        return None
    taken, counted = look_at_snapshot(series, release, folder), counted_in(series.contract)
    left_out = in_words(taken.stated.get(LEFT_OUT_STATED, {}), counted)
    found = f"{taken.people:,} {counted}, no faults"
    say(f"  {release}: {found}{left_out and f'; {left_out}'}")
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
        refuse_changes(series.file, release, predecessor_of(series, release).declared)
        return
    _say_advice(series, release, taken.people, first_shard(series, folder), say, show)
    foreseen = dry_run(series, release, folder)
    figures = foreseen.figures
    counted = counted_in(series.contract)
    say(f"  {release}: {_would_be_released(figures, counted)}")
    if 0 < foreseen.waiting < SMALL_BATCH:
        say(
            f"  {release}: advice: {foreseen.waiting:,} {counted} would wait together, which is a small"
            " batch. Whoever knows that they are in the table knows that one value is too frequent among"
            " them; once they are released, it is probably the value that most of their groups have. Release"
            " less often, so that more people come at a time, or choose a smaller m"
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
        say(f"  if the next table is the same, {forecast:,} {counted} are held back then")


def _would_be_released(figures: ReleaseFigures, counted: str) -> str:
    counts = f"{_number(figures.groups, 'groups')}, {_number(figures.counterfeits, 'counterfeits')}"
    meant = " (in the table, and not in the release)" if figures.held_back else ""
    return f"would be released with {counts} and {figures.held_back:,} {counted} held back{meant}"


def _number(count: int, of: str) -> str:
    """So many of something: 1 group, 2 groups."""
    return f"{count:,} {of.removesuffix('s') if count == 1 else of}"


def _say_advice(series: Series, release: str, people: int, some: pl.DataFrame, say: Say, show: Say) -> None:
    """Say what could be better about a snapshot, and what is in its columns; `some` are of its people."""
    for sentence in lumpy_columns(some, series.contract):
        say(f"  {release}: advice: {sentence}")
    if advice := _shards_advised(people, series):
        say(f"  {release}: advice: {advice}")
    if some.height < people:
        show(f"    {some.height:,} of the {counted_in(series.contract)}, those of the first shard:")
    _say_profile(some, series, show)
    for line in levels(some, series.contract):
        show(f"    {line}; republish compare --parameter level says what it costs")


def _shards_advised(people: int, series: Series) -> str | None:
    """Another number of shards for so many people; None where it is right, or can't change any more."""
    declared = series.contract.shards
    most = max(1, people // FEWEST_IN_A_SHARD)
    wanted = min(most, max(1, -(-people // PEOPLE_IN_A_SHARD)))
    is_begun = any(series.is_published(release) for release in series.calendar.due)
    if is_begun or (declared == 1 and people <= MOST_IN_A_SHARD) or wanted <= declared <= most:
        return None
    return (
        f"shards: {wanted} would have about {people // wanted:,} {counted_in(series.contract)} each; it can't"
        " be changed once the series is begun"
    )
