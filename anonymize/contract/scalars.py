"""The scalars that a contract is written in: numbers, dates, labels and domains, each with its own error."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
)

RELEASE = re.compile(r"\d{4}-\d{2}-\d{2}")
"""A release is named by its date."""
LONGEST_WORDS = 1000
"""Letters in a text for readers."""
MISSING = "(missing)"
"""The label that is published in place of a missing one."""


class Declaration(BaseModel):
    """A part of a contract: unknown keys are faults, nothing changes after construction."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def shown(declared: Any) -> str:
    """A declared value, as a contract writes it and short enough for a line."""
    words = {None: "nothing", True: "true", False: "false", "": "empty text"}
    if declared is None or isinstance(declared, bool | str):
        text = words.get(declared, str(declared))
    else:
        text = repr(declared).replace("'", "")
    return text if len(text) <= 40 else f"{text[:39]}…"


def repeated(names: Sequence[Any]) -> Any:
    """The first name that occurs twice, or None."""
    seen = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def check_releases(named: Iterable[str]) -> None:
    """Raise ValueError unless all of these are dates of releases."""
    for release in named:
        if not RELEASE.fullmatch(release):
            raise ValueError(f"{release} must be the date of a release, YYYY-MM-DD")


def _number(declared: Any) -> Any:
    if type(declared) not in (int, float) or not abs(declared) < 2**53:
        raise ValueError(f"must be a number within 2^53, not {shown(declared)}")
    return declared


def read_date(declared: Any) -> dt.date:
    """A date, or its text; never a number, which pydantic would take for seconds since 1970.

    Raises ValueError if it is none.
    """
    if isinstance(declared, str):
        try:
            return dt.datetime.strptime(declared, "%Y-%m-%d").date()  # noqa: DTZ007 - a date has no zone
        except ValueError:
            pass
    if type(declared) is not dt.date:
        raise ValueError(f"must be a date, YYYY-MM-DD, not {shown(declared)}")
    return declared


def label(declared: Any) -> str:
    """A label, or a name. Raises ValueError if it is none."""
    if declared == "":
        raise ValueError("must not be empty")
    if isinstance(declared, str):
        return declared
    raise ValueError(f"must be text, not {shown(declared)}: write it in quotes")


def _words(declared: str) -> str:
    """Text for people to read: one line, so that it stays where it is put in a table or a README."""
    if not declared.strip() or len(declared) > LONGEST_WORDS:
        raise ValueError(f"must be text of at most {LONGEST_WORDS} letters, and not empty")
    if not declared.isprintable():
        raise ValueError("must be one line of text, without tabs and other control characters")
    return declared


def _pair(declared: Any) -> Any:
    if not isinstance(declared, list | tuple) or len(declared) != 2:
        raise ValueError(f"must be a list of two, [lowest, highest], not {shown(declared)}")
    return declared


def _ascending(domain: tuple[Any, Any]) -> tuple[Any, Any]:
    low, high = domain
    if low > high:
        raise ValueError(f"must go from the lowest to the highest value, not from {low} to {high}")
    return domain


def number_domain(declared: Any) -> tuple[Any, Any]:
    """The lowest and the highest number of a domain. Raises ValueError if it is none."""
    low, high = _pair(declared)
    return _ascending((_number(low), _number(high)))


def date_domain(declared: Any) -> tuple[dt.date, dt.date]:
    """The first and the last date of a domain. Raises ValueError if it is none."""
    first, last = _pair(declared)
    return _ascending((read_date(first), read_date(last)))


Words = Annotated[StrictStr, AfterValidator(_words)]
Number = Annotated[StrictInt | StrictFloat, BeforeValidator(_number)]
Date = Annotated[dt.date, BeforeValidator(read_date)]
Label = Annotated[StrictStr, BeforeValidator(label)]
NumberDomain = Annotated[tuple[Number, Number], BeforeValidator(_pair), AfterValidator(_ascending)]
DateDomain = Annotated[tuple[Date, Date], BeforeValidator(_pair), AfterValidator(_ascending)]


class WordedColumn(Declaration):
    """A column with what a reader of a release is told about it; nothing of it bears on privacy."""

    unit: Words | None = None
    """What a number counts or measures: years, EUR, …"""
    description: Words | None = None
    """What the column says, for the readers of a release."""


class ColumnOfPeople(WordedColumn):
    """A column of which a person may have no value."""

    missing: Literal["refuse", "publish", "leave_out"] = Field(
        "refuse", exclude_if=lambda rule: rule == "refuse"
    )
    """What becomes of people without one: refused, published, or left out."""

    @property
    def publishes_missing(self) -> bool:
        """Whether people without a value are published as such."""
        return self.missing == "publish"
