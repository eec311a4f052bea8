"""What changed from the snapshot before to this one."""

from __future__ import annotations

import polars as pl

from anonymize.delta import delta, delta_figures
from orchestration.series import Series
from orchestration.store import write_table


def compare_snapshots(series: Series, release: str) -> dict[str, int]:
    """Keep who was carried, inserted, deleted or changed, and return how many were."""
    with series.held(release) as folder:
        if not (folder / "snapshot.parquet").exists():  # published, and not kept
            return {}
        current = pl.read_parquet(folder / "snapshot.parquet")
        changes = delta(_snapshot_before(series, release), current, series.contract)
        if not series.is_published(release):
            write_table(folder / "delta.parquet", changes)
        return delta_figures(changes)


def _snapshot_before(series: Series, release: str) -> pl.DataFrame | None:
    previous = series.previous(release)
    file = series.private(previous) / "snapshot.parquet" if previous else None
    return pl.read_parquet(file) if file and file.exists() else None
