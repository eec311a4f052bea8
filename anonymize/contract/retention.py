"""The time for which people are remembered who are in the source no more."""

from __future__ import annotations

import re
from typing import Annotated, Any

import polars as pl
from pydantic import BeforeValidator, StrictBool, StrictStr

from republish.anonymize.contract.scalars import Declaration, shown

PERIOD = re.compile(r"([1-9]\d{0,3}) (year|month|day)s?")
"""A period as text."""
UNITS = {"year": "y", "month": "mo", "day": "d"}


def _period(declared: Any) -> str:
    if not isinstance(declared, str) or not PERIOD.fullmatch(declared):
        raise ValueError(f"must be a number of years, months or days, as in 3 years, not {shown(declared)}")
    return declared


class Retention(Declaration):
    """A rule by which people are forgotten whom the source has no more."""

    absent_for: Annotated[StrictStr, BeforeValidator(_period)]
    """How long no snapshot before the last release has them: `3 years`, `18 months`, `90 days`."""
    never_again: StrictBool = False
    """Whether they are never published again if they come back. It can't be taken back."""

    @property
    def period(self) -> tuple[int, str]:
        """A number, and its unit: `year`, `month` or `day`."""
        number, unit = PERIOD.fullmatch(self.absent_for).groups()  # type: ignore[union-attr]
        return int(number), unit

    def begins(self, release: str) -> str:
        """The date so long before a release: people are forgotten who are in no snapshot after it.

        Examples
        --------
        >>> Retention(absent_for="18 months").begins("2027-07-01")
        '2026-01-01'
        """
        number, unit = self.period
        date = pl.lit(release).str.to_date().dt.offset_by(f"-{number}{UNITS[unit]}")
        return str(pl.select(date.dt.to_string("%Y-%m-%d")).item())
