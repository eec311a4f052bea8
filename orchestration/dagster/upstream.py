"""Upstream assets: made in other code locations, and a release waits for them."""

from __future__ import annotations

import datetime as dt

import dagster as dg

from republish.orchestration.dagster.names import upstream_keys
from republish.orchestration.series.calendar import FORMAT
from republish.orchestration.series.series import Series


def missing_upstream(series: Series, release: str, instance: dg.DagsterInstance) -> dg.AssetKey | None:
    """The first asset upstream of a release that is not materialized for it; None if all of them are."""
    for key in upstream_keys(series.contract):
        if materialized(instance, key, release) is None:
            return key
    return None


def materialized(instance: dg.DagsterInstance, key: dg.AssetKey, release: str) -> int | None:
    """The number of the last materialization of an upstream asset for a release; None if there is none.

    An asset with partitions has to be materialized for the partition of the release's name; one without, at
    any time since the release's date.
    """
    records = instance.fetch_materializations(
        dg.AssetRecordsFilter(asset_key=key, asset_partitions=[release]), limit=1
    ).records
    if not records:
        date = dt.datetime.strptime(release, FORMAT).replace(tzinfo=dt.UTC).timestamp()
        since = dg.AssetRecordsFilter(asset_key=key, after_timestamp=date)
        latest = instance.fetch_materializations(since, limit=1).records
        records = [record for record in latest if record.partition_key is None]
    return records[0].storage_id if records else None
