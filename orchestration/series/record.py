"""The row of a release in the history's table of releases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
