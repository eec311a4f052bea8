"""Intervals of numbers as a view's labels: half-open, written and read.

Wang and Fung, Anonymizing Sequential Releases, KDD 2006, section 3.2.
"""

from __future__ import annotations

import math
import re

import numpy as np
import polars as pl

from republish.anonymize.arrays import Floats
from republish.anonymize.errors import SnapshotError


def number_label(low: float, high: float, domain: tuple[float, float]) -> str:
    """`[17-38)`, or `[38-95]` where the interval ends with its domain.

    The interval, from low to high, is half-open. A domain of whole numbers makes whole-number intervals.

    Examples
    --------
    >>> number_label(17, 38, (17, 95)), number_label(38, 96, (17, 95))
    ('[17-38)', '[38-95]')
    """
    form = int if _is_discrete(domain) else float
    if high >= half_open(domain[1], discrete=_is_discrete(domain)):
        return f"[{form(low)}-{form(domain[1])}]"
    return f"[{form(low)}-{form(high)})"


_NUMBER = r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_INTERVAL = re.compile(rf"\[({_NUMBER})[-,;] ?({_NUMBER})([)\]])")
ANYTHING = {"*", "ANY", "Any", "any"}
"""What tools call the most general value of a column."""


def read_number(text: str, domain: tuple[float, float]) -> tuple[float, float] | None:
    """The half-open interval that a published label (`[17-38)`, `[17, 37]`, `42` or `*`) stands for, or None.

    The planner of a view and its attack both read labels here. If they read one differently, the attack could
    miss what the view shows. So nothing is guessed: `[ 17-38)`, with a space, is no label.

    Examples
    --------
    >>> read_number("[17-38)", (17, 95)), read_number("[38-95]", (17, 95)), read_number("42", (17, 95))
    ((17.0, 38.0), (38.0, 96.0), (42.0, 43.0))
    """
    discrete = _is_discrete(domain)
    if text in ANYTHING:
        return float(domain[0]), half_open(domain[1], discrete=discrete)
    if read := _INTERVAL.fullmatch(text):
        low, high = float(read[1]), float(read[2])
        ends = low, high if read[3] == ")" else half_open(high, discrete=discrete)
    elif re.fullmatch(_NUMBER, text):
        ends = float(text), half_open(float(text), discrete=discrete)
    else:
        return None
    return ends if all(map(math.isfinite, ends)) else None


def read_numbers(values: pl.Series, domain: tuple[float, float], where: str) -> tuple[Floats, Floats]:
    """The half-open intervals that a column of labels or of numbers stands for: float64[N] each.

    `where` names the table and its column, for the error.

    Raises
    ------
    SnapshotError
        If one of them is missing or is neither.
    """
    if values.dtype.is_numeric():
        low = values.cast(pl.Float64).to_numpy()
        high = low + 1 if _is_discrete(domain) else np.nextafter(low, np.inf)
        unread = int(values.len() - np.isfinite(low).sum())
    else:
        labels = values.cast(pl.String)
        distinct = labels.unique()
        read = {label: ends for label in distinct.drop_nulls() if (ends := read_number(label, domain))}
        unread = len(distinct) - len(read)
        low, high = (
            labels.replace_strict(
                list(read), [ends[end] for ends in read.values()], default=None, return_dtype=pl.Float64
            ).to_numpy()
            for end in (0, 1)
        )
    if unread:
        raise SnapshotError(
            f"{where}: {unread} values are no numbers or intervals like [17-38): write 42, [17-38), [17-37],"
            " or * for any, without spaces around them"
        )
    return low, high


def half_open(last: float, *, discrete: bool) -> float:
    """The end of the half-open interval whose last number this is."""
    return float(last + 1) if discrete else float(np.nextafter(last, np.inf))


def _is_discrete(domain: tuple[float, float]) -> bool:
    return all(isinstance(bound, int) for bound in domain)
