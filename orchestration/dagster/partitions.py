"""Releases as Dagster partitions: one for every tick of the contract's schedule."""

from __future__ import annotations

import datetime as dt
import re
import warnings
from functools import cache
from itertools import takewhile

import dagster as dg

from republish.orchestration.contracts.contract_file import ContractFile
from republish.orchestration.contracts.schedule import ticks
from republish.orchestration.series.calendar import FORMAT

# What the chain of releases rests on is marked beta or preview by Dagster; the warning helps nobody here.
warnings.filterwarnings("ignore", category=dg.BetaWarning)
warnings.filterwarnings("ignore", category=dg.PreviewWarning)

DAILY = "0 0 * * *"
ONCE_A_DATE_IS_THERE = "2 0 * * *"
"""When a release can be asked for, where the contract lists dates: partitions are a minute long then."""
LEAP_DAY = re.compile(r" 29 2 \*$")
"""What Dagster takes for 28 February and shifts by a day: its partitions begin a day early, and one may be
missing."""


def release_partitions(file: ContractFile) -> dg.TimeWindowPartitionsDefinition:
    """The releases of a contract, named by their dates. A release is due on its date, not a period later.

    Without a schedule there is a single one, or one for each date that the contract lists.
    """
    releases = file.contract.releases
    if releases.dates:
        return _on_dates(releases.dates)
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


@cache
def _on_dates(dates: tuple[dt.date, ...]) -> dg.TimeWindowPartitionsDefinition:
    """A partition for each of some dates: the ticks of a schedule that has all of them, but for all others.

    A partition is there once it has ended, and is to be there on its date: so each is a minute long.
    """
    days, months = {date.day for date in dates}, {date.month for date in dates}
    days |= {28} if 29 in days else set()  # by itself, Dagster goes astray on it
    fields = (",".join(map(str, sorted(numbers))) for numbers in (days, months))
    cron = "0,1 0 {} {} *".format(*fields)
    after = dates[-1] + dt.timedelta(days=1)
    end = dt.datetime.combine(after, dt.time(), dt.UTC)
    meant = {dt.datetime.combine(date, dt.time(), dt.UTC) for date in dates}
    others = [tick for tick in takewhile(lambda tick: tick < end, ticks(cron, dates[0])) if tick not in meant]
    return dg.TimeWindowPartitionsDefinition(
        start=f"{dates[0]:{FORMAT}}",
        end=f"{after:{FORMAT}}",
        fmt=FORMAT,
        cron_schedule=cron,
        exclusions=others,
    )


def for_dagster(cron: str) -> str:
    """The same schedule as Dagster has to be given it, so that it ticks as written."""
    return LEAP_DAY.sub(" 29 FEB *", cron)
