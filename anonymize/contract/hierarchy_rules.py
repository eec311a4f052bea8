"""Hierarchies by a rule: first letters of codes, intervals of whole numbers, parts of dates."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from republish.anonymize.contract.scalars import date_domain, number_domain, shown

ROOT = "any"
"""What is above all labels."""
PERIODS = ("month", "quarter", "year")
"""Parts of a date, the shortest first."""
FORMS = (
    "{prefix: [3, 1], labels: codes.csv}",
    "{steps: [5, 10, 25], domain: [0, 119]}",
    "{year, quarter, domain: [2020-01-01, 2029-12-31]}",
)
MOST_LEAVES = 200_000
ISO = re.compile(r"\d{4}-\d{2}-\d{2}")

Paths = list[list[str]]


def paths_by_rule(declared: Mapping[str, Any], read: Callable[[str], Sequence[Sequence[str]]]) -> Paths:
    """One path `leaf, parent, …, root` for each label that a rule says there is.

    Parameters
    ----------
    declared
        One of `FORMS`.
    read
        The lines of a file that it names; the first entry of each is a label.

    Raises
    ------
    ValueError
        If it is none of these forms.

    Examples
    --------
    >>> paths_by_rule({"prefix": [3, 1], "labels": ["J45.0", "I10.9"]}, read=list)
    [['I10.9', 'I10', 'I', 'any'], ['J45.0', 'J45', 'J', 'any']]
    >>> paths_by_rule({"steps": [5, 10], "domain": [0, 19]}, read=list)[7]
    ['7', '5-9', '0-9', 'any']
    >>> paths_by_rule({"year": None, "quarter": None, "domain": ["2024-04-01", "2024-04-01"]}, read=list)
    [['2024-04-01', '2024-Q2', '2024', 'any']]
    """
    keys = set(declared)
    if keys == {"prefix", "labels"}:
        return _by_prefix(declared["prefix"], declared["labels"], read)
    if keys == {"steps", "domain"}:
        return _by_steps(declared["steps"], declared["domain"])
    periods = [one for one in PERIODS if one in keys]
    if periods and keys == {*periods, "domain"} and all(declared[one] is None for one in periods):
        return _by_period(periods, declared["domain"])
    raise ValueError(f"must be a file, paths, or one of {'; '.join(FORMS)}; not {shown(dict(declared))}")


def are_dates(labels: Sequence[str]) -> bool:
    """Whether labels are dates, as `{year, quarter}` has them: a source may have them as dates."""
    return bool(labels) and all(ISO.fullmatch(label) for label in (labels[0], labels[-1]))


def _by_prefix(lengths: Any, labels: Any, read: Callable[[str], Sequence[Sequence[str]]]) -> Paths:
    _check_numbers("prefix", lengths, "go down, as in [3, 1]", lambda one, other: one > other)
    if isinstance(labels, str):
        labels = [line[0] for line in read(labels)]
    if not isinstance(labels, list | tuple) or not all(isinstance(one, str) and one for one in labels):
        raise ValueError("labels must be a list of text, or a file with a label a line")
    return [[label, *(label[:length] for length in lengths), ROOT] for label in sorted(labels)]


def _by_steps(steps: Any, domain: Any) -> Paths:
    """Whole numbers in intervals. One that is part of no interval of the next step is where it begins."""
    _check_numbers("steps", steps, "go up, as in [5, 10, 25]", lambda one, other: one < other)
    low, high = number_domain(domain)
    if not (isinstance(low, int) and isinstance(high, int)) or low < 0:
        raise ValueError(f"domain must be two whole numbers from 0 on, not {shown(domain)}")
    _check_size(high - low + 1)
    leaves = range(low, high + 1)
    levels = []
    begins = dict(zip(leaves, leaves, strict=True))
    for step in steps:
        groups = {begin: begin // step for begin in begins.values()}
        first: dict[int, int] = {}
        for begin, group in groups.items():
            first.setdefault(group, begin)
        begins = {leaf: first[groups[begin]] for leaf, begin in begins.items()}
        ends = {begin: leaf for leaf, begin in begins.items()}
        levels.append({leaf: f"{begin}-{ends[begin]}" for leaf, begin in begins.items()})
    return [[str(leaf), *(level[leaf] for level in levels), ROOT] for leaf in leaves]


def _by_period(periods: Sequence[str], domain: Any) -> Paths:
    first, last = date_domain(domain)
    _check_size((last - first).days + 1)
    days = (first + dt.timedelta(days=at) for at in range((last - first).days + 1))
    return [[day.isoformat(), *(_period(day, one) for one in periods), ROOT] for day in days]


def _period(day: dt.date, period: str) -> str:
    named = {"month": f"{day:%Y-%m}", "quarter": f"{day.year}-Q{(day.month + 2) // 3}", "year": f"{day:%Y}"}
    return named[period]


def _check_numbers(key: str, numbers: Any, order: str, goes: Callable[[int, int], bool]) -> None:
    is_list = isinstance(numbers, list | tuple) and numbers and all(type(one) is int for one in numbers)
    if not is_list or min(numbers) < 1 or not all(map(goes, numbers, numbers[1:])):
        raise ValueError(f"{key} must be whole numbers from 1 on that {order}, not {shown(numbers)}")


def _check_size(leaves: int) -> None:
    if leaves > MOST_LEAVES:
        raise ValueError(f"domain has {leaves:,} values, and a hierarchy has {MOST_LEAVES:,} at most")
