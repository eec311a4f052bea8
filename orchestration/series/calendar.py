"""The calendar of a contract: a release for every tick of its schedule, or on the dates that it lists.

Dagster's partitions are the same (`orchestration/dagster/partitions.py`), with one exception: Dagster has the
first one a period before its date.
"""

from __future__ import annotations

import datetime as dt
import itertools
from dataclasses import dataclass
from functools import lru_cache

from republish.orchestration.contracts.contract_file import ContractFile

FORMAT = "%Y-%m-%d"


@dataclass(frozen=True)
class Calendar:
    """The dates of the releases that a contract declares."""

    first: str
    """The date of the first release, YYYY-MM-DD."""
    cron: str | None = None
    """Its schedule; without one, the first release is the only one."""
    last: dt.date | None = None
    """No release is later."""
    dates: tuple[dt.date, ...] = ()
    """Those of all releases, where these follow no schedule."""

    @property
    def due(self) -> list[str]:
        """The dates of all releases up to now, none before the first date.

        Asked anew each time: Dagster's server runs for months.
        """
        minute = now().replace(second=0, microsecond=0)  # a schedule ticks on whole minutes
        return list(_due(self, minute))

    def number(self, release: str) -> int:
        """The n of a release, counted from 1. The first one has its number before it is due."""
        return 1 if release == self.first else self.due.index(release) + 1

    def until(self, release: str) -> list[str]:
        """The releases up to this one."""
        return self.due[: self.number(release)]

    def previous(self, release: str) -> str | None:
        """The release before, or None for the first."""
        number = self.number(release)
        return self.due[number - 2] if number > 1 else None

    def none_is_due(self) -> str:
        """A sentence on a contract before its first date."""
        return f"no release is due yet; the first is {self.first}, and today is {today()}"


def calendar_of(file: ContractFile) -> Calendar:
    """The calendar that a contract declares."""
    declared = file.contract.releases
    return Calendar(file.first_release, declared.cron, declared.last, declared.dates)


@lru_cache
def _due(calendar: Calendar, minute: dt.datetime) -> tuple[str, ...]:
    day = minute.date()
    if calendar.dates:
        return tuple(date.isoformat() for date in calendar.dates if date <= day)
    first = dt.date.fromisoformat(calendar.first)
    if day < first:
        return ()
    return (*_before(calendar, day), *_named(calendar, day, minute))


@lru_cache(maxsize=512)
def _before(calendar: Calendar, day: dt.date) -> tuple[str, ...]:
    """Those before a day, found once a day: a daily schedule of ten years has 3,650 of them."""
    midnight = dt.datetime.combine(day, dt.time(), dt.UTC)
    return _named(calendar, dt.date.fromisoformat(calendar.first), midnight - dt.timedelta(minutes=1))


def _named(calendar: Calendar, since: dt.date, until: dt.datetime) -> tuple[str, ...]:
    """The dates of a schedule's ticks from the midnight of a date up to a moment."""
    from republish.orchestration.contracts.schedule import ticks  # noqa: PLC0415 - not in the small install

    first = dt.date.fromisoformat(calendar.first)
    single = [dt.datetime.combine(first, dt.time(), dt.UTC)] if since == first else []
    every = ticks(calendar.cron, since) if calendar.cron else iter(single)
    past = itertools.takewhile(lambda tick: tick <= until, every)
    return tuple(f"{tick:{FORMAT}}" for tick in past if calendar.last is None or tick.date() <= calendar.last)


def now() -> dt.datetime:
    """The time by this machine's clock, UTC: what decides which releases are due."""
    return dt.datetime.now(dt.UTC)


def today() -> str:
    """The date by this machine's clock, UTC."""
    return now().strftime(FORMAT)
