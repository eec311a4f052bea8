"""The delta: changes from the snapshot before to this one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from anonymize.columns import IDENTIFIER, VALUE
from anonymize.contract.expected import (
    RENAMED,
    DeltaFigures,
    describe_expected,
    describe_odd,
    expected_of_snapshot,
)
from anonymize.errors import HomeError, SnapshotError
from anonymize.people.delta import delta, delta_figures
from anonymize.people.renaming import declarable, describe_renamings, suspected_renamings
from orchestration.chain.snapshot import PEOPLE, Snapshot, kept_snapshot
from orchestration.contracts.yaml_text import on_a_line
from orchestration.expectations import Verdict, judge
from orchestration.series.basis import Basis, basis_of
from orchestration.series.series import Series
from orchestration.snapshots.identifiers import all_but_one_character, changed_form, drifted, gone_and_new
from orchestration.storage.store import read_table, write_table

EXPECTED = "expected"
"""The check and the suite of what is ordinary."""


@dataclass(frozen=True)
class Delta:
    """What changed since the snapshot before."""

    changes: pl.DataFrame
    """What became of each person."""
    figures: DeltaFigures
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
            if not file.exists():
                return None
            changes = read_table(file)
            return _judged(series, release, changes, delta_figures(changes))
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
    renamed = _renamings(before, now)
    changes = _changes(before, now)
    figures = _suspicious(delta_figures(changes), before, now, renamed)
    compared = _judged(series, release, changes, figures)
    if not compared.verdict.passed:
        reasons = describe_odd(compared.evidence) or compared.verdict.broken
        odd = compared.evidence.filter(pl.col("odd") > 0)["measure"].to_list()
        if "carried" in odd and before is not None:
            reasons += filter(None, [changed_form(before.table[IDENTIFIER], now.table[IDENTIFIER])])
        ways_out = [_way_out(renamed)] if RENAMED in odd and renamed is not None else []
        accepted = f"accept: {{{release}: [{', '.join(odd)}]}}"
        ways_out.append(f"Correct the snapshot; or, if it is right, accept it in the contract, {accepted}")
        raise SnapshotError(
            f"{series.name} {release}: {'; '.join(reasons)}. {' '.join(ways_out)}", [compared.verdict]
        )
    return compared


def _renamings(before: Snapshot | None, now: Snapshot) -> pl.DataFrame | None:
    """Values that look renamed since the snapshot before; None if there is nothing to compare."""
    if before is None or VALUE not in before.table.columns or VALUE not in now.table.columns:
        return None
    return suspected_renamings(before.table, now.table)


def _way_out(renamed: pl.DataFrame) -> str:
    """Which values look renamed, and what the contract may say of them."""
    declared = declarable(renamed)
    ways = [f"write under sensitive: {on_a_line({'renamed': declared})[1:-1]}"] if declared else []
    if len(declared) < renamed.height:
        ways.append("where a value was split, merged or recoded as a number, undo that in the source")
    return (
        f"{'; '.join(describe_renamings(renamed))}. Two names of one value give away the people"
        f" who have it: if it is the same value, {', and '.join(ways)}."
    )


def _suspicious(
    figures: DeltaFigures, before: Snapshot | None, now: Snapshot, renamed: pl.DataFrame | None
) -> DeltaFigures:
    """With how many people may be somebody who left, or have a value that somebody had."""
    if before is None:
        return figures
    gone, new = gone_and_new(before.table[IDENTIFIER], now.table[IDENTIFIER])
    return replace(
        figures,
        renamed=None if renamed is None else int(renamed["people"].sum()),
        drifted=drifted(gone, new),
        all_but_one_character=all_but_one_character(gone, new),
    )


def _judged(series: Series, release: str, changes: pl.DataFrame, figures: DeltaFigures) -> Delta:
    contract = series.contract
    evidence = expected_of_snapshot(figures, contract, contract.accepted(release))
    words = describe_expected(evidence)
    if alike := figures.all_but_one_character:
        words += f"; {alike:,} new people's identifiers are, but for one character, like one that is gone"
    verdict = judge({EXPECTED: evidence}, {})[0].with_words(words, evidence)
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
