"""The names of assets, checks and jobs: in code, in the UI and in the docs."""

import hashlib
import re

import dagster as dg

from republish.anonymize.contract import Product
from republish.orchestration.series.other_series import began_alone
from republish.orchestration.series.place import Place
from republish.orchestration.series.series import Series

SNAPSHOT = "snapshot"
DELTA = "delta"
RELEASE = "release"
COUNTERFEITS = "counterfeits"
AUDIT = "audit"
PUBLICATION = "publication"

SNAPSHOT_CHECK = "snapshot"
CHAIN_CHECK = "manifest_chain"
CONTRACT_CHECK = "contract"
FRESHNESS = "freshness"
FAILURE = "last_run"

SERIES_TAG = "republish/series"
"""The tag of assets, runs and materializations that names their series."""
PARTITION = "dagster/partition"
"""The tag of a run that names its release."""
COMMAND = {"republish/command": "release"}
"""The tag that tells the runs of the command line from those begun in the UI."""
LONGEST_TAG = 63
"""Letters in the value of an asset's or a materialization's tag, by Dagster's rule."""


def series_tag(series: Series) -> dict[str, str]:
    """The tag of every run of a series, whether it begins in the UI or by a command."""
    return {SERIES_TAG: series.contract.series}


def tag_value(series: str) -> str:
    """The name of a series as the tag of an asset or a materialization."""
    return series[:LONGEST_TAG]


def asset_key(place: Place, asset: str) -> dg.AssetKey:
    """The key of an asset of a series.

    Assets are prefixed by their product, those of a later series by the series too. Each series so keeps its
    own partitions, plots and runs, also where two have releases of the same dates.
    """
    prefix = [place.product] if began_alone(place) else [place.product, place.series]
    return dg.AssetKey([*prefix, asset])


def group_name(key: dg.AssetKey) -> str:
    """The group that an asset is shown in: its prefix, in the letters that Dagster accepts."""
    return re.sub(r"[^A-Za-z0-9_]", "_", "_".join(key.path[:-1]))


def upstream_keys(contract: Product) -> list[dg.AssetKey]:
    """The assets that others make and snapshots are made from."""
    return [dg.AssetKey.from_user_string(key) for key in contract.upstream]


def job_name(product: str) -> str:
    """The job that makes a release of a product, from snapshot to publication."""
    return f"release_{product}"


def automation_name(product: str, series: str) -> str:
    """The beginning of the names of what makes releases of a series by itself: no other series has it."""
    letters = re.sub(r"[^A-Za-z0-9]", "", series)
    digest = "" if letters == series else f"x{hashlib.sha256(series.encode()).hexdigest()[:8]}"
    return f"{job_name(product)}_{letters}{digest}"
