"""Releases as Dagster partitions: one for every tick of the contract's schedule."""

from __future__ import annotations

import datetime as dt
import re
import warnings
from functools import cache

import dagster as dg

from republish.orchestration.contracts.contract_file import ContractFile
from republish.orchestration.contracts.schedule import ticks
from republish.orchestration.series.calendar import FORMAT

# What the chain of releases rests on is marked beta or preview by Dagster; the warning helps nobody here.
warnings.filterwarnings("ignore", category=dg.BetaWarning)
warnings.filterwarnings("ignore", category=dg.PreviewWarning)

DAILY = "0 0 * * *"
LEAP_DAY = re.compile(r" 29 2 \*$")
"""What Dagster takes for 28 February and shifts by a day: its partitions begin a day early, and one may be
missing."""


def release_partitions(file: ContractFile) -> dg.TimeWindowPartitionsDefinition:
    """The releases of a contract, named by their dates. A release is due on its date, not a period later.

    Without a schedule there is a single one.
    """
    releases = file.contract.releases
    return _partitions(file.first_release, releases.cron, releases.last)


@cache
def _partitions(first: str, cron: str | None, last: dt.date | None) -> dg.TimeWindowPartitionsDefinition:
    if cron is None:
        day_after = dt.date.fromisoformat(first) + dt.timedelta(days=1)
        return dg.TimeWindowPartitionsDefinition(
            start=first, end=day_after.isoformat(), fmt=FORMAT, cron_schedule=DAILY, end_offset=1
        )
    # A partition ends at the next tick. Dagster has those that end by this date, at midnight.
    after = None if last is None else next(ticks(cron, last + dt.timedelta(days=1)), None)
    end = after and (after if after.time() == dt.time() else after + dt.timedelta(days=1))
    return dg.TimeWindowPartitionsDefinition(
        start=first,
        end=f"{end:{FORMAT}}" if end else None,
        fmt=FORMAT,
        cron_schedule=for_dagster(cron),
        end_offset=1,
    )


def for_dagster(cron: str) -> str:
    """The same schedule as Dagster has to be given it, so that it ticks as written."""
    return LEAP_DAY.sub(" 29 FEB *", cron)
