"""Intervals of numbers as a view's labels: half-open, written and read.

Wang and Fung, Anonymizing Sequential Releases, KDD 2006, section 3.2.
"""

from __future__ import annotations

import re

import numpy as np


def number_label(low: float, high: float, domain: tuple[float, float]) -> str:
    """`[17-38)`, or `[38-95]` where the interval ends with its domain.

    Parameters
    ----------
    low, high
        A half-open interval.
    domain
        The lowest and the highest number there can be; whole numbers make whole-number intervals.

    Examples
    --------
    >>> number_label(17, 38, (17, 95)), number_label(38, 96, (17, 95))
    ('[17-38)', '[38-95]')
    """
    form = int if _is_discrete(domain) else float
    if high >= half_open(domain[1], discrete=_is_discrete(domain)):
        return f"[{form(low)}-{form(domain[1])}]"
    return f"[{form(low)}-{form(high)})"


_NUMBER = r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_INTERVAL = re.compile(rf"\[\s*({_NUMBER})\s*[-,;]\s*({_NUMBER})\s*([)\]])")
ANYTHING = {"*", "ANY", "Any", "any"}
"""What tools call the most general value of a column."""


def read_number(text: str, domain: tuple[float, float]) -> tuple[float, float] | None:
    """The half-open interval that a published label stands for; None if it is none.

    Parameters
    ----------
    text
        `[17-38)`, `[38-95]`, `42`, or `*`.
    domain
        As in `number_label`.

    Examples
    --------
    >>> read_number("[17-38)", (17, 95)), read_number("[38-95]", (17, 95)), read_number("42", (17, 95))
    ((17.0, 38.0), (38.0, 96.0), (42.0, 43.0))
    """
    discrete = _is_discrete(domain)
    if text in ANYTHING:
        return float(domain[0]), half_open(domain[1], discrete=discrete)
    if read := _INTERVAL.fullmatch(text.strip()):
        low, high = float(read[1]), float(read[2])
        return low, high if read[3] == ")" else half_open(high, discrete=discrete)
    if re.fullmatch(_NUMBER, text.strip()):
        return float(text), half_open(float(text), discrete=discrete)
    return None


def half_open(last: float, *, discrete: bool) -> float:
    """The end of the half-open interval whose last number this is."""
    return float(last + 1) if discrete else float(np.nextafter(last, np.inf))


def _is_discrete(domain: tuple[float, float]) -> bool:
    return all(isinstance(bound, int) for bound in domain)
