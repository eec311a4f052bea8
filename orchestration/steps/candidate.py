"""Compute a candidate release on the state before it, audit it, and commit it if it holds."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from anonymize.candidate import Candidate
from anonymize.errors import (
    AlreadyPublished,
    AuditFailed,
    HomeError,
    NotEligible,
    ValueChangeRefused,
)
from anonymize.state import State
from orchestration.committed import (
    COMMITTED,
    Committed,
    committed_in_history,
    history_row,
    read_committed,
)
from orchestration.expectations import Verdict, summon
from orchestration.principles import principle_of
from orchestration.series import Series
from orchestration.steps.audit import Audit, Knowledge, audit, knowledge_tables, read_knowledge
from orchestration.store import read_json, sha256, write_json, write_table

_STATE = "state-"
"""What the next release is built on: `state-memory.parquet`, …"""


def compute_candidate(series: Series, release: str) -> Committed:
    """Compute, audit and commit the candidate of a release, or find it already committed.

    Raises
    ------
    NotEligible, ValueChangeRefused
        If the principle refuses the batch.
    AuditFailed
        If the candidate breaks a promise. It is not committed.
    AlreadyPublished
        If the release is published and was made from other inputs or parameters.
    HomeError
        If the release before is not there to be built on.
    """
    summon()
    with series.held(release) as folder:
        present = made_from(series, release)
        committed = read_committed(folder)
        if series.is_published(release):
            return _already_published(series, release, committed, present)
        if committed is not None and committed.made_from == present:
            return committed
        (folder / COMMITTED).unlink(missing_ok=True)
        return _compute(series, release, folder, present)


def _compute(series: Series, release: str, folder: Path, present: Mapping[str, Any]) -> Committed:
    contract, principle = series.contract, principle_of(series.contract)
    clock = _Clock()
    people = pl.read_parquet(folder / "snapshot.parquet")
    before = _state_before(series, release, people)
    knowledge, weakest_m = _audit_before(series, release)
    clock.lap("files")
    try:
        candidate = principle.release(
            people, contract, before, series.number(release), lambda purpose: series.draw(release, purpose)
        )
    except (NotEligible, ValueChangeRefused) as refusal:
        raise type(refusal)(f"{series.name} {release}: {refusal}") from None
    clock.lap("algorithm")
    found = audit(candidate, people, before, contract, series.number(release), knowledge, weakest_m)
    refuse_broken(series, release, found.verdicts)
    clock.lap("audit")
    files = _write(folder, candidate, found)
    clock.lap("files")
    committed = Committed(
        made_from=present,
        parameters=contract.principle.model_dump(mode="json"),
        figures=dict(candidate.figures),
        attack={**found.figures, "weakest_m": weakest_m},
        widths=_mean_widths(found.evidence),
        verdicts=found.verdicts,
        seconds=clock.seconds,
        files=files,
    )
    row = history_row(committed, contract.product, contract.series, release, series.number(release))
    series.history.record_candidate(row, candidate.buckets)
    write_json(folder / COMMITTED, committed.as_json())
    return committed


def refuse_broken(series: Series, release: str, verdicts: list[Verdict]) -> None:
    """Raise AuditFailed if any promise is broken, naming each and how often."""
    broken = [f"{verdict.promise}: {' '.join(verdict.broken)}" for verdict in verdicts if not verdict.passed]
    if broken:
        error = AuditFailed(
            f"{series.name} {release}: the audit failed, nothing is published. {'; '.join(broken)}"
        )
        error.verdicts = verdicts
        raise error


def made_from(series: Series, release: str) -> dict[str, Any]:
    """Everything that a release's published bytes depend on, as it is now."""
    previous = series.previous(release)
    before = read_json(series.private(previous) / COMMITTED) if previous else None
    snapshot = read_json(series.private(release) / "snapshot.json") or {}
    return {
        "number": series.number(release),
        "snapshot": snapshot.get("sha256"),
        "release before": _state_files(before["files"]) if before else None,
        "algorithm": principle_of(series.contract).version,
        "parameters": series.contract.privacy_digest(),
        "key": series.key_fingerprint,
    }


def _already_published(
    series: Series, release: str, committed: Committed | None, present: Mapping[str, Any]
) -> Committed:
    """A published release is verified, never computed again."""
    series.verify(release)
    found = committed or _in_history(series, release)
    changed = [part for part, value in found.made_from.items() if value != present.get(part)]
    # A private folder that is not kept any more has nothing to say of what was made of it.
    changed = [part for part in changed if present.get(part) is not None]
    if changed:
        raise AlreadyPublished(
            f"{series.name} {release} is published, and was made from other inputs than the present ones:"
            f" {', '.join(changed)}. A published release can't be made again: let the change take effect from"
            " the next release on, or begin a new series"
        )
    return found


def _in_history(series: Series, release: str) -> Committed:
    rows = series.history.releases(series.contract.product, series.contract.series).filter(release=release)
    if rows.is_empty():  # a history begun anew: the release's bytes are all there is to verify
        return Committed.unknown()
    return committed_in_history(rows.row(0, named=True))


def _state_before(series: Series, release: str, people: pl.DataFrame) -> State:
    previous = series.previous(release)
    if previous is None:
        return State.empty(people.schema[series.contract.sensitive.name])
    folder = series.private(previous)
    committed = read_committed(folder)
    if committed is None:
        raise HomeError(f"{series.name} {release} is built on {previous}. {_way_to(series, previous)}")
    tables = {
        name.removeprefix(_STATE).removesuffix(".parquet"): pl.read_parquet(folder / name)
        for name in _state_files(committed.files)
    }
    return State(memory=tables.pop("memory"), buckets=tables.pop("buckets"), tables=tables)


def _state_files(files: Mapping[str, str]) -> dict[str, str]:
    """Of a candidate's files and their SHA-256, those the next release is built on."""
    return {name: digest for name, digest in files.items() if name.startswith(_STATE)}


def _way_to(series: Series, previous: str) -> str:
    """What to do when the release before is not there to build on."""
    if series.is_published(previous):
        return (
            f"It is published, but its working files in {series.private(previous)} are gone or were changed:"
            " put them back from a copy, or begin a new series"
        )
    return "There is none of that date with its audit passed: release that one first"


def _audit_before(series: Series, release: str) -> tuple[Knowledge | None, int]:
    """What the audit of the release before left to know, and the smallest m of the series so far."""
    m, previous = series.contract.principle.m, series.previous(release)
    if previous is None:
        return None, m
    before = read_json(series.private(previous) / COMMITTED)
    knowledge = read_knowledge(series.private(previous), before["files"])
    return knowledge, min(m, before["attack"]["weakest_m"])


def _write(folder: Path, candidate: Candidate, found: Audit) -> dict[str, str]:
    """Write a candidate's tables and what its audit is to remember; returns their SHA-256 by file name."""
    tables = {
        **{f"candidate-{name}": table for name, table in candidate.published.items()},
        "linkage": candidate.linkage.sort(pl.all()),
        "buckets": candidate.buckets,
        f"{_STATE}memory": candidate.state.memory,
        f"{_STATE}buckets": candidate.state.buckets,
        **{f"{_STATE}{name}": table for name, table in candidate.state.tables.items()},
        **knowledge_tables(found.knowledge),
    }
    for name, table in tables.items():
        write_table(folder / f"{name}.parquet", table)
    return {f"{name}.parquet": sha256(folder / f"{name}.parquet") for name in tables}


def _mean_widths(evidence: Mapping[str, pl.DataFrame]) -> dict[str, float]:
    widths = evidence.get("minimum_widths")
    if widths is None:
        return {}
    return {column: mean or 0.0 for column, mean in widths.select("column", "mean_width").iter_rows()}


class _Clock:
    """Seconds by what they were spent on."""

    def __init__(self):
        self.seconds: dict[str, float] = {}
        self._at = time.perf_counter()

    def lap(self, spent_on: str) -> None:
        now = time.perf_counter()
        self.seconds[spent_on] = round(self.seconds.get(spent_on, 0.0) + now - self._at, 3)
        self._at = now
