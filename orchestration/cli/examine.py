"""What `republish validate` says: which snapshots are there, what changed, and what a release would be."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path

import polars as pl

from anonymize.columns import IDENTIFIER
from anonymize.contract.changes import declared_columns
from anonymize.errors import ContractError, RepublishError, SnapshotError
from anonymize.evidence.expected import describe_odd, expected_of_release, expected_of_snapshot
from anonymize.people.delta import delta, delta_figures
from anonymize.people.randomness import generator
from anonymize.principle.state import State
from anonymize.principles import principle_of
from orchestration.chain.arrival import never_comes
from orchestration.chain.changes import contract_changes, describe_changes, refuse_changes
from orchestration.chain.snapshot import content_digest, keyed
from orchestration.series.committed import read_state
from orchestration.series.due import none_is_due
from orchestration.series.series import Series
from orchestration.series.siblings import siblings
from orchestration.snapshots.identifiers import changed_form
from orchestration.snapshots.previous import join_previous
from orchestration.snapshots.sources import place, read_snapshot, snapshot_exists
from orchestration.storage.store import read_json, read_table

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
    due, first = series.due, series.file.first_release
    # The first snapshot may be looked at before its date.
    waiting = [release for release in due or [first] if not series.is_published(release)]
    arrived = [release for release in waiting if snapshot_exists(series.file, release)]
    if first != series.contract.releases.first.isoformat():
        say(f"  the first release is that of {first}, the schedule's first date from releases.first on")
    counts = (
        f"{len(due)} releases are due, {len(due) - len(waiting)} of them published;"
        f" of the others, {len(arrived)} snapshots are there"
    )
    say(f"  {counts if due else none_is_due(series.file)}")
    for release in due:
        if release not in waiting and (replaced := _replaced(series, release)):
            say(f"  {release}: {replaced}")
    is_right = may_be_released = _may_be_released(series, say)
    if missing := [
        release for release in waiting if release not in arrived and release < max(arrived, default="")
    ]:
        say(f"  {missing[0]}: has no snapshot. {never_comes(max(arrived))}")
        is_right = False
    if waiting and may_be_released:
        is_right &= _keeps_its_contract(series, waiting[0], say)
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
        if release == waiting[0] and may_be_released:
            is_right &= _foresee(series, release, people, say, is_refused=not is_right)
    return is_right


def _may_be_released(series: Series, say: Say) -> bool:
    """Say what stands against any further release: the series' own files, other series of the product."""
    if not series.home.path.exists():
        say(f"  there is no home in {series.home.path}, so nothing counts as published: is --home right?")
    if not any(series.is_published(release) for release in series.due) and not _has_siblings(series):
        return True
    try:
        series.check()
    except RepublishError as refusal:
        say(f"  no release could be made: {refusal}")
        return False
    return True


def _has_siblings(series: Series) -> bool:
    return series.contract.supersedes is not None or any(
        siblings(series.home, series.contract.product, series.contract.series)
    )


def _replaced(series: Series, release: str) -> str | None:
    """That the source now has another snapshot than a release was published from; None if it has not."""
    kept = read_json(series.private(release) / "snapshot.json")
    committed = series.committed(release)
    if kept is None or committed is None or not snapshot_exists(series.file, release):
        return None
    columns = declared_columns(series.contract)
    if kept["columns"] != series.contract.column_names() or columns != {
        part: committed.declared.get(part) for part in columns
    }:
        return None  # under other columns the same people look different
    try:
        people = read_snapshot(series.file, release)
    except SnapshotError as error:
        return f"is published, and its snapshot can't be read any more: {error}"
    if content_digest(keyed(people, series.pseudonym_key)) == kept["sha256"]:
        return None
    return (
        f"is published from a snapshot of {kept['people']:,} people, and the source now has another one. What"
        " is published stays; correct the next snapshot instead"
    )


def _keeps_its_contract(series: Series, release: str, say: Say) -> bool:
    """Say what changed in the contract; returns whether the next release could be made under it."""
    committed = series.committed_before(release)
    declared = committed.declared if committed else None
    for line in describe_changes(contract_changes(declared, series.contract)):
        say(f"  {release}: changed since the release before: {line}")
    try:
        refuse_changes(series, release, declared)
    except ContractError as refusal:
        say(f"  {release}: would be refused: {refusal}")
        return False
    return True


def _foresee(series: Series, release: str, people: pl.DataFrame, say: Say, *, is_refused: bool) -> bool:
    """Say what would become of the next release; returns whether its snapshot could be released."""
    contract, principle = series.contract, principle_of(series.contract)
    committed, folder = series.committed_before(release), series.folder_before(release)
    is_right = True
    # Before there is a key, any will do: a plan's size hardly depends on it.
    key = series.home.key() if committed else secrets.token_bytes(32)
    present = keyed(people, series.pseudonym_key if committed else key)
    is_right &= _is_ordinary(series, release, present, folder if committed else None, say)
    state = read_state(folder, committed) if committed else State.empty()
    try:
        state, _ = join_previous(state, series.file)
        candidate = principle.release(
            present.drop(IDENTIFIER),
            contract,
            state,
            series.chain_number(release),
            lambda purpose: generator(key, contract.product, contract.series, release, purpose),
        )
    except RepublishError as refusal:
        say(f"  {release}: would be refused: {refusal}")
        return False
    figures = candidate.figures
    is_refused |= not is_right
    would = "without what stands against it, it would be released" if is_refused else "would be released"
    say(
        f"  {release}: {would} with {figures['groups']:,} groups, {figures['counterfeits']:,}"
        f" counterfeits and {figures['held_back']:,} people held back"
    )
    accepted = contract.accept.get(release, ())
    odd = describe_odd(expected_of_release(figures, contract, accepted))
    for reason in odd:
        say(f"  {release}: would be refused: {reason}")
    return is_right and not odd


def _is_ordinary(series: Series, release: str, people: pl.DataFrame, folder: Path | None, say: Say) -> bool:
    """Say what of a snapshot is not ordinary beside the one in a folder."""
    file = folder / "snapshot.parquet" if folder else None
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
