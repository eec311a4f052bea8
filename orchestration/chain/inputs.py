"""The inputs of a release, as they lie in the home now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from republish.anonymize.columns import CORRECTED, PSEUDONYM
from republish.anonymize.errors import HomeError, SnapshotError
from republish.anonymize.principles import principle_of
from republish.orchestration.chain.delta import CHANGES
from republish.orchestration.chain.snapshot import KEPT, PEOPLE, content_digest
from republish.orchestration.series.predecessor import Predecessor
from republish.orchestration.series.release_record import STATE
from republish.orchestration.series.series import Series
from republish.orchestration.series.shards import Shard
from republish.orchestration.snapshots.previous import read_previous
from republish.orchestration.storage.store import read_json, read_table

LAYOUT = "dated tables"
"""How tables are laid out in files: a candidate of another layout is made anew before it is published."""


def made_from(series: Series, release: str, predecessor: Predecessor) -> dict[str, Any]:
    """Everything that a release's published bytes depend on, as it is now."""
    snapshot = read_json(series.private(release) / KEPT) or {}
    return {
        "number": series.chain_number(release),
        "snapshot": snapshot.get("sha256"),
        "release before": predecessor.committed.tables(STATE) if predecessor.committed else None,
        "algorithm": principle_of(series.contract).version,
        "parameters": series.contract.privacy_digest(),
        "key": series.key_fingerprint,
        "layout": LAYOUT,
        "shards": series.contract.shards,
        **_previous_digest(series, release),
    }


def people_of(shard: Shard, release: str, folder: Path) -> pl.DataFrame:
    """T(n): the people of a shard's snapshot, as far as the delta says that they are there.

    The folder is that of the shard, in that of the release.

    Raises HomeError if the delta was made of another snapshot.
    """
    people, series = read_table(folder / PEOPLE), shard.series
    file = folder / CHANGES
    changes = read_table(file) if file.exists() else people.select(PSEUDONYM).clear()
    present = changes.filter(pl.col("change") != "deleted") if changes.height else changes
    if not people[PSEUDONYM].equals(present[PSEUDONYM]):  # both are in the order of pseudonyms
        raise HomeError(
            f"{series.name} {release}: the delta is not that of the snapshot. Materialize"
            f" {series.contract.product}/delta once more, or run republish release"
        )
    if CORRECTED not in changes.columns:
        return people
    return people.join(changes.select(PSEUDONYM, CORRECTED), on=PSEUDONYM, maintain_order="left")


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
