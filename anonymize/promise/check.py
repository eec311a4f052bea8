"""A check: Great Expectations judges a table that an attack counted, and words say what it found."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl


@dataclass(frozen=True)
class Check:
    """A table of counts that is judged after every release by a suite of expectations."""

    name: str
    """Of its suite `data_contracts/expectations/<name>.json`, and of the check in the UI."""
    promises: str
    """What is promised, in one sentence."""
    found: str = "{rows:,} rows of evidence."
    """What was found, a format of the figures that `describe` takes from the table."""

    def describe(self, known: Mapping[str, Any]) -> str:
        """Say what was found, from the figures of the table that the check judges (`figures_of`).

        Examples
        --------
        >>> check = Check("sizes", "Groups are large.", "Fewest found {tuples_min}.")
        >>> check.describe(figures_of(pl.DataFrame({"tuples": [4, 5]})))
        'Fewest found 4.'
        """
        return self.found.format_map({name: _Figure(number) for name, number in known.items()})

    def figures(self, known: Mapping[str, Any]) -> dict[str, int | float]:
        """The numbers of that sentence by name: those that plot over releases.

        Examples
        --------
        >>> check = Check("sizes", "Groups are large.", "Fewest found {tuples_min}.")
        >>> check.figures(figures_of(pl.DataFrame({"tuples": [4, 5]})))
        {'smallest tuples': 4}
        """
        stated = [field for _, field, _, _ in string.Formatter().parse(self.found) if field]
        numbers = {"rows of evidence" if field == "rows" else _words(field): known[field] for field in stated}
        return {name: number for name, number in numbers.items() if number is not None}


def figures_of(table: pl.DataFrame) -> dict[str, Any]:
    """Figures for a sentence: `rows`, and of each column of numbers `<column>_sum`, `_min` and `_max`.

    Where there is a column `newcomers`, `<column>_new` is the smallest one of the rows that have any.
    """
    figures: dict[str, Any] = {"rows": table.height}
    new = table.filter(pl.col("newcomers") > 0) if "newcomers" in table.columns else table
    for name in [name for name, dtype in table.schema.items() if dtype.is_numeric()]:
        column = table[name]
        figures[f"{name}_sum"] = column.sum()
        for end, found in (("min", column.min()), ("max", column.max()), ("new", new[name].min())):
            figures[f"{name}_{end}"] = found
    return figures


def figures_of_all(several: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The figures of several tables one below the other, from those of each (`figures_of`).

    Examples
    --------
    >>> some = [figures_of(pl.DataFrame({"tuples": tuples})) for tuples in ([4, 5], [3, 8])]
    >>> figures_of_all(some) == figures_of(pl.DataFrame({"tuples": [4, 5, 3, 8]}))
    True
    """
    over: dict[str, Callable[[list[Any]], Any]] = {
        "rows": sum,
        "sum": sum,
        "max": max,
        "min": min,
        "new": min,
    }
    stated = {name: [one[name] for one in several if one[name] is not None] for name in several[0]}
    return {
        name: over[name.rpartition("_")[2]](numbers) if numbers else None for name, numbers in stated.items()
    }


NAMED = {"column", "measure", "promise"}
"""What a row of evidence may be about: then there is one of each, however many people there are."""


def named_together(several: Sequence[pl.DataFrame]) -> pl.DataFrame | None:
    """One table of evidence from those of several shards, where rows have names; None where they have none.

    Counts add up; of other numbers it is the mean.
    """
    first = several[0]
    names = [name for name, dtype in first.schema.items() if not dtype.is_numeric()]
    if not NAMED & set(names):
        return None
    if len(several) == 1:
        return first
    numbers = [
        pl.col(name).sum() if dtype.is_integer() else pl.col(name).mean()
        for name, dtype in first.schema.items()
        if name not in names
    ]
    return pl.concat(several).group_by(names, maintain_order=True).agg(numbers).select(first.columns)


ENDS = {"sum": "{}", "max": "{}", "min": "smallest {}", "new": "fewest {} with newcomers"}
"""What the figures of a column are called. A largest goes by the column's own name."""

PROMISED = "values promised"
"""What the column `least` has."""


def _words(field: str) -> str:
    column, _, end = field.rpartition("_")
    column = PROMISED if column == "least" else column
    return ENDS[end].format(column.replace("_", " ").removeprefix("min "))


class _Figure:
    """A number that may be missing: of no rows there is no smallest."""

    def __init__(self, number: Any):
        self.number: int | float | None = number

    def __format__(self, how: str) -> str:
        return "none" if self.number is None else format(self.number, how)
