"""The row of a published release in the history's table of releases, and its buckets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from republish.orchestration.series.release_record import ReleaseRecord
from republish.orchestration.storage.manifest import COUNTED


def release_row(
    manifest: Mapping[str, Any], committed: ReleaseRecord | None, manifest_sha256: str
) -> dict[str, Any]:
    """The row of a release, from its manifest and the record of its candidate if that is still there."""
    return {
        **{name: manifest[name] for name in ("product", "series", "release", "n")},
        "status": "published",
        "principle": manifest["principle"]["name"],
        "parameters": manifest["principle"],
        "figures": dict(committed.figures) if committed else {name: manifest[name] for name in COUNTED},
        "audit": [verdict.as_json() for verdict in committed.verdicts] if committed else [],
        "seconds": dict(committed.seconds) if committed else {},
        "made_from": dict(committed.made_from) if committed else {},
        "manifest_sha256": manifest_sha256,
    }


def joined_buckets(parts: Sequence[pl.DataFrame | None]) -> pl.DataFrame | None:
    """The buckets of all shards, those of one signature as one; None where there are none."""
    own = [buckets for buckets in parts if buckets is not None]
    if len(own) <= 1:
        return own[0] if own else None
    whole = pl.concat(own).group_by("signature").agg(pl.col("people", "counterfeits", "groups").sum())
    numbered = whole.sort("signature").with_columns(bucket_id=pl.int_range(pl.len(), dtype=pl.Int32))
    return numbered[own[0].columns]
