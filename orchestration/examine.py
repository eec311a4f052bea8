"""What `republish validate` says: which snapshots are there, what changed, and what a release would be."""

from __future__ import annotations

import secrets
from collections.abc import Callable

import polars as pl

from anonymize.columns import IDENTIFIER, PSEUDONYM
from anonymize.delta import delta, delta_figures
from anonymize.errors import RepublishError, SnapshotError
from anonymize.evidence.expected import describe_odd, expected_of_release, expected_of_snapshot
from anonymize.principles import principle_of
from anonymize.pseudonyms import pseudonyms
from anonymize.randomness import generator
from anonymize.state import State
from orchestration.series.committed import read_state
from orchestration.series.series import Series
from orchestration.snapshots.identifiers import changed_form
from orchestration.snapshots.sources import place, read_snapshot, snapshot_exists
from orchestration.steps.changes import contract_changes, describe_changes
from orchestration.storage.store import read_table

Say = Callable[[str], None]


def examine(series: Series, say: Say) -> bool:
    """Look at a series and its snapshots without changing anything; returns whether nothing is wrong.

    Parameters
    ----------
    series
        The series that a contract declares.
    say
        Prints a line.
    """
    due = series.due
    waiting = [release for release in due if not series.is_published(release)]
    arrived = [release for release in waiting if snapshot_exists(series.file, release)]
    say(
        f"  {len(due)} releases are due, {len(due) - len(waiting)} of them published;"
        f" of the others, {len(arrived)} snapshots are there"
    )
    is_right = True
    for release in waiting:
        if release not in arrived:
            say(f"  {release}: no snapshot yet in {place(series.file, release)}")
            continue
        try:
            people = read_snapshot(series.file, release)
        except SnapshotError as error:
            say(f"  {error}")
            is_right = False
            continue
        say(f"  {release}: {people.height:,} people, no faults")
        if release == waiting[0]:
            is_right &= _foresee(series, release, people, say)
    return is_right


def _foresee(series: Series, release: str, people: pl.DataFrame, say: Say) -> bool:
    """Say what would become of the next release; returns whether it could be made as things are."""
    contract, principle = series.contract, principle_of(series.contract)
    previous = series.previous(release)
    committed = series.committed(previous) if previous else None
    for line in describe_changes(contract_changes(committed.declared if committed else None, contract)):
        say(f"  {release}: changed since {previous}: {line}")
    key = series.home.key() if committed else secrets.token_bytes(32)
    names = series.pseudonym_key if committed else key
    keyed = people.with_columns(pseudonyms(people[IDENTIFIER], names).alias(PSEUDONYM))
    is_right = _is_ordinary(series, release, keyed, previous if committed else None, say)
    state = read_state(series.private(previous), committed) if committed else State.empty()
    try:
        candidate = principle.release(
            keyed.drop(IDENTIFIER),
            contract,
            state,
            series.number(release),
            lambda purpose: generator(key, contract.product, contract.series, release, purpose),
        )
    except RepublishError as refusal:
        say(f"  {release}: would be refused: {refusal}")
        return False
    figures = candidate.figures
    say(
        f"  {release}: would be released with {figures['groups']:,} groups, {figures['counterfeits']:,}"
        f" counterfeits and {figures['held_back']:,} people held back"
    )
    accepted = contract.accept.get(release, ())
    odd = describe_odd(expected_of_release(figures, contract, accepted))
    for reason in odd:
        say(f"  {release}: would be refused: {reason}")
    return is_right and not odd


def _is_ordinary(series: Series, release: str, people: pl.DataFrame, previous: str | None, say: Say) -> bool:
    """Say what of a snapshot is not ordinary."""
    file = series.private(previous) / "snapshot.parquet" if previous else None
    before = read_table(file) if file and file.exists() else None
    figures = delta_figures(delta(before, people, {}))
    odd = describe_odd(
        expected_of_snapshot(figures, series.contract, series.contract.accept.get(release, ()))
    )
    if odd and before is not None and (form := changed_form(before[IDENTIFIER], people[IDENTIFIER])):
        odd.append(form)
    for reason in odd:
        say(f"  {release}: would be refused: {reason}")
    return not odd
