"""The schedule of a contract: when it ticks, UTC.

Dagster runs the schedule, and names partitions by its ticks. Dagster takes seconds to import, so these ticks
are those of croniter, which Dagster has a copy of. The two agree on every schedule that has no fault here.
"""

from __future__ import annotations

import datetime as dt
import itertools
import re
from collections.abc import Iterator

from croniter import croniter
from croniter.croniter import CroniterBadDateError

BY_CHANCE = re.compile(r"(?<![a-z])r(?![a-z])", re.IGNORECASE)
"""R in place of a number: any number, another one in each process."""
NEAREST_WEEKDAY = re.compile(r"\dw|\bw\d", re.IGNORECASE)
"""15W, the weekday that is nearest to the 15th: croniter has it, and Dagster's older croniter does not."""
LEAP_DAY = 29
"""Dagster's older croniter goes astray on it in February: beside a weekday partitions are missing, and in
March of a leap year nothing can be run until the schedule ticks again."""
NEVER = {30, 31}
"""Days that February does not have: Dagster refuses one of them by itself."""


def schedule_fault(cron: str, first: dt.date) -> str | None:
    """The fault of a schedule of releases, and the way out; None if it has none.

    `first` is the date from which on it ticks.
    """
    if not _is_accepted(cron):
        meant = "five fields, minute hour day month weekday, as in 0 0 1 */3 *"
        return f"{cron} is not a schedule that Dagster accepts: {meant}"
    if BY_CHANCE.search(cron):
        return f"{cron} ticks at times by chance, and releases are named by their date: write numbers for R"
    if misread := _misread(cron):
        return misread
    two = [tick.date() for tick in itertools.islice(ticks(cron, first), 2)]
    if len(two) < 2:
        return f"{cron} never ticks on or after {first}"
    if two[0] == two[1]:  # a cron has the same hours on every day it ticks on
        return f"{cron} ticks more than once a day, and releases are named by their date"
    return None


def ticks(cron: str, first: dt.date) -> Iterator[dt.datetime]:
    """Every tick of a schedule from the midnight of a date on, UTC, until there is none for 50 years."""
    try:
        before = dt.datetime.combine(first, dt.time()) - dt.timedelta(seconds=1)
        following = croniter(cron, before, ret_type=dt.datetime)
        while True:
            yield following.get_next().replace(tzinfo=dt.UTC)
    except (CroniterBadDateError, OverflowError, ValueError):  # 31 April; the year 10000
        return


def _is_accepted(cron: str) -> bool:
    """True if Dagster takes it for a schedule (its `is_valid_cron_string`)."""
    if NEAREST_WEEKDAY.search(cron) or not croniter.is_valid(cron):
        return False
    fields, *_ = croniter.expand(cron)
    if len(fields) != 5:
        return False
    _minute, _hour, days, months, _weekdays = fields
    return not (months == [2] and len(days) == 1 and days[0] in NEVER)


def _misread(cron: str) -> str | None:
    """The fault of a schedule on the 29th of which Dagster finds other ticks than there are, or none."""
    _minute, _hour, days, months, weekdays = croniter.expand(cron)[0]
    every = months == ["*"]
    if LEAP_DAY not in days or LEAP_DAY - 1 in days or "*/" in cron.split()[2]:
        return None
    if weekdays != ["*"] and (every or 2 in months):
        return (
            f"{cron} ticks on the 29th and on weekdays as well, which Dagster misreads in February: write the"
            " days of the month or the weekdays, and * for the other"
        )
    if (every or {2, 3} <= set(months)) and not {1, "l"} & set(days):
        return (
            f"{cron} ticks on the 29th, and after 29 February Dagster can't find its next tick: write 28,"
            " or L for the last day of the month"
        )
    return None
