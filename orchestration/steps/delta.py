"""What changed from the snapshot before to this one."""

from __future__ import annotations

import polars as pl

from anonymize.columns import IDENTIFIER, VALUE
from anonymize.delta import delta, delta_figures
from orchestration.series.series import Series
from orchestration.storage.store import read_json, read_table, write_table


def compare_snapshots(series: Series, release: str) -> dict[str, int]:
    """Keep who was carried, inserted, deleted or changed, and return how many were.

    Of a published release, what was kept is read again; nothing if it is not kept any more.
    """
    with series.locked_for(release) as folder:
        file = folder / "delta.parquet"
        if series.is_published(release):
            return delta_figures(read_table(file)) if file.exists() else {}
        changes = _changes(series, release)
        write_table(file, changes)
        return delta_figures(changes)


def _changes(series: Series, release: str) -> pl.DataFrame:
    now, names = _snapshot(series, release)
    previous = series.previous(release)
    before, former = _snapshot(series, previous) if previous else (None, {})
    columns = {name: column for column, name in former.items()}
    attributes = {column: name for column, name in names.items() if column not in (IDENTIFIER, VALUE)}
    shared = {column: columns.get(name) for column, name in attributes.items()}
    if before is None:
        return delta(None, now, {})
    return delta(before, now, {ours: theirs for ours, theirs in shared.items() if theirs in before.columns})


def _snapshot(series: Series, release: str) -> tuple[pl.DataFrame | None, dict[str, str]]:
    """The kept snapshot of a release and what its columns are called, or None if it is not kept."""
    folder = series.private(release)
    kept = read_json(folder / "snapshot.json") or {}
    file = folder / "snapshot.parquet"
    return (read_table(file) if file.exists() else None), kept.get("columns", {})
