"""Compute a candidate release on the state before it, audit it, and commit it if it holds."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from anonymize.candidate import Candidate
from anonymize.errors import AlreadyPublished, AuditFailed, HomeError
from anonymize.state import State
from orchestration.expectations import Verdict, judge, summon
from orchestration.manifest import verify_release
from orchestration.principles import code_version, principle_of
from orchestration.series import Series
from orchestration.store import read_json, sha256, write_json, write_table

COMMITTED = "candidate.json"
"""Written last: without it, nothing else in the folder counts."""


@dataclass(frozen=True)
class Committed:
    """A candidate that passed its audit, as recorded in `candidate.json`."""

    inputs: str
    """SHA-256 (hex) of all it was made from: snapshot, state, parameters, algorithm, key."""
    figures: Mapping[str, int]
    """Counts worth plotting."""
    widths: Mapping[str, float]
    """The mean interval width of each quasi-identifier."""
    verdicts: list[Verdict]
    """What the audit found."""
    seconds: Mapping[str, float]
    """How long each part took, when it was computed."""
    is_new: bool = True
    """Whether it was computed just now, rather than found."""


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
        inputs = _inputs(series, release, folder)
        committed = read_committed(folder)
        if series.is_published(release):
            return _already_published(series, release, committed, inputs)
        if committed is not None and committed.inputs == inputs:
            return committed
        (folder / COMMITTED).unlink(missing_ok=True)
        return _compute(series, release, folder, inputs)


def _compute(series: Series, release: str, folder: Path, inputs: str) -> Committed:
    contract, principle = series.contract, principle_of(series.contract)
    clock = _Clock()
    people = pl.read_parquet(folder / "snapshot.parquet")
    before = _state_before(series, release, people)
    clock.lap("files")
    candidate = principle.release(
        people, contract, before, series.number(release), lambda purpose: series.draw(release, purpose)
    )
    clock.lap("algorithm")
    evidence = principle.evidence(candidate.published, candidate.linkage, people, before, contract)
    verdicts = judge(evidence, principle.parameters(contract, candidate.figures))
    refuse_broken(series, release, verdicts)
    clock.lap("audit")
    written = _write(folder, candidate)
    clock.lap("files")
    record = {
        "inputs": inputs,
        "figures": dict(candidate.figures),
        "widths": _mean_widths(evidence),
        "audit": [verdict.as_json() for verdict in verdicts],
        "seconds": clock.seconds,
        "parameters": contract.principle.model_dump(mode="json"),
        "files": written,
    }
    series.history.record_candidate(_history_row(series, release, record), candidate.buckets)
    write_json(folder / COMMITTED, record)
    return _committed(record, is_new=True)


def refuse_broken(series: Series, release: str, verdicts: list[Verdict]) -> None:
    """Raise AuditFailed if any promise is broken, naming each and how often."""
    broken = [f"{verdict.promise}: {' '.join(verdict.broken)}" for verdict in verdicts if not verdict.passed]
    if broken:
        error = AuditFailed(
            f"{series.name} {release}: the audit failed, nothing is published. {'; '.join(broken)}"
        )
        error.verdicts = verdicts
        raise error


def _inputs(series: Series, release: str, folder: Path) -> str:
    """A digest of everything the published bytes depend on."""
    previous = series.previous(release)
    before = read_json(series.private(previous) / COMMITTED) if previous else None
    snapshot = read_json(folder / "snapshot.json") or {}
    parts = {
        "release": [series.name, release, series.number(release)],
        "snapshot": snapshot.get("sha256"),
        "before": before and before["inputs"],
        "code": code_version(series.contract),
        "privacy": series.contract.privacy_digest(),
        "key": series.key_fingerprint,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _already_published(series: Series, release: str, committed: Committed | None, inputs: str) -> Committed:
    """A published release is verified, never computed again."""
    verify_release(series.published(release))
    if committed is None:  # its private folder is not kept any more: its bytes are all there is to verify
        return _committed(_record_in_history(series, release), is_new=False)
    if committed.inputs != inputs:
        raise AlreadyPublished(
            f"{series.name} {release} is published, and was made from other inputs or parameters than the"
            " present ones. A published release can't be made again: let the change take effect from the"
            " next release on, or begin a new series"
        )
    return committed


def _state_before(series: Series, release: str, people: pl.DataFrame) -> State:
    previous = series.previous(release)
    if previous is None:
        return State.empty(people.schema[series.contract.sensitive.name])
    folder = series.private(previous)
    if read_committed(folder) is None:
        raise HomeError(
            f"{series.name} {release} is built on the release before, {previous}, which is not there with an"
            f" audit passed. Release {previous} first"
        )
    return State(
        memory=pl.read_parquet(folder / "memory.parquet"),
        buckets=pl.read_parquet(folder / "signatures.parquet"),
    )


def _write(folder: Path, candidate: Candidate) -> dict[str, str]:
    """Write a candidate's tables; returns their SHA-256 by file name."""
    tables = {
        **{f"candidate-{name}": table for name, table in candidate.published.items()},
        "linkage": candidate.linkage.sort(pl.all()),
        "buckets": candidate.buckets,
        "memory": candidate.state.memory,
        "signatures": candidate.state.buckets,
    }
    for name, table in tables.items():
        write_table(folder / f"{name}.parquet", table)
    return {f"{name}.parquet": sha256(folder / f"{name}.parquet") for name in tables}


def read_committed(folder: Path) -> Committed | None:
    """The committed candidate in a private folder, or None if there is none or its files were touched."""
    record = read_json(folder / COMMITTED)
    if record is None:
        return None
    for name, digest in record["files"].items():
        if not (folder / name).exists() or sha256(folder / name) != digest:
            return None
    return _committed(record, is_new=False)


def _committed(record: Mapping[str, Any], *, is_new: bool) -> Committed:
    return Committed(
        inputs=record["inputs"],
        figures=record["figures"],
        widths=record["widths"],
        verdicts=[Verdict(**verdict) for verdict in record["audit"]],
        seconds=record["seconds"],
        is_new=is_new,
    )


def _record_in_history(series: Series, release: str) -> dict[str, Any]:
    rows = series.history.releases(series.contract.product, series.contract.series).filter(release=release)
    if rows.is_empty():
        return {"inputs": "", "figures": {}, "widths": {}, "audit": [], "seconds": {}}
    row = rows.row(0, named=True)
    figures = json.loads(row["figures"])
    return {
        "inputs": row["inputs"],
        "figures": figures,
        "widths": {},
        "audit": json.loads(row["audit"]),
        "seconds": json.loads(row["seconds"]),
    }


def _mean_widths(evidence: Mapping[str, pl.DataFrame]) -> dict[str, float]:
    widths = evidence.get("minimum_widths")
    if widths is None:
        return {}
    return {column: mean or 0.0 for column, mean in widths.select("column", "mean_width").iter_rows()}


def _history_row(series: Series, release: str, record: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "product": series.contract.product,
        "series": series.contract.series,
        "release": release,
        "n": series.number(release),
        "status": "audited",
        "principle": series.contract.principle.name,
        "parameters": record["parameters"],
        "figures": {
            **record["figures"],
            **{f"mean width of {qi}": width for qi, width in record["widths"].items()},
        },
        "audit": record["audit"],
        "seconds": record["seconds"],
        "inputs": record["inputs"],
    }


class _Clock:
    """Seconds by what they were spent on."""

    def __init__(self):
        self.seconds: dict[str, float] = {}
        self._at = time.perf_counter()

    def lap(self, spent_on: str) -> None:
        now = time.perf_counter()
        self.seconds[spent_on] = round(self.seconds.get(spent_on, 0.0) + now - self._at, 3)
        self._at = now
