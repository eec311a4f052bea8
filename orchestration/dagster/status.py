"""The status of published releases in Dagster: never stale and never failed."""

from collections.abc import Set as AbstractSet

import dagster as dg

from orchestration.dagster.lineage import lineage_of
from orchestration.dagster.names import asset_key
from orchestration.dagster.partitions import release_partitions
from orchestration.dagster.private import newest_input
from orchestration.series.series import Series


def version_tags(spec: dg.AssetSpec, made_here: AbstractSet[dg.AssetKey]) -> dict[str, str]:
    """Tags of a materialization that say which of its inputs it was made from: the newest there are.

    A release is made once, so all materializations of it have the same data version, that of its series.
    Dagster would still show it as unsynced: it takes inputs that the same step made, or an earlier release of
    the same run, to have come later.

    Parameters
    ----------
    spec
        The asset that is materialized.
    made_here
        The assets of its step.
    """
    inputs = {dep.asset_key for dep in spec.deps} & made_here
    return {name: value for key in inputs for name, value in newest_input(key).items()}


def keep_facts(context: dg.AssetExecutionContext, series: Series) -> None:
    """Note the published releases of a run that fails as what they were before it.

    Dagster marks every partition of a failed run as failed. A backfill over published releases and one whose
    snapshot is missing would turn all of them red, although they are as they were published.
    """
    published = [release for release in context.partition_keys if series.is_published(release)]
    partitions = release_partitions(series.file)
    for key in [asset_key(series, asset) for asset in lineage_of(series.contract)] if published else ():
        found = context.instance.get_status_by_partition(key, published, partitions) or {}
        for release, status in found.items():
            # A run that is not over has a partition in progress which it was to make and has not made yet.
            if status is not None and status.value == "IN_PROGRESS":
                context.log_event(_as_before(context.instance, key, release))


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
