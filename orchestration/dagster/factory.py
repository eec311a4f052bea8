"""A contract in, a data product out: adding a product is adding a YAML file."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import partial

import dagster as dg

from republish.orchestration.contracts.contract_file import ContractFile
from republish.orchestration.dagster.assets import assets_of
from republish.orchestration.dagster.names import job_name, series_tag
from republish.orchestration.dagster.other_series import other_series
from republish.orchestration.dagster.partitions import ONCE_A_DATE_IS_THERE
from republish.orchestration.dagster.schedule import schedule_of, sensor_of
from republish.orchestration.dagster.watch import checks_of, watch, watch_sensor
from republish.orchestration.series.series import Series
from republish.orchestration.snapshots.previous import published_here

_log = logging.getLogger(__name__)


def product_definitions(series: Series, *, among: Iterable[ContractFile] = ()) -> dg.Definitions:
    """The assets, checks, job, schedule and sensor of the product that a series' contract declares.

    They need no resource, IO manager or executor of the project that they are in. Other series of the product
    are there to be looked at.

    Parameters
    ----------
    series
        The product's.
    among
        The contracts of the home. Of products whose releases name each other, the lineage says nothing.
    """
    apart = _each_other(series, among)
    if apart:
        _log.warning(
            "%s name releases of each other: their lineage is not shown",
            ", ".join(sorted({*apart, series.contract.product})),
        )
    assets, releases = assets_of(series, apart), series.contract.releases
    cron = ONCE_A_DATE_IS_THERE if releases.dates else releases.cron
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
        sensors=[
            sensor_of(series),
            watch_sensor(series.home, series.contract.product, series.name, partial(watch, series)),
        ],
        asset_checks=watched,
    )


def _each_other(series: Series, among: Iterable[ContractFile]) -> set[str]:
    """The other products of a circle, of any length, that are joined with releases of each other."""
    if not published_here(series.file, series.home):
        return set()
    import networkx as nx  # noqa: PLC0415 - takes a while, and few products are joined with others

    product, joined = series.contract.product, nx.DiGraph()
    for file in (series.file, *among):
        others = published_here(file, series.home)
        joined.add_edges_from((file.contract.product, other) for other, _ in others)
    circle: set[str] = next(one for one in nx.strongly_connected_components(joined) if product in one)
    return circle - {product}
