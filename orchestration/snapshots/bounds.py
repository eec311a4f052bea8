"""Bounds among numbers, "> 89", "120 +", "under 5", "80-89": no gaps, for whoever has one has a number."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

NUMBER = r"(\d+(?:[.,]\d{1,2})?)"
"""Without thousands, which three decimals may be."""
UNIT = r"(?: (?:years?|yrs?|ans?|jahren?|años?|anni|anos?|jaar))?"
"""Words for years, after an age."""
ABOVE = (
    r"^(?:>|gt|over|above|more than|older than|über|mehr als|älter als|plus de|más de|mayor(?:es)? de|oltre"
    r"|più di|mais de|meer dan)"
    rf"\s*{NUMBER}{UNIT}$"
)
"""Every number above one."""
FROM = (
    r"^(?:(?:>=|≥|=>|ge|at least|from|ab|mindestens|au moins|al menos|almeno|pelo menos|minstens)"
    rf"\s*{NUMBER}|{NUMBER}{UNIT}\s*(?:\+|plus|(?:and|or|und|u\.|oder|et|ou|y|o|e|en|&) "
    rf"(?:over|older|above|more|up|mehr|älter|darüber|plus|más|mayores|oltre|più|mais|ouder|meer))){UNIT}$"
)
"""One, and every number above it."""
BELOW = (
    r"^(?:<|lt|under|below|less than|younger than|unter|weniger als|jünger als|moins de|menos de"
    r"|menor(?:es)? de|meno di|minder dan)"
    rf"\s*{NUMBER}{UNIT}$"
)
"""Every number below one."""
UP_TO = (
    rf"^(?:(?:<=|≤|=<|le|at most|up to|bis|höchstens|au plus|hasta|fino a|até)\s*{NUMBER}"
    rf"|{NUMBER}{UNIT} (?:or|and|oder|und|et|ou|y|o)"
    rf" (?:under|less|younger|weniger|jünger|moins|menos|meno)){UNIT}$"
)
"""One, and every number below it."""
RANGE = rf"^{NUMBER}\s*(?:-|\u2013|to|bis|à|a|\.\.)\s*{NUMBER}{UNIT}$"
"""Every number between two."""


def bounds_in(words: pl.Series, *, is_whole: bool) -> dict[str, int | float]:
    """The words that are bounds, each with the number that it is read as.

    That is the one next to the bound, and of a range the middle.

    Examples
    --------
    >>> bounds_in(pl.Series(["> 89", "120 +", "<5", "80-89", "OOS", "34"]), is_whole=True)
    {'> 89': 90, '120 +': 120, '<5': 4, '80-89': 84}
    >>> bounds_in(pl.Series(["90 ans et plus", "85 years and over", "mindestens 90"]), is_whole=True)
    {'90 ans et plus': 90, '85 years and over': 85, 'mindestens 90': 90}
    >>> bounds_in(pl.Series(["90 u. älter", "mayor de 89", "GE 90", "1-4 Jahre", "5..9"]), is_whole=True)
    {'90 u. älter': 90, 'mayor de 89': 90, 'GE 90': 90, '1-4 Jahre': 2, '5..9': 7}
    """
    word = pl.col("word").str.strip_chars().str.to_lowercase()
    of = [word.str.extract_groups(pattern) for pattern in (ABOVE, FROM, BELOW, UP_TO, RANGE)]
    ends = [
        pl.coalesce(groups.struct.field("1"), groups.struct.field("2" if at in (1, 3) else "1"))
        .str.replace(",", ".")
        .cast(pl.Float64)
        for at, groups in enumerate(of)
    ]
    upper = of[4].struct.field("2").str.replace(",", ".").cast(pl.Float64)
    above, at_least, below, at_most, lower = ends
    by, middle = 1 if is_whole else 0, pl.when(lower < upper).then((lower + upper) / 2)
    number = pl.coalesce(above + by, at_least, below - by, at_most, middle)
    found = words.unique(maintain_order=True).alias("word").to_frame().select("word", number=number)
    read = found.drop_nulls().with_columns(pl.col("number").floor() if is_whole else pl.col("number"))
    return {one: int(number) if is_whole else number for one, number in read.iter_rows()}


def read_bounds(text: pl.Series, plain: pl.Series, bounds: Mapping[str, int | float]) -> pl.Series:
    """A column of numbers, plainly written, with the numbers of its bounds in place of these."""
    return text.replace_strict({word: str(number) for word, number in bounds.items()}, default=plain)
