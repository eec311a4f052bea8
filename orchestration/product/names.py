"""What assets, checks and jobs are called: in code, in the UI and in the docs."""

import dagster as dg

from orchestration.series.series import Series

SNAPSHOT = "snapshot"
DELTA = "delta"
RELEASE = "release"
COUNTERFEITS = "counterfeits"
AUDIT = "audit"
PUBLICATION = "publication"

SNAPSHOT_CHECK = "snapshot"
CHAIN_CHECK = "manifest_chain"


def series_tag(series: Series) -> dict[str, str]:
    """What every run of a series is tagged with, whoever begins it."""
    return {"republish/series": series.contract.series}


def asset_key(product: str, asset: str) -> dg.AssetKey:
    """Assets are prefixed by their product."""
    return dg.AssetKey([product, asset])


def job_name(product: str) -> str:
    """The job that makes a release of a product, from snapshot to publication."""
    return f"release_{product}"
