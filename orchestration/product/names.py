"""What assets, checks and jobs are called: in code, in the UI and in the docs."""

import dagster as dg

from anonymize.contract import Product
from orchestration.series.series import Series

SNAPSHOT = "snapshot"
DELTA = "delta"
RELEASE = "release"
COUNTERFEITS = "counterfeits"
AUDIT = "audit"
PUBLICATION = "publication"

SNAPSHOT_CHECK = "snapshot"
CHAIN_CHECK = "manifest_chain"

SERIES_TAG = "republish/series"
"""The tag of runs and materializations that names their series."""


def series_tag(series: Series) -> dict[str, str]:
    """What every run of a series is tagged with, whoever begins it."""
    return {SERIES_TAG: series.contract.series}


def asset_key(product: str, asset: str) -> dg.AssetKey:
    """Assets are prefixed by their product."""
    return dg.AssetKey([product, asset])


def upstream_keys(contract: Product) -> list[dg.AssetKey]:
    """The assets that others make and snapshots are made from."""
    return [dg.AssetKey.from_user_string(key) for key in contract.upstream]


def job_name(product: str) -> str:
    """The job that makes a release of a product, from snapshot to publication."""
    return f"release_{product}"
