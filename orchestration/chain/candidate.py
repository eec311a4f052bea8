"""Compute a candidate release on the state before it, audit it, and commit it if it holds."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from anonymize.attack.knowledge import Knowledge
from anonymize.attack.together import below_together
from anonymize.columns import IDENTIFIER, PSEUDONYM
from anonymize.contract import Product
from anonymize.errors import (
    AlreadyPublished,
    HomeError,
    NotEligible,
    SnapshotError,
    ValueChangeRefused,
)
from anonymize.evidence.expected import describe_expected, describe_odd, expected_of_release
from anonymize.people.pseudonyms import pseudonyms
from anonymize.principle.candidate import Candidate
from anonymize.principle.state import State
from anonymize.principles import principle_of
from anonymize.promise.promise import Promise
from orchestration.chain.audit import Audit, audit, refuse_broken
from orchestration.chain.changes import declared, refuse_changes
from orchestration.chain.delta import EXPECTED
from orchestration.chain.snapshot import content_digest
from orchestration.expectations import Verdict, judge, start_judge
from orchestration.series.committed import (
    COMMITTED,
    STATE,
    Committed,
    read_knowledge,
    read_record,
    read_state,
    write_committed,
    write_tables,
)
from orchestration.series.record import release_row
from orchestration.series.series import Series, is_of_candidate
from orchestration.series.siblings import separate_siblings
from orchestration.snapshots.previous import join_previous, read_previous
from orchestration.storage.store import read_json, read_table

LAYOUT = "dated tables"
"""How tables are laid out in files: a candidate of another layout is made anew before it is published."""


def compute_candidate(series: Series, release: str) -> Committed:
    """Compute, audit and commit the candidate of a release, or find it already committed.

    Raises
    ------
    NotEligible, SnapshotError, ValueChangeRefused
        If the principle refuses the batch.
    AuditFailed
        If the candidate breaks a promise. It is not committed.
    AlreadyPublished
        If the release is published and was made from other inputs or parameters.
    HomeError
        If the release before is not there to be built on, or is not the one that was published.
    """
    start_judge()
    with series.locked_for(release) as folder:
        present = made_from(series, release)
        committed = series.committed(release)
        if series.is_published(release):
            return _already_published(series, release, committed, present)
        if committed is not None and committed.made_from == present:
            return committed
        (folder / COMMITTED).unlink(missing_ok=True)
        return _compute(series, release, folder, present)


def made_from(series: Series, release: str) -> dict[str, Any]:
    """Everything that a release's published bytes depend on, as it is now."""
    previous = series.previous(release)
    before = read_record(series.private(previous), series.candidate_key(previous)) if previous else None
    if previous is None and series.superseded:
        before = series.superseded.committed
    snapshot = read_json(series.private(release) / "snapshot.json") or {}
    return {
        "number": series.chain_number(release),
        "snapshot": snapshot.get("sha256"),
        "release before": before.tables(STATE) if before else None,
        "algorithm": principle_of(series.contract).version,
        "parameters": series.contract.privacy_digest(),
        "key": series.key_fingerprint,
        "layout": LAYOUT,
        **_previous_digest(series, release),
    }


def _previous_digest(series: Series, release: str) -> dict[str, Any]:
    """A digest of the other products' releases, if there are any; of a published release they may be gone."""
    if not principle_of(series.contract).previous(series.contract):
        return {}
    try:
        tables = read_previous(series.file)
    except SnapshotError:
        if series.is_published(release):
            return {}
        raise
    return {"previous releases": {name: content_digest(table) for name, table in tables.items()}}


@dataclass(frozen=True)
class _Before:
    """What a release is built on."""

    state: State
    knowledge: Knowledge | None
    promises: tuple[Promise, ...]
    """What the releases so far promised to the people they published first."""
    declared: Mapping[str, Any] | None
    """The columns and the principle that the contract declared then."""


def _compute(series: Series, release: str, folder: Path, present: Mapping[str, Any]) -> Committed:
    contract, principle = series.contract, principle_of(series.contract)
    clock = _Clock()
    snapshot = _people(series, release, folder)
    before = _before(series, release)
    refuse_changes(series, release, before.declared)
    clock.lap("files")
    promises = (*before.promises, principle.promise(contract.principle))
    candidate, found = _drawn_and_audited(series, release, snapshot, before, promises, clock)
    refuse_broken(f"{series.name} {release}", found.verdicts)
    files = write_tables(folder, candidate, _linkage(candidate, snapshot, contract), found.knowledge, release)
    clock.lap("files")
    tables = principle.format(contract).internal(candidate.published, contract)
    committed = Committed(
        made_from=present,
        parameters=contract.principle.model_dump(mode="json"),
        declared=declared(contract),
        promises=promises,
        figures={**candidate.figures, **principle.format(contract).figures(tables, contract)},
        attack=found.figures,
        together=_together(series, snapshot, found.knowledge, promises[-1]),
        verdicts=found.verdicts,
        seconds=clock.seconds,
        files=files,
    )
    row = release_row(committed, contract, release, series.number(release))
    series.history.record_candidate(row, candidate.buckets)
    write_committed(folder, committed, series.candidate_key(release))
    return committed


def _drawn_and_audited(
    series: Series,
    release: str,
    snapshot: pl.DataFrame,
    before: _Before,
    promises: tuple[Promise, ...],
    clock: _Clock,
) -> tuple[Candidate, Audit]:
    """A candidate with what its audit found."""
    contract = series.contract
    try:
        candidate = principle_of(contract).release(
            snapshot.drop(IDENTIFIER),
            contract,
            before.state,
            series.chain_number(release),
            lambda purpose: series.draw(release, purpose),
        )
    except (NotEligible, SnapshotError, ValueChangeRefused) as refusal:
        raise type(refusal)(f"{series.name} {release}: {refusal}") from None
    clock.lap("algorithm")
    ordinary = _judge_ordinary(series, release, candidate.figures)
    found = audit(candidate, snapshot, before.state, contract, promises, before.knowledge)
    clock.lap("audit")
    return candidate, replace(found, verdicts=(*found.verdicts, ordinary))


def _together(
    series: Series, snapshot: pl.DataFrame, knowledge: Knowledge, promise: Promise
) -> dict[str, dict[str, int]]:
    """What other series of the product give away together with this release, by their names.

    Nobody is to get both (`separate_readers`); if somebody did, so many people would be exposed.
    """
    home, contract = series.home, series.contract
    others = list(separate_siblings(home, contract))
    stays = knowledge.stays
    if not others or promise.candidates is None or stays is None:
        return {}
    here = stays.people.filter(pl.col("until") == stays.people["until"].max())
    values = here.join(stays.signatures, on="signature").select("person", "values")
    found = {}
    for other in others:
        followed = read_knowledge(other.folder, other.committed).stays
        if followed is None:
            continue
        theirs = pseudonyms(snapshot[IDENTIFIER], other.pseudonym_key(home, contract.product))
        names = snapshot.select(person=PSEUDONYM).with_columns(theirs.alias("other"))
        present = values.join(names, on="person").select("values", person="other")
        people, below = below_together(present, followed, promise.candidates)
        found[other.name] = {"people": people, "below": below}
    return found


def _judge_ordinary(series: Series, release: str, figures: Mapping[str, int]) -> Verdict:
    """What the suite `expected` says of a candidate, before the time that its audit takes.

    Raises
    ------
    NotEligible
        If it has more counterfeits than the contract expects.
    """
    contract = series.contract
    evidence = expected_of_release(figures, contract, contract.accept.get(release, ()))
    verdict = judge({EXPECTED: evidence}, {})[0].with_words(describe_expected(evidence), evidence)
    if verdict.passed:
        return verdict
    reasons = describe_odd(evidence) or verdict.broken
    raise NotEligible(
        f"{series.name} {release}: {'; '.join(reasons)}. If values were recoded, say so"
        " (sensitive.renamed); else choose a smaller m, or accept it:"
        f" accept: {{{release}: [counterfeits]}}",
        [verdict],
    )


def _people(series: Series, release: str, folder: Path) -> pl.DataFrame:
    """T(n): the people of the snapshot, as far as the delta says that they are there.

    Raises
    ------
    HomeError
        If the delta was made of another snapshot.
    """
    people = read_table(folder / "snapshot.parquet")
    file = folder / "delta.parquet"
    changes = read_table(file) if file.exists() else people.select(PSEUDONYM).clear()
    present = changes.filter(pl.col("change") != "deleted") if changes.height else changes
    found = people.join(present, on=PSEUDONYM, how="semi")
    if not found.height == people.height == present.height:
        raise HomeError(
            f"{series.name} {release}: the delta is not that of the snapshot. Materialize"
            f" {series.contract.product}/delta once more, or run republish release"
        )
    return found


def _linkage(candidate: Candidate, snapshot: pl.DataFrame, contract: Product) -> pl.DataFrame:
    """The linkage under the identifier's own name, sorted by all columns."""
    named = snapshot.select(PSEUDONYM, IDENTIFIER).join(candidate.linkage, on=PSEUDONYM).drop(PSEUDONYM)
    return named.sort(pl.all()).rename({IDENTIFIER: contract.identifier})


def _already_published(
    series: Series, release: str, committed: Committed | None, present: Mapping[str, Any]
) -> Committed:
    """A published release is verified, never computed again."""
    stated = series.verify(release)
    if committed is None:
        published_with = principle_of(series.contract).parameters.model_validate(stated["principle"])
        changed = ["parameters"] if published_with != series.contract.principle else []
        committed = Committed.unknown(stated["principle"])
    else:
        # A part of the private folder that is not kept any more has nothing to say.
        made = committed.made_from.items()
        changed = [part for part, value in made if present.get(part) not in (None, value)]
    if changed:
        raise AlreadyPublished(
            f"{series.name} {release} is published, and was made from other inputs than the present ones:"
            f" {', '.join(changed)}. A published release can't be made again: let the change take effect from"
            " the next release on, or begin a new series"
        )
    return committed


def _before(series: Series, release: str) -> _Before:
    """State, knowledge and promises of the release before, with the tables that others released."""
    before = _of_the_release_before(series, release)
    try:
        state, others = join_previous(before.state, series.file)
    except SnapshotError as refusal:
        raise SnapshotError(f"{series.name} {release}: {refusal}") from None
    if not others:
        return before
    return replace(before, state=state, knowledge=(before.knowledge or Knowledge()).with_releases(others))


def _of_the_release_before(series: Series, release: str) -> _Before:
    previous = series.previous(release)
    if previous is None and (former := series.superseded):
        return _of(former.folder, former.committed)
    if previous is None:
        return _Before(State.empty(), None, (), None)
    folder, committed = series.private(previous), series.committed(previous)
    if committed is None:
        raise HomeError(f"{series.name} {release} is built on {previous}. {_way_to(series, previous)}")
    if series.is_published(previous) and not is_of_candidate(series.verify(previous), committed):
        raise HomeError(
            f"{series.name} {release} is built on {previous}, and the working files in {folder} are those of"
            " another candidate than the one that was published: put them back from a copy, or begin a new"
            " series"
        )
    return _of(folder, committed)


def _of(folder: Path, committed: Committed) -> _Before:
    """What a committed candidate leaves to the next release."""
    return _Before(
        read_state(folder, committed),
        read_knowledge(folder, committed),
        committed.promises,
        committed.declared,
    )


def _way_to(series: Series, previous: str) -> str:
    """What to do when the release before is not there to build on."""
    if series.is_published(previous):
        return (
            f"It is published, but its working files in {series.private(previous)} are gone or were changed:"
            " put them back from a copy, or begin a new series"
        )
    return "There is none of that date with its audit passed: release that one first"


class _Clock:
    """Seconds by what they were spent on."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._at = time.perf_counter()

    def lap(self, spent_on: str) -> None:
        now = time.perf_counter()
        self.seconds[spent_on] = round(self.seconds.get(spent_on, 0.0) + now - self._at, 3)
        self._at = now
