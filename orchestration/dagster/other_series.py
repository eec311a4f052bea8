"""The other series of a product, to be looked at: their releases, plots and runs stay as they were left."""

from __future__ import annotations

from collections.abc import Sequence

import dagster as dg

from republish.anonymize.principles import PRINCIPLES
from republish.orchestration.dagster.lineage import lineage
from republish.orchestration.dagster.names import (
    COUNTERFEITS,
    SERIES_TAG,
    asset_key,
    group_name,
    tag_value,
)
from republish.orchestration.series.other_series import siblings
from republish.orchestration.series.place import Place
from republish.orchestration.series.series import Series
from republish.orchestration.storage.manifest import MANIFEST
from republish.orchestration.storage.parts import table_of
from republish.orchestration.storage.store import read_json


def other_series(series: Series) -> list[dg.AssetSpec]:
    """Assets of the product's series that a contract does not declare, with their published releases.

    Dagster shows what was made of them, and can't make any: they have no code, no job and no sensor.
    """
    specs: dict[dg.AssetKey, dg.AssetSpec] = {}
    for place in siblings(series.home, series.product, series.series):
        description = (
            f"Series {place.series}, as it was left. To be looked at: releases are made of {series.series},"
            " the series that the contract declares."
        )
        described = published_assets(place, description, series.contract.owners)
        specs |= {spec.key: spec for spec in described}
    # Series begun by earlier software share their keys, for their facts do not say which was the first.
    return [spec for key, spec in specs.items() if key != asset_key(series, key.path[-1])]


def published_assets(place: Place, description: str, owners: Sequence[str] = ()) -> list[dg.AssetSpec]:
    """The assets of a series with releases, as its last manifest describes them; nothing makes them."""
    releases = place.releases
    stated = read_json(place.published(releases[-1]) / MANIFEST) or {}
    principle = PRINCIPLES.get(stated.get("principle", {}).get("name"))
    memory = principle.memory.name if principle and principle.memory else None
    published = {table_of(name) for name in stated.get("files", ())}
    above = lineage(memory, has_counterfeits=COUNTERFEITS in published)
    keys = {asset: asset_key(place, asset) for asset in above}
    return [
        dg.AssetSpec(
            keys[asset],
            deps=[keys[parent] for parent in parents],
            description=description,
            group_name=group_name(keys[asset]),
            owners=list(owners),
            tags={SERIES_TAG: tag_value(place.series)} | ({"principle": principle.name} if principle else {}),
            partitions_def=dg.StaticPartitionsDefinition(releases),
        )
        for asset, parents in above.items()
    ]
