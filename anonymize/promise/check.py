"""A check: Great Expectations judges a table that an attack counted, and words say what it found."""

from __future__ import annotations

import string
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

    def describe(self, table: pl.DataFrame) -> str:
        """What was found, in words.

        Parameters
        ----------
        table
            The counts that the check judges.

        Examples
        --------
        >>> check = Check("sizes", "Groups are large.", "Fewest found {tuples_min}.")
        >>> check.describe(pl.DataFrame({"tuples": [4, 5]}))
        'Fewest found 4.'
        """
        return self.found.format_map(figures_of(table))

    def figures(self, table: pl.DataFrame) -> dict[str, int | float]:
        """The numbers of that sentence by name: those that plot over releases.

        Parameters
        ----------
        table
            As `describe` takes it.

        Examples
        --------
        >>> check = Check("sizes", "Groups are large.", "Fewest found {tuples_min}.")
        >>> check.figures(pl.DataFrame({"tuples": [4, 5]}))
        {'smallest tuples': 4}
        """
        known = figures_of(table)
        stated = [field for _, field, _, _ in string.Formatter().parse(self.found) if field]
        numbers = {
            "rows of evidence" if field == "rows" else _words(field): _number(known[field])
            for field in stated
        }
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
            figures[f"{name}_{end}"] = _Figure(found)
    return figures


ENDS = {"sum": "{}", "max": "{}", "min": "smallest {}", "new": "fewest {} with newcomers"}
"""What the figures of a column are called. A largest goes by the column's own name."""


def _words(field: str) -> str:
    column, _, end = field.rpartition("_")
    return ENDS[end].format(column.replace("_", " ").removeprefix("min "))


def _number(figure: Any) -> int | float | None:
    return figure.number if isinstance(figure, _Figure) else figure


class _Figure:
    """A number that may be missing: of no rows there is no smallest."""

    def __init__(self, number: Any):
        self.number: int | float | None = number

    def __format__(self, how: str) -> str:
        return "none" if self.number is None else format(self.number, how)
