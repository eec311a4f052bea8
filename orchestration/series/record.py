"""The row of a release in the history's table of releases, and its buckets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from anonymize.contract import Product
from orchestration.series.committed import Committed
from orchestration.storage.manifest import COUNTED


def release_row(committed: Committed, contract: Product, release: str, n: int) -> dict[str, Any]:
    """The row of a candidate that passed its audit."""
    return {
        "product": contract.product,
        "series": contract.series,
        "release": release,
        "n": n,
        "status": "audited",
        "principle": committed.parameters["name"],
        "parameters": dict(committed.parameters),
        "figures": dict(committed.figures),
        "audit": [verdict.as_json() for verdict in committed.verdicts],
        "seconds": dict(committed.seconds),
        "made_from": dict(committed.made_from),
    }


def published_row(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a published release of which nothing is left but its manifest."""
    return {
        **{name: manifest[name] for name in ("product", "series", "release", "n")},
        "status": "audited",
        "principle": manifest["principle"]["name"],
        "parameters": manifest["principle"],
        "figures": {name: manifest[name] for name in COUNTED},
        "audit": [],
        "seconds": {},
        "made_from": {},
    }


def joined_buckets(parts: Sequence[pl.DataFrame | None]) -> pl.DataFrame | None:
    """The buckets of all shards, those of one signature as one; None where there are none."""
    own = [buckets for buckets in parts if buckets is not None]
    if len(own) <= 1:
        return own[0] if own else None
    whole = pl.concat(own).group_by("signature").agg(pl.col("people", "counterfeits", "groups").sum())
    numbered = whole.sort("signature").with_columns(bucket_id=pl.int_range(pl.len(), dtype=pl.Int32))
    return numbered[own[0].columns]
