"""What changed from the snapshot before to this one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from anonymize.columns import IDENTIFIER, VALUE
from anonymize.errors import HomeError, SnapshotError
from anonymize.evidence.expected import describe_expected, describe_odd, expected_of_snapshot
from anonymize.people.delta import delta, delta_figures
from orchestration.expectations import Verdict, judge
from orchestration.series.series import Series
from orchestration.snapshots.identifiers import changed_form
from orchestration.storage.store import read_json, read_table, write_table

EXPECTED = "expected"
"""The check and the suite of what is ordinary."""


@dataclass(frozen=True)
class Delta:
    """What changed since the snapshot before."""

    figures: Mapping[str, int]
    """How many people were carried, changed, deleted, inserted, and how many moved."""
    verdict: Verdict
    """What the suite `expected` found."""


def compare_snapshots(series: Series, release: str) -> Delta | None:
    """Keep which people were carried, inserted, deleted or changed, and judge whether that is ordinary.

    Of a published release, what was kept is read again; None if it is not kept any more.

    Raises
    ------
    SnapshotError
        If the snapshot is not what the contract expects, and is not accepted by name.
    """
    with series.locked_for(release) as folder:
        file = folder / "delta.parquet"
        is_published = series.is_published(release)
        if is_published and not file.exists():
            return None
        changes = read_table(file) if is_published else _changes(series, release)
        figures = delta_figures(changes)
        evidence = expected_of_snapshot(figures, series.contract, series.contract.accept.get(release, ()))
        verdict = judge({EXPECTED: evidence}, {})[0].with_words(describe_expected(evidence), evidence)
        if not is_published:
            _refuse_odd(series, release, evidence, verdict)
            write_table(file, changes)
        return Delta(figures, verdict)


def _refuse_odd(series: Series, release: str, evidence: pl.DataFrame, verdict: Verdict) -> None:
    if verdict.passed:
        return
    odd = evidence.filter(pl.col("odd") > 0)["measure"].to_list()
    reasons = describe_odd(evidence) or verdict.broken
    if "carried" in odd and (form := _other_form(series, release)):
        reasons.append(form)
    raise SnapshotError(
        f"{series.name} {release}: {'; '.join(reasons)}. Correct the snapshot; or, if it is right, accept it"
        f" in the contract, accept: {{{release}: [{', '.join(odd)}]}}",
        [verdict],
    )


def _other_form(series: Series, release: str) -> str | None:
    """What identifiers look like that changed their form since the snapshot before."""
    before = series.folder_before(release)
    files = [folder / "snapshot.parquet" for folder in (before, series.private(release)) if folder]
    if len(files) < 2 or not all(file.exists() for file in files):
        return None
    return changed_form(*(read_table(file)["identifier"] for file in files))


def _changes(series: Series, release: str) -> pl.DataFrame:
    now, names = _snapshot(series.private(release))
    if now is None:
        raise HomeError(
            f"{series.name} {release}: its snapshot was not taken yet. Materialize"
            f" {series.contract.product}/snapshot first, or run republish release"
        )
    folder = series.folder_before(release)
    before, former = _snapshot(folder) if folder else (None, {})
    if before is None and series.committed_before(release) is not None:
        # Without it, everybody would look like a new person, and nothing would look odd.
        raise HomeError(
            f"{folder / 'snapshot.parquet'}: is not there, and {series.name} {release} has to be compared"
            " with it. Put it back from a copy"
        )
    columns = {name: column for column, name in former.items()}
    attributes = {column: name for column, name in names.items() if column not in (IDENTIFIER, VALUE)}
    shared = {column: columns.get(name) for column, name in attributes.items()}
    if before is None:
        return delta(None, now, {})
    return delta(before, now, {ours: theirs for ours, theirs in shared.items() if theirs in before.columns})


def _snapshot(folder: Path) -> tuple[pl.DataFrame | None, dict[str, str]]:
    """The snapshot kept in a release's folder and what its columns are called, or None if it is not kept."""
    kept = read_json(folder / "snapshot.json") or {}
    file = folder / "snapshot.parquet"
    return (read_table(file) if file.exists() else None), kept.get("columns", {})
