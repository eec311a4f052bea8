"""The answer of `republish validate`: the snapshots that are there, changes, and the next release."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import polars as pl

from republish.anonymize.contract.changes import declared_columns
from republish.anonymize.errors import RepublishError, SnapshotError
from republish.anonymize.people.rows import counted_in
from republish.anonymize.principle.candidate import ReleaseFigures
from republish.orchestration.chain.arrival import has_arrived, misnamed
from republish.orchestration.chain.changes import (
    contract_changes,
    describe_changes,
    ending_as_begun,
    refuse_changes,
)
from republish.orchestration.chain.expected import expected_errors
from republish.orchestration.chain.rehearsal import held_back_next, rehearsal, rehearse
from republish.orchestration.chain.snapshot import (
    FORGOTTEN_STATED,
    KEPT,
    LEFT_OUT_STATED,
    Taken,
    digest_of_source,
    first_shard,
    look_at_snapshot,
    take_snapshot,
)
from republish.orchestration.cli.expecting import say_expected
from republish.orchestration.expectations import start_judge
from republish.orchestration.series.lock import check
from republish.orchestration.series.predecessor import predecessor_of
from republish.orchestration.series.recorded import verify_published
from republish.orchestration.series.release_record import ReleaseRecord
from republish.orchestration.series.series import Series
from republish.orchestration.snapshots.determined import advice_on_determined
from republish.orchestration.snapshots.labels import LABELS_STATED, describe_reasons
from republish.orchestration.snapshots.missing import in_words
from republish.orchestration.snapshots.no_answer import advice_on_no_answers
from republish.orchestration.snapshots.no_identifier import advice_on_many_rows
from republish.orchestration.snapshots.profile import HEADS, levels, lumpy_columns, profile
from republish.orchestration.snapshots.sources import source_of
from republish.orchestration.steps import say_step
from republish.orchestration.storage.scratch import scratch_folder
from republish.orchestration.storage.store import read_json

Say = Callable[[str], None]
Count = Callable[[Series, str, ReleaseRecord], None]
SMALL_BATCH = 1_000
"""If fewer people wait together, this is said: of so few, the value that is too frequent is seldom known."""
USED_AGAIN = "Give whoever has the identifier of somebody forgotten another one in the source"
FEWEST_IN_A_SHARD, PEOPLE_IN_A_SHARD, MOST_IN_A_SHARD = 1_000_000, 2_000_000, 5_000_000
"""People of a shard: fewer lengthen intervals, so many fit into 2 GiB, and more take more than 4."""


def examine(
    series: Series, say: Say, *, profiles: bool = False, every: bool = False, errors: bool = False
) -> int:
    """Look at a series and its snapshots, and rehearse its next release. Nothing is changed.

    Parameters
    ----------
    every
        Whether to rehearse those of all snapshots that are there, one after the other.
    profiles
        Whether to say what is in the columns of the next snapshot, and of those that are refused. The lowest
        and the highest values are people's: they are for the publisher's eyes alone.
    errors
        Whether to say how far off counts from the next release would be.

    Returns
    -------
    int
        The exit code of the first refusal, as `republish release` would have it; 0 if nothing is refused.
    """
    show = say if profiles else lambda _line: None
    count = partial(_say_errors, say=say) if errors else lambda *_: None
    due, first = series.calendar.due, series.file.first_release
    # The first snapshot may be looked at before its date.
    waiting = [release for release in due or [first] if not series.is_published(release)]
    with rehearsal(series) as tried:
        _say_what_is_there(series, tried, waiting, say)
        told, looked_at = _Refused(series, tried), waiting
        try:
            check(tried)
            verify_published(tried)
        except RepublishError as refusal:
            say(f"  no release could be made: {told.as_released(refusal)}")
            told.refusals.append(refusal)
        else:
            if every and due:
                looked_at = _say_of_all(tried, waiting, told, say, show, count)
            elif waiting:
                _say_of_next(tried, waiting[0], told, say, show, count)
                looked_at = waiting[1:]
        _look_at_each(tried, looked_at, told, say)
        others = [one for one in looked_at if one != waiting[0] and source_of(series.file, one).exists()]
        if others and not every and not told.refusals:
            say(
                f"  only {waiting[0]} was tried: --all tries the other snapshots ({len(others):,}) as well,"
                " each built on the one before"
            )
        told.say_all(say, show)
    return told.refusals[0].exit_code if told.refusals else 0


def _look_at_each(tried: Series, waiting: list[str], told: _Refused, say: Say) -> None:
    """Look at each snapshot by itself. The first one that is missing says what is to be done."""
    absent = [release for release in waiting if not source_of(tried.file, release).exists()]
    for release in waiting:
        if release in absent[1:]:
            continue
        try:
            if _is_there(tried, release, say):
                with scratch_folder() as folder:
                    _say_taken(tried, release, look_at_snapshot(tried, release, folder), say)
        except RepublishError as refusal:
            told(release, refusal)
    if len(absent) > 1:
        say(f"  {absent[1]} to {absent[-1]}: {len(absent) - 1:,} more releases have no snapshot")


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
    tried: Series
    """The series as it is rehearsed."""
    refusals: list[RepublishError] = field(default_factory=list)
    _faults: dict[str, _Fault] = field(default_factory=dict)
    """By what is the same: figures and dates differ."""

    def as_released(self, refusal: RepublishError) -> str:
        """The words that `republish release` would have for it: they name the home that stays."""
        return str(refusal).replace(f"{self.tried.home.path}", f"{self.series.home.path}")

    def __call__(self, release: str, refusal: RepublishError, *, is_tried: bool = False) -> None:
        """Remember why a release would be refused; `is_tried` if those before it would not."""
        self.refusals.append(refusal)
        said = self.as_released(refusal)
        for where in (f"{self.series.name} {release}", source_of(self.series.file, release).where):
            said = said.removeprefix(f"{where}: ")
        is_several, added = SEVERAL_FAULTS.match(said), list[_Fault]()
        for fault in said[is_several.end() :].split("\n") if is_several else [said]:
            new = _Fault(fault.strip(), is_tried)
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


def _say_of_all(
    tried: Series, waiting: list[str], told: _Refused, say: Say, show: Say, count: Count
) -> list[str]:
    """Rehearse all releases that are not published.

    Returns those whose snapshots were not looked at: nothing can be built on a release that is refused.
    """
    released, counted = 0, counted_in(tried.contract)
    rest: list[str] = []
    for at, release in enumerate(waiting):
        say_step(f"trying {release}")
        if not source_of(tried.file, release).exists():
            rest = waiting[at:]
            break
        try:
            if not released:
                _say_changes(tried, release, say)
            taken = take_snapshot(tried, release)
            made = rehearse(tried, release)
        except RepublishError as refusal:
            told(release, refusal, is_tried=True)
            return waiting[at + 1 :]
        if not released:
            _say_advice(tried, release, taken, say, show)
        released += 1
        say(f"  {release}: {taken.people:,} {counted}, {_would_be_released(_counts(made), counted)}")
        _say_forgotten(tried, release, taken, say)
        if released == 1:
            count(tried, release, made)
    if released:
        later = any(source_of(tried.file, release).exists() for release in rest)
        which = "those before the missing one" if later else "all snapshots that are there"
        say(f"  {which} would be released ({released:,})")
    return rest


def _say_of_next(tried: Series, release: str, told: _Refused, say: Say, show: Say, count: Count) -> None:
    """Rehearse the next release, and say what would become of it."""
    try:
        _say_changes(tried, release, say)
        if not _is_there(tried, release, say):
            refuse_changes(tried.file, release, predecessor_of(tried, release).declared)
            return
        taken = take_snapshot(tried, release)
        _say_taken(tried, release, taken, say)
        _say_advice(tried, release, taken, say, show)
        made = rehearse(tried, release)
        _say_made(tried, release, made, say)
        count(tried, release, made)
    except RepublishError as refusal:
        told(release, refusal)


def _say_what_is_there(series: Series, tried: Series, waiting: list[str], say: Say) -> None:
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
        if replaced := _replaced(tried, release):
            say(f"  {release}: {replaced}")


def _replaced(series: Series, release: str) -> str | None:
    """A sentence if the source now has another snapshot than a release was published from, else None."""
    kept = read_json(series.private(release) / KEPT)
    committed = series.record(release)
    if kept is None or committed is None or not source_of(series.file, release).exists():
        return None
    columns = declared_columns(ending_as_begun(series.contract, committed.declared))
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


def _is_there(tried: Series, release: str, say: Say) -> bool:
    """Whether a snapshot has arrived; if it has not, this is said. Raises as `has_arrived` does."""
    if has_arrived(tried, release):
        return True
    say(f"  {release}: no snapshot yet in {source_of(tried.file, release).place}{misnamed(tried, release)}")
    return False


def _say_taken(tried: Series, release: str, taken: Taken, say: Say) -> None:
    """Say how many people a snapshot has, and how many are left out for want of a value."""
    counted = counted_in(tried.contract)
    left_out = in_words(taken.stated.get(LEFT_OUT_STATED, {}), counted)
    say(f"  {release}: {taken.people:,} {counted}, no faults{left_out and f'; {left_out}'}")
    _say_forgotten(tried, release, taken, say)


def _say_forgotten(tried: Series, release: str, taken: Taken, say: Say) -> None:
    """Say how many people of a snapshot were forgotten for good, if any were."""
    if gone := taken.stated.get(FORGOTTEN_STATED):
        say(f"  {release}: left out because they were forgotten for good: {gone:,}. {USED_AGAIN}")


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


def _say_made(tried: Series, release: str, made: ReleaseRecord, say: Say) -> None:
    """Say what would become of the next release, and of the one after it."""
    figures, counted = _counts(made), counted_in(tried.contract)
    say(f"  {release}: {_would_be_released(figures, counted)}")
    waiting = int(made.attack.get("waiting") or 0)
    if 0 < waiting < SMALL_BATCH:
        say(
            f"  {release}: advice: {waiting:,} {counted} would wait together, which is a small"
            " batch. Whoever knows that they are in the table knows that one value is too frequent among"
            " them; once they are released, it is probably the value that most of their groups have. Release"
            " less often, so that more people come at a time, or choose a smaller m"
        )
    predecessor = predecessor_of(tried, release)
    former = predecessor.committed and predecessor.committed.counts
    if former and contract_changes(predecessor.declared, tried.contract):
        share, before = (one.counterfeits / max(1, one.tuples) for one in (figures, former))
        say(
            f"  {release}: with what changed, {share:.1%} of the tuples would be counterfeits, and in the"
            f" release before {before:.1%} are"
        )
    if forecast := held_back_next(tried, release, made):
        say(f"  if the next table is the same, {forecast:,} {counted} are held back then")


def _say_errors(tried: Series, release: str, made: ReleaseRecord, *, say: Say) -> None:
    """Say how far off counts from a release would be that was rehearsed."""
    say_step("counting as its readers would")
    say_expected(expected_errors(tried, release, made), release, counted_in(tried.contract), say)


def _counts(made: ReleaseRecord) -> ReleaseFigures:
    """The counts of a release that was rehearsed."""
    assert made.counts is not None, "a candidate that was committed is counted"
    return made.counts


def _would_be_released(figures: ReleaseFigures, counted: str) -> str:
    counts = f"{_number(figures.groups, 'groups')}, {_number(figures.counterfeits, 'counterfeits')}"
    meant = " (in the table, and not in the release)" if figures.held_back else ""
    return f"would be released with {counts} and {figures.held_back:,} {counted} held back{meant}"


def _number(count: int, of: str) -> str:
    """So many of something: 1 group, 2 groups."""
    return f"{count:,} {of.removesuffix('s') if count == 1 else of}"


def _say_advice(tried: Series, release: str, taken: Taken, say: Say, show: Say) -> None:
    """Say what could be better about a snapshot, and what is in its columns."""
    people, some = taken.people, first_shard(tried, tried.private(release))
    for sentence in (*lumpy_columns(some, tried.contract), *advice_on_determined(some, tried.contract)):
        say(f"  {release}: advice: {sentence}")
    for sentence in describe_reasons(taken.stated):
        say(f"  {release}: {sentence}")
    labels = taken.stated.get(LABELS_STATED, {})
    for sentence in advice_on_no_answers(some, tried.contract, labels, counted_in(tried.contract)):
        say(f"  {release}: advice: {sentence}")
    if advice := advice_on_many_rows(some, tried.contract, counted_in(tried.contract)):
        say(f"  {release}: advice: {advice}")
    if advice := _shards_advised(people, tried):
        say(f"  {release}: advice: {advice}")
    if some.height < people:
        show(f"    {some.height:,} of the {counted_in(tried.contract)}, those of the first shard:")
    _say_profile(some, tried, show)
    for line in levels(some, tried.contract):
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
