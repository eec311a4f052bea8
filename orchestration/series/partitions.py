"""Releases as Dagster partitions: one for every tick of the contract's schedule."""

from __future__ import annotations

import datetime as dt
import warnings

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
    releases = file.contract.releases
    if releases.cron is None:
        day_after = dt.date.fromisoformat(file.first_release) + dt.timedelta(days=1)
        return dg.TimeWindowPartitionsDefinition(
            start=file.first_release, end=day_after.isoformat(), fmt=FORMAT, cron_schedule=DAILY, end_offset=1
        )
    return dg.TimeWindowPartitionsDefinition(
        start=file.first_release, fmt=FORMAT, cron_schedule=releases.cron, end_offset=1
    )


def today() -> str:
    """The date by this machine's clock, UTC: what decides which releases are due."""
    return dt.datetime.now(dt.UTC).strftime(FORMAT)


def previous_release() -> dg.TimeWindowPartitionMapping:
    """A release is built on the one before it; the first on none."""
    return dg.TimeWindowPartitionMapping(
        start_offset=-1, end_offset=-1, allow_nonexistent_upstream_partitions=True
    )
