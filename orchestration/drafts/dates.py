"""Dates in the names of files, and the schedule that they follow."""

from __future__ import annotations

import datetime as dt
import difflib
import itertools
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from republish.anonymize.contract.source import QUARTER, SCHEDULES, write_date
from republish.orchestration.contracts.schedule import ticks

WRITTEN = {
    "%Y-%m-%d": r"\d{4}-\d{2}-\d{2}",
    "%Y_%m_%d": r"\d{4}_\d{2}_\d{2}",
    "%d.%m.%Y": r"\d{2}\.\d{2}\.\d{4}",
    "%Y%m%d": r"\d{8}",
    **{f"%Y{before}%q": rf"\d{{4}}{before}[1-4]" for before in ("-Q", "_Q", "Q", "-q", "_q", "q")},
    "%Y-%m": r"\d{4}-\d{2}",
    "%Y_%m": r"\d{4}_\d{2}",
    "%Y%m": r"\d{6}",
    "%Y": r"\d{4}",
}
"""Ways of writing a date in a file's name, and what each looks like; the longest first. Months, quarters and
years are written for their first day."""
ISO = "%Y-%m-%d"
YEARS = range(1900, 2200)


@dataclass(frozen=True)
class DatedFiles:
    """Files that are the same table at several dates."""

    folder: Path
    """The folder that the path begins in."""
    path: str
    """As a contract has it: `members_{release:%Y%m}.csv`."""
    name: str
    """What is left of the names without the date: `members`; empty if nothing is."""
    files: dict[str, Path]
    """By release, in their order."""


def dated_files(file: Path) -> DatedFiles | None:
    """A file with a date in its name, or its folder's, and the others that are named alike; None without."""
    for part in (file.name, file.parent.name):
        for written, looks in WRITTEN.items():
            for found in reversed([*re.finditer(rf"(?<!\d){looks}(?!\d)", part)]):
                if _date(found[0], written) is not None:
                    before, after = part[: found.start()], part[found.end() :]
                    return _alike(file, part == file.name, before, written, after)
    return None


def _alike(file: Path, is_name: bool, before: str, written: str, after: str) -> DatedFiles:
    folder = file.parent if is_name else file.parent.parent
    found = {}
    for place in sorted(folder.iterdir()):
        middle = place.name.removeprefix(before).removesuffix(after)
        date = _date(middle, written) if place.name == f"{before}{middle}{after}" else None
        one = place if is_name else place / file.name
        if date is not None and one.is_file():
            found[date.isoformat()] = one
    release = "{release}" if written == ISO else f"{{release:{written}}}"
    path = f"{before}{release}{after}" + ("" if is_name else f"/{file.name}")
    stem = before + (after.partition(".")[0] if is_name else "")
    return DatedFiles(folder, path, stem.strip("_-. "), dict(sorted(found.items())))


def _date(text: str, written: str) -> dt.date | None:
    try:
        date = first_day(text, written)
    except ValueError:
        return None
    return date if date.year in YEARS and write_date(date, written) == text else None


def first_day(time: str, form: str) -> dt.date:
    """The first day of a time, written in the codes of `write_date`. Raises ValueError if there is none."""
    if form == "%y":
        year = int(time)
        return dt.date(year + (1900 if year > dt.datetime.now(dt.UTC).year % 100 else 2000), 1, 1)
    if "%V" in form:  # a week begins on Monday
        time, form = f"{time} 1", f"{form} %u"
    day = dt.datetime.strptime(time, form.replace(QUARTER, "%m")).date()  # noqa: DTZ007 - a day has no zone
    return day.replace(month=3 * day.month - 2) if QUARTER in form else day


def named_nearly_alike(file: Path, taken: Collection[Path]) -> list[str]:
    """The names of files beside one that may be the same table at other dates, and are not taken for it."""
    others = [
        one.name
        for one in file.parent.iterdir()
        if one not in taken and one.suffix == file.suffix and one.name.count(".") == file.name.count(".")
    ]
    return sorted(difflib.get_close_matches(file.name, others, n=len(others) or 1, cutoff=0.8))


def schedule_of(releases: Sequence[str]) -> str | None:
    """The schedule whose ticks are these dates, none left out: the least frequent one; None if there is none.

    Examples
    --------
    >>> schedule_of(["2024-01-01", "2024-07-01", "2025-01-01"])
    '@halfyearly'
    >>> schedule_of(["2024-01-15", "2024-02-15"])
    '0 0 15 * *'
    >>> schedule_of(["2024-12-31", "2025-03-31", "2025-06-30"])  # L is the last day of a month
    '0 0 L 3,6,9,12 *'
    """
    dates = [dt.date.fromisoformat(release) for release in releases]
    if len(dates) < 2:
        return None
    first = dates[0]
    is_last = (first + dt.timedelta(days=1)).day == 1
    days = [first.day] * (first.day <= 28) + ["L"] * is_last
    monthly = [f"0 0 {day} {_months(first.month, step)} *" for day in days for step in (12, 6, 3, 1)]
    for cron in (*monthly, f"0 0 * * {first.isoweekday() % 7}", "0 0 * * *"):
        ticked = [tick.date() for tick in itertools.islice(ticks(cron, first), len(dates))]
        if ticked == dates:
            names = {fields: name for name, fields in SCHEDULES.items()}
            return names.get(cron, cron)
    return None


def _months(first: int, step: int) -> str:
    """Every so many months, one of which is the first, as a cron has them."""
    if step == 1 or (step == 3 and first % 3 == 1):
        return "*" if step == 1 else "*/3"
    return ",".join(map(str, sorted((first - 1 + at) % 12 + 1 for at in range(0, 12, step))))
