"""What changed from the snapshot before to this one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from anonymize.columns import IDENTIFIER, VALUE
from anonymize.contract.expected import describe_expected, describe_odd, expected_of_snapshot
from anonymize.errors import HomeError, SnapshotError
from anonymize.people.delta import delta, delta_figures
from orchestration.chain.snapshot import PEOPLE, Snapshot, kept_snapshot
from orchestration.expectations import Verdict, judge
from orchestration.series.basis import Basis, basis_of
from orchestration.series.series import Series
from orchestration.snapshots.identifiers import changed_form
from orchestration.storage.store import read_table, write_table

EXPECTED = "expected"
"""The check and the suite of what is ordinary."""


@dataclass(frozen=True)
class Delta:
    """What changed since the snapshot before."""

    changes: pl.DataFrame
    """What became of each person."""
    figures: Mapping[str, int]
    """How many people were carried, changed, deleted, inserted, and how many moved."""
    evidence: pl.DataFrame
    """What the contract expects of these figures, a row per measure."""
    verdict: Verdict
    """What the suite `expected` found."""


def compare_snapshots(series: Series, release: str) -> Delta | None:
    """Keep which people were carried, inserted, deleted or changed, and judge whether that is ordinary.

    Of a published release, what was kept is read again; None if it is not kept any more.

    Raises
    ------
    SnapshotError
        If the snapshot is not what the contract expects, and is not accepted by name.
    HomeError
        If this snapshot was not taken yet, or the one before is gone.
    """
    with series.locked_for(release) as folder:
        file = folder / "delta.parquet"
        if series.is_published(release):
            return _judged(series, release, read_table(file)) if file.exists() else None
        now = kept_snapshot(folder)
        if now is None:
            raise HomeError(
                f"{series.name} {release}: its snapshot was not taken yet. Materialize"
                f" {series.contract.product}/snapshot first, or run republish release"
            )
        compared = compare(series, release, now, basis_of(series, release))
        write_table(file, compared.changes)
        return compared


def compare(series: Series, release: str, now: Snapshot, basis: Basis) -> Delta:
    """What changed since the snapshot that a release is built on, if that is ordinary.

    Raises
    ------
    SnapshotError
        If it is neither ordinary nor accepted by name.
    HomeError
        If the snapshot before is gone.
    """
    before = kept_snapshot(basis.folder) if basis.folder else None
    if before is None and basis.folder and basis.committed:
        # Without it, everybody would look like a new person, and nothing would look odd.
        raise HomeError(
            f"{basis.folder / PEOPLE}: is not there, and {series.name} {release} has to be compared with it."
            " Put it back from a copy"
        )
    compared = _judged(series, release, _changes(before, now))
    if not compared.verdict.passed:
        reasons = describe_odd(compared.evidence) or compared.verdict.broken
        odd = compared.evidence.filter(pl.col("odd") > 0)["measure"].to_list()
        if "carried" in odd and before is not None:
            reasons += filter(None, [changed_form(before.table[IDENTIFIER], now.table[IDENTIFIER])])
        raise SnapshotError(
            f"{series.name} {release}: {'; '.join(reasons)}. Correct the snapshot; or, if it is right, accept"
            f" it in the contract, accept: {{{release}: [{', '.join(odd)}]}}",
            [compared.verdict],
        )
    return compared


def _judged(series: Series, release: str, changes: pl.DataFrame) -> Delta:
    contract, figures = series.contract, delta_figures(changes)
    evidence = expected_of_snapshot(figures, contract, contract.accept.get(release, ()))
    verdict = judge({EXPECTED: evidence}, {})[0].with_words(describe_expected(evidence), evidence)
    return Delta(changes, figures, evidence, verdict)


def _changes(before: Snapshot | None, now: Snapshot) -> pl.DataFrame:
    """Columns are compared under the publisher's names: ours may have moved."""
    if before is None:
        return delta(None, now.table, {})
    former = {name: column for column, name in before.columns.items() if column in before.table.columns}
    shared = {
        column: former[name]
        for column, name in now.columns.items()
        if column not in (IDENTIFIER, VALUE) and name in former
    }
    return delta(before.table, now.table, shared)
