"""Releases as Dagster partitions: one for every tick of the contract's schedule."""

from __future__ import annotations

import datetime as dt
import warnings
from functools import cache, lru_cache

import dagster as dg

from orchestration.contracts.contract_file import ContractFile

# What the chain of releases rests on is marked beta or preview by Dagster; the warning helps nobody here.
warnings.filterwarnings("ignore", category=dg.BetaWarning)
warnings.filterwarnings("ignore", category=dg.PreviewWarning)

FORMAT = "%Y-%m-%d"
DAILY = "0 0 * * *"


def release_partitions(file: ContractFile) -> dg.TimeWindowPartitionsDefinition:
    """The releases of a contract, named by their dates. A release is due on its date, not a period later.

    Without a schedule there is a single one.
    """
    return _partitions(file.first_release, file.contract.releases.cron)


def due_releases(file: ContractFile) -> list[str]:
    """The dates of all releases of a contract up to now."""
    with dg.partition_loading_context() as context:  # has the time that Dagster takes for now
        minute = context.effective_dt.replace(second=0, microsecond=0)  # a schedule ticks on whole minutes
    return list(_due(file.first_release, file.contract.releases.cron, minute))


@cache
def _partitions(first: str, cron: str | None) -> dg.TimeWindowPartitionsDefinition:
    if cron is None:
        day_after = dt.date.fromisoformat(first) + dt.timedelta(days=1)
        return dg.TimeWindowPartitionsDefinition(
            start=first, end=day_after.isoformat(), fmt=FORMAT, cron_schedule=DAILY, end_offset=1
        )
    return dg.TimeWindowPartitionsDefinition(start=first, fmt=FORMAT, cron_schedule=cron, end_offset=1)


@lru_cache
def _due(first: str, cron: str | None, minute: dt.datetime) -> tuple[str, ...]:
    return tuple(_partitions(first, cron).get_partition_keys(current_time=minute))


def today() -> str:
    """The date by this machine's clock, UTC: what decides which releases are due."""
    return dt.datetime.now(dt.UTC).strftime(FORMAT)


def previous_release() -> dg.TimeWindowPartitionMapping:
    """A release is built on the one before it; the first on none."""
    return dg.TimeWindowPartitionMapping(
        start_offset=-1, end_offset=-1, allow_nonexistent_upstream_partitions=True
    )
