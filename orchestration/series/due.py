"""Which releases of a contract are due: one for every tick of its schedule so far.

Dagster's partitions are the same (`orchestration/dagster/partitions.py`), with one exception: Dagster has the
first one a period before its date.
"""

from __future__ import annotations

import datetime as dt
import itertools
from functools import lru_cache

from republish.orchestration.contracts.contract_file import ContractFile

FORMAT = "%Y-%m-%d"


def due_releases(file: ContractFile) -> list[str]:
    """The dates of all releases of a contract up to now, none before the first date.

    Without a schedule there is a single one.
    """
    minute = now().replace(second=0, microsecond=0)  # a schedule ticks on whole minutes
    releases = file.contract.releases
    return list(_due(file.first_release, releases.cron, releases.last, minute))


@lru_cache
def _due(first: str, cron: str | None, last: dt.date | None, minute: dt.datetime) -> tuple[str, ...]:
    from republish.orchestration.contracts.schedule import ticks  # noqa: PLC0415 - not in the small install

    date = dt.date.fromisoformat(first)
    single = dt.datetime.combine(date, dt.time(), dt.UTC)
    every = ticks(cron, date) if cron else iter([single])
    past = itertools.takewhile(lambda tick: tick <= minute, every)
    return tuple(f"{tick:{FORMAT}}" for tick in past if last is None or tick.date() <= last)


def none_is_due(file: ContractFile) -> str:
    """A sentence on a contract before its first date."""
    return f"no release is due yet; the first is {file.first_release}, and today is {today()}"


def now() -> dt.datetime:
    """The time by this machine's clock, UTC: what decides which releases are due."""
    return dt.datetime.now(dt.UTC)


def today() -> str:
    """The date by this machine's clock, UTC."""
    return now().strftime(FORMAT)
