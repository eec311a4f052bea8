"""A contract in, a data product out: adding a product is adding a YAML file."""

from __future__ import annotations

from collections.abc import Collection

import dagster as dg

from orchestration.dagster.assets import assets_of
from orchestration.dagster.names import job_name, series_tag
from orchestration.dagster.other_series import other_series
from orchestration.dagster.schedule import schedule_of, sensor_of
from orchestration.dagster.watch import checks_of, watch_sensor
from orchestration.series.series import Series


def product_definitions(series: Series, *, apart: Collection[str] = ()) -> dg.Definitions:
    """The assets, checks, job, schedule and sensor of the product that a series' contract declares.

    They need the resources of the series' home (`resources`), which all products share. Of products that are
    `apart`, the lineage says nothing. Other series of the product are there to be looked at.
    """
    assets, cron = assets_of(series, apart), series.contract.releases.cron
    watched = checks_of(series)
    job = dg.define_asset_job(
        job_name(series.contract.product),
        selection=dg.AssetSelection.assets(*(key for asset in assets for key in asset.keys))
        - dg.AssetSelection.checks(*watched),
        description=f"One release of {series.name}, from snapshot to publication.",
        executor_def=dg.in_process_executor,
        tags=series_tag(series),
    )
    return dg.Definitions(
        assets=[*assets, *other_series(series)],
        jobs=[job],
        schedules=[schedule_of(series, cron)] if cron else [],
        sensors=[sensor_of(series), watch_sensor(series)],
        asset_checks=watched,
        executor=dg.in_process_executor,
    )
