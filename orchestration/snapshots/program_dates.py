"""Dates of statistics programs that their library leaves as numbers: months, weeks, quarters, other displays.

A program keeps a number, and a display says what it counts: months since January 1960, seconds since 1582.
Without the display, nobody can know what 350 is.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Mapping

import polars as pl

from republish.anonymize.columns import entries

STATA = re.compile(r"%-?t?([dwmqhy])")
"""The beginning of a display of Stata; the letter is the period that is counted since 1960."""
STATA_MOMENTS = re.compile(r"%-?t([cC])")
"""The beginning of a display of a moment: milliseconds since 1960, of C with leap seconds."""
LEAP_SECONDS = (
    "1972-07 1973-01 1974-01 1975-01 1976-01 1977-01 1978-01 1979-01 1980-01 1981-07 1982-07 1983-07 1985-07"
    " 1988-01 1990-01 1991-01 1992-07 1993-07 1994-07 1996-01 1997-07 1999-01 2006-01 2009-01 2012-07 2015-07"
    " 2017-01"
)
"""The months that began after one (IERS, Bulletin C)."""
A_YEAR = {"w": 52, "m": 12, "q": 4, "h": 2}
"""How many of them make a year of Stata: its last week has eight days or nine."""
SAS_DAYS = re.compile(
    r"(MONYY|YYMON|YYQR?[A-Z]?|MMYY[A-Z]?|YYMM[A-Z]?|YEAR|MONTH|MONNAME|QTRR?|WORDDAT[EX]|JULIAN|JULDAY|DAY"
    r"|DOWNAME|WEEKDAY|WEEK[UVW]|NLDATE[A-Z]*|NENGO)\d*(\.\d*)?",
    re.IGNORECASE,
)
"""Displays of SAS for a day."""
SAS_MOMENTS = re.compile(r"(DT(DATE|MONYY|YEAR|YYQC|WKDATX)|NLDATM[A-Z]*)\d*(\.\d*)?", re.IGNORECASE)
"""Those that show a moment, or its day: pyreadstat takes the seconds of DTDATE for days."""
SPSS_DAYS = re.compile(r"(QYR|MOYR|WKYR)\d+", re.IGNORECASE)
"""Displays of SPSS for a day, which it keeps as seconds since 14 October 1582."""
EPOCHS = {"sas": dt.date(1960, 1, 1), "spss": dt.date(1582, 10, 14)}
LATEST = dt.date(9999, 12, 31)
A_DAY = 86_400


def shown_as_moments(displays: Mapping[str, str | None], kind: str) -> list[str]:
    """The columns of SAS and Stata that show a moment, or a part of it, and have to be read as numbers."""
    if kind == ".dta":
        return [name for name, display in displays.items() if STATA_MOMENTS.match(display or "")]
    is_sas = kind in (".sas7bdat", ".xpt")
    return [name for name, display in displays.items() if is_sas and SAS_MOMENTS.fullmatch(display or "")]


def with_dates(
    table: pl.DataFrame, displays: Mapping[str, str | None], kind: str, numbers: Collection[str] = ()
) -> pl.DataFrame:
    """A table with dates where its program shows dates, a period by its first day.

    Parameters
    ----------
    table
        As pyreadstat has read it.
    displays
        How the program shows each column.
    kind
        The end of the file's name.
    numbers
        Columns whose years are to stay numbers.
    """
    read = {}
    for name in table.columns:
        if table.schema[name].is_numeric() and (display := displays.get(name)):
            dates = _dates(entries(table, name), display, kind, is_number=name in numbers)
            if dates is not None:
                read[name] = dates.alias(name)
    return table.with_columns(*read.values())


def _dates(column: pl.Series, display: str, kind: str, *, is_number: bool) -> pl.Series | None:
    """The dates of a column; None if it is shown otherwise, or has a number that is no date."""
    number = pl.lit(column).cast(pl.Float64)
    if kind == ".dta" and (moment := STATA_MOMENTS.match(display)):
        seconds = _without_leap_seconds(number / 1000) if moment[1] == "C" else number / 1000
        dates, is_whole = _moment(seconds), number.is_not_null()
    elif kind == ".dta":
        found = STATA.match(display)
        if found is None or (found[1] == "y" and is_number):
            return None
        dates, is_whole = _of_stata(number, found[1]), number == number.floor()
    elif kind in (".sav", ".por"):
        if SPSS_DAYS.fullmatch(display) is None:
            return None
        dates, is_whole = _day(number / A_DAY, "spss"), number.is_not_null()
    elif SAS_MOMENTS.fullmatch(display):
        dates, is_whole = _moment(number), number.is_not_null()
    elif SAS_DAYS.fullmatch(display):
        dates, is_whole = _day(number, "sas"), number == number.floor()
    else:
        return None
    read = pl.select(pl.when(is_whole).then(dates)).to_series()
    return read if read.null_count() == column.null_count() else None


def _day(days: pl.Expr, program: str) -> pl.Expr:
    epoch = (EPOCHS[program] - dt.date(1970, 1, 1)).days
    since = days.floor() + epoch
    last = (LATEST - dt.date(1970, 1, 1)).days
    return pl.when(since.abs() <= last).then(since).cast(pl.Int32, strict=False).cast(pl.Date)


def _moment(seconds: pl.Expr) -> pl.Expr:
    """Seconds since 1960 as moments, to the microsecond."""
    last = (LATEST - EPOCHS["sas"]).days * A_DAY
    since = pl.when(seconds.abs() <= last).then(seconds * 1_000_000).round().cast(pl.Int64)
    return pl.lit(EPOCHS["sas"]).cast(pl.Datetime("us")) + since.cast(pl.Duration("us"))


def _without_leap_seconds(seconds: pl.Expr) -> pl.Expr:
    """Seconds since 1960 in days of 86,400; a leap second (23:59:60) is read as the one before it."""
    starts = [dt.date.fromisoformat(f"{month}-01") - EPOCHS["sas"] for month in LEAP_SECONDS.split()]
    passed = [seconds >= start.days * A_DAY + earlier for earlier, start in enumerate(starts)]
    return seconds - pl.sum_horizontal(passed)


def _of_stata(number: pl.Expr, period: str) -> pl.Expr:
    if period == "d":
        return _day(number, "sas")
    whole = number.cast(pl.Int64, strict=False)
    a_year = A_YEAR.get(period, 1)
    year = whole if period == "y" else 1960 + whole.floordiv(a_year)
    at = pl.lit(0) if period == "y" else whole - whole.floordiv(a_year) * a_year
    is_year = year.is_between(1, LATEST.year)
    month = pl.lit(1) if period == "w" else 1 + at * (12 // a_year)
    first = pl.date(pl.when(is_year).then(year), month, 1)
    return first + pl.duration(days=7 * at) if period == "w" else first
