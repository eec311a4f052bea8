"""What Dagster is told of releases that are facts, so that it never calls them stale or failed."""

from collections.abc import Set as AbstractSet

import dagster as dg
from dagster._core.definitions.data_version import get_input_event_pointer_tag

from orchestration.series.series import Series

LAST_EVENT = str(2**62)
"""Later than every event that Dagster will ever number."""


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
    return {get_input_event_pointer_tag(key): LAST_EVENT for key in inputs}


def keep_facts(context: dg.AssetExecutionContext, series: Series) -> None:
    """Note the published releases of a run that fails as what they were before it.

    Dagster marks every partition of a failed run as failed. A backfill over published releases and one whose
    snapshot is missing would turn all of them red, although they are as they were published.
    """
    published = [release for release in context.partition_keys if series.is_published(release)]
    for key in sorted(context.job_def.asset_layer.executable_asset_keys) if published else ():
        # The partitions that this run was to make and has not made yet.
        storage = context.instance.event_log_storage
        waiting = storage.get_latest_asset_partition_materialization_attempts_without_materializations(key)
        for release in set(published) & waiting.keys():
            context.log_event(_as_before(context.instance, key, release))


def _as_before(instance: dg.DagsterInstance, key: dg.AssetKey, release: str) -> dg.AssetMaterialization:
    """The last materialization once more, with all its figures; without one, that the release is there."""
    filters = dg.AssetRecordsFilter(asset_key=key, asset_partitions=[release])
    found = instance.fetch_materializations(filters, limit=1).records
    before = found[0].asset_materialization if found else dg.AssetMaterialization(key, partition=release)
    return dg.AssetMaterialization(
        key,
        partition=release,
        description="Published before, and as it was published.",
        metadata=before.metadata,
        tags=before.tags,
    )
