"""Which releases of a contract are due: one for every tick of its schedule so far.

These are the partitions that Dagster has (`orchestration/product/partitions.py`).
"""

from __future__ import annotations

import datetime as dt
import itertools
from functools import lru_cache

from orchestration.contracts.contract_file import ContractFile

FORMAT = "%Y-%m-%d"


def due_releases(file: ContractFile) -> list[str]:
    """The dates of all releases of a contract up to now. Without a schedule there is a single one.

    The first is among them early, as it is among Dagster's partitions: once the tick before it has passed. Of
    a single release, that tick is the midnight before.
    """
    minute = now().replace(second=0, microsecond=0)  # a schedule ticks on whole minutes
    return list(_due(file.first_release, file.contract.releases.cron, minute))


@lru_cache
def _due(first: str, cron: str | None, minute: dt.datetime) -> tuple[str, ...]:
    from orchestration.contracts.schedule import last_tick, ticks  # noqa: PLC0415 - not in the small install

    date = dt.date.fromisoformat(first)
    single = dt.datetime.combine(date, dt.time(), dt.UTC)
    every = ticks(cron, date) if cron else iter([single])
    so_far = tuple(f"{tick:{FORMAT}}" for tick in itertools.takewhile(lambda tick: tick <= minute, every))
    is_next = (last_tick(cron, date) if cron else single - dt.timedelta(days=1)) < minute
    return so_far or ((first,) if is_next else ())


def now() -> dt.datetime:
    """The time by this machine's clock, UTC: what decides which releases are due."""
    return dt.datetime.now(dt.UTC)


def today() -> str:
    """The date by this machine's clock, UTC."""
    return now().strftime(FORMAT)
