"""Domains of numbers and dates: what there can be, and never who is the oldest here.

Both ends lie on a grid as coarse as what is found is wide. Where somebody's own value is on the grid, the end
is one step further out, but for a zero, at which most numbers of people begin.
"""

from __future__ import annotations

import datetime as dt
import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

import numpy as np
import polars as pl

from republish.anonymize.columns import least_of, most_of

NICE = (1, 2, 5)
BINS = 8
"""Bins of a sensitive number, at most."""
GRID_YEARS = ((20, 10), (5, 5), (0, 1))
"""Years that dates span at least, and the years of a step of the grid."""
LARGEST = 2**53
"""Numbers of a contract are smaller: beyond it, not every whole number is one of its own."""
SOON = 2
"""If the last date is so many years before the release at most, later people have later ones."""
TELLING = 12
"""So many different numbers, all of them multiples of one, are so on purpose."""


def number_domain(numbers: pl.Series) -> tuple[Any, Any]:
    """The domain of numbers, whole if they are.

    Examples
    --------
    >>> number_domain(pl.Series([18, 47, 90]))
    (0, 100)
    >>> number_domain(pl.Series([1013.5, 8214.25]))
    (0.0, 9000.0)
    """
    low, high = least_of(numbers), most_of(numbers)
    step = _step(float(high) - float(low) or abs(float(high)) or 1.0)
    if numbers.dtype.is_integer():
        step = max(Decimal(1), step)
    lower, upper = _down(low, step), _up(high, step)
    if low >= 0 and lower <= step:
        lower = Decimal(0)
    elif lower == Decimal(str(low)):
        lower -= step
    if upper == Decimal(str(high)):
        upper += step
    kind = int if numbers.dtype.is_integer() else float
    return kind(lower), kind(upper)


def is_too_large(numbers: pl.Series) -> bool:
    """Whether numbers, or the ends of their domain, are larger than a contract's may be, or infinite.

    Examples
    --------
    >>> is_too_large(pl.Series([18, 47])), is_too_large(pl.Series([0.5, 9e15]))
    (False, True)
    """
    numbers = numbers.cast(pl.Float64)
    largest = most_of(numbers.abs())
    return bool(largest >= LARGEST) or max(map(abs, number_domain(numbers))) >= LARGEST


def _step(width: float) -> Decimal:
    """A power of ten, at most as large as the width."""
    return Decimal(10) ** math.floor(math.log10(width))


def _down(number: Any, step: Decimal) -> Decimal:
    return (Decimal(str(number)) / step).to_integral_value(ROUND_FLOOR) * step


def _up(number: Any, step: Decimal) -> Decimal:
    return (Decimal(str(number)) / step).to_integral_value(ROUND_CEILING) * step


def width_of(domain: tuple[Any, Any]) -> Any:
    """The narrowest interval to be published: a hundredth of the domain, in round numbers; 2 at least.

    Examples
    --------
    >>> width_of((0, 120)), width_of((0, 90000)), width_of((0.0, 9000.0))
    (2, 1000, 100.0)
    """
    low, high = domain
    is_whole = isinstance(low, int)
    wanted = (high - low) / 100
    size = Decimal(10) ** math.floor(math.log10(wanted))
    nice = next((float(size * one) for one in (*NICE, 10) if size * one >= Decimal(str(wanted))), wanted)
    return min(max(2, round(nice)), high - low + 1) if is_whole else nice


def step_of(numbers: pl.Series, lowest: int) -> int:
    """What whole numbers and the domain's lowest are multiples of; 1 if there are few numbers.

    Examples
    --------
    >>> step_of(pl.Series(range(1000, 9000, 250)), 0), step_of(pl.Series([1000, 2000]), 0)
    (250, 1)
    """
    different = numbers.drop_nulls().unique().to_numpy()
    return int(np.gcd.reduce([*different, lowest])) if len(different) >= TELLING else 1


def date_domain(dates: pl.Series, release: dt.date) -> tuple[dt.date, dt.date]:
    """The domain of dates, from a 1 January to a 31 December.

    Examples
    --------
    >>> dates = pl.Series([dt.date(1931, 5, 2), dt.date(2003, 1, 9)])
    >>> [str(day) for day in date_domain(dates, dt.date(2024, 1, 1))]
    ['1930-01-01', '2009-12-31']
    """
    first, last = least_of(dates), most_of(dates)
    years = last.year - first.year
    step = next(step for least, step in GRID_YEARS if years >= least)
    begin, end = first.year // step * step, last.year // step * step + step - 1
    if dt.date(begin, 1, 1) == first:
        begin -= step
    if dt.date(end, 12, 31) == last:
        end += step
    if release.year - last.year <= SOON:
        end = max(end, release.year + 5)
    return dt.date(max(begin, 1), 1, 1), dt.date(min(end, 9999), 12, 31)


def bins_of(numbers: pl.Series) -> list[Any]:
    """Edges of two bins and more of about as many people each, rounded outward at both ends."""
    low, high = number_domain(numbers)
    step = _step(float(high) - float(low)) / 10
    if numbers.dtype.is_integer():
        step = max(Decimal(1), step)
    kind = int if numbers.dtype.is_integer() else float
    edges = [low]
    for at in range(1, BINS):
        quantile = numbers.quantile(at / BINS, "lower")
        edge = kind(_down(quantile, step))
        edges += [edge] if edges[-1] < edge < high else []
    if len(edges) == 1:
        edges.append(kind((Decimal(str(low)) + Decimal(str(high))) / 2))
    return [*edges, high]
