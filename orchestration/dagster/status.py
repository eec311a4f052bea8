"""Published releases are shown as published, also by a run that fails."""

from __future__ import annotations

from collections.abc import Collection

import dagster as dg

from republish.orchestration.dagster.lineage import lineage_of
from republish.orchestration.dagster.names import asset_key
from republish.orchestration.series.series import Series


def keep_facts(context: dg.AssetExecutionContext, series: Series, new: Collection[str] = ()) -> None:
    """Note the published releases of a run that fails as what they were before it, but for `new` ones.

    Dagster marks every partition that a failed run did not come to as failed. A backfill over published
    releases and one whose snapshot is missing would turn all of them red, although they are as they were
    published.
    """
    for asset in lineage_of(series.contract):
        for release in filter(series.is_published, context.partition_keys):
            if release in new:
                continue
            context.log_event(_as_before(context.instance, asset_key(series, asset), release))


def _as_before(instance: dg.DagsterInstance, key: dg.AssetKey, release: str) -> dg.AssetMaterialization:
    """The last materialization once more, with all its figures; without one, that the release is there."""
    filters = dg.AssetRecordsFilter(asset_key=key, asset_partitions=[release])
    found = instance.fetch_materializations(filters, limit=1).records
    before = found[0].asset_materialization if found else None
    before = before or dg.AssetMaterialization(key, partition=release)
    return dg.AssetMaterialization(
        key,
        partition=release,
        description="Published before, and as it was published.",
        metadata=before.metadata,
        tags=before.tags,
    )
