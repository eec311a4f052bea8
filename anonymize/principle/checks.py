"""What is promised of a release beside its principle's own promise, check by check."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl


@dataclass(frozen=True)
class Check:
    """A promise that is counted after every release and judged by a suite of expectations."""

    name: str
    """Of the evidence, of its suite `data_contracts/expectations/<name>.json`, and of the check in the UI."""
    promises: str
    """What is promised, in one sentence."""
    found: str = "{rows:,} rows of evidence."
    """What was found, a format of the figures that `describe` takes from the evidence."""
    only_in: str | None = None
    """The name of the one release format that it is about; None for all that the principle has."""

    def describe(self, evidence: pl.DataFrame, parameters: Mapping[str, Any]) -> str:
        """What was found, in words.

        Parameters
        ----------
        evidence
            The table of counts that the check judges.
        parameters
            What the suite's `$PARAMETER`s stand for.

        Examples
        --------
        >>> check = Check("sizes", "Groups are large.", "At least {m}; fewest found {tuples_min}.")
        >>> check.describe(pl.DataFrame({"tuples": [4, 5]}), {"m": 4})
        'At least 4; fewest found 4.'
        """
        return self.found.format_map({**parameters, **figures_of(evidence)})

    def figures(self, evidence: pl.DataFrame, parameters: Mapping[str, Any]) -> dict[str, int | float]:
        """The numbers of that sentence by name: those that plot over releases.

        Parameters
        ----------
        evidence, parameters
            As `describe` takes them.

        Examples
        --------
        >>> check = Check("sizes", "Groups are large.", "At least {m}; fewest found {tuples_min}.")
        >>> check.figures(pl.DataFrame({"tuples": [4, 5]}), {"m": 4})
        {'promised m': 4, 'smallest tuples': 4}
        """
        named = {name: f"promised {name.replace('_', ' ')}" for name in parameters}
        named["rows"] = "rows of evidence"
        known = {**parameters, **figures_of(evidence)}
        stated = [field for _, field, _, _ in string.Formatter().parse(self.found) if field]
        numbers = {named.get(field) or _words(field): _number(known[field]) for field in stated}
        return {name: number for name, number in numbers.items() if number is not None}


def figures_of(evidence: pl.DataFrame) -> dict[str, Any]:
    """Figures for a sentence: `rows`, and of each column of numbers `<column>_sum`, `_min` and `_max`.

    Where there is a column `newcomers`, `<column>_new` is the smallest one of the rows that have any.
    """
    figures: dict[str, Any] = {"rows": evidence.height}
    new = evidence.filter(pl.col("newcomers") > 0) if "newcomers" in evidence.columns else evidence
    for name in [name for name, dtype in evidence.schema.items() if dtype.is_numeric()]:
        column = evidence[name]
        figures[f"{name}_sum"] = column.sum()
        for end, found in (("min", column.min()), ("max", column.max()), ("new", new[name].min())):
            figures[f"{name}_{end}"] = _Figure(found)
    return figures


ENDS = {"sum": "{}", "max": "{}", "min": "smallest {}", "new": "fewest {} with newcomers"}
"""What the figures of a column are called. A largest goes by the column's own name."""


def _words(field: str) -> str:
    column, _, end = field.rpartition("_")
    return ENDS[end].format(column.replace("_", " ").removeprefix("min "))


def _number(figure: float | _Figure) -> int | float | None:
    return figure.number if isinstance(figure, _Figure) else figure


class _Figure:
    """A number that may be missing: of no rows there is no smallest."""

    def __init__(self, number: Any):
        self.number: int | float | None = number

    def __format__(self, how: str) -> str:
        return "none" if self.number is None else format(self.number, how)


SIGNATURE_INVARIANCE = Check(
    "signature_invariance",
    "Each person's signature equals each earlier one or shares no value with it.",
    "{remembered_sum:,} earlier signatures of the people in this release: {same_sum:,} are the same today,"
    " {disjoint_sum:,} share no value with today's, {overlapping_sum:,} share some.",
)
"""Of every principle that remembers signatures."""
COVERAGE_FOUND = "{people_max:,} people, compared in {rows} columns: {uncovered_sum:,} not covered."
COVERAGE = Check(
    "coverage", "Every person's group covers their quasi-identifiers and has their value.", COVERAGE_FOUND
)
"""Of releases of groups, whether with intervals or exact quasi-identifiers."""
MINIMUM_WIDTHS = Check(
    "minimum_widths",
    "No interval is narrower than the contract allows.",
    "{groups_max:,} groups with {rows} intervals each: {narrower_sum:,} intervals are narrower than allowed.",
    only_in="generalization",
)
COUNTERFEITS = Check(
    "counterfeits",
    "R(n) is exact: a group's tuples are its people and its stated counterfeits.",
    "{rows_sum:,} tuples are {hosted_sum:,} people and {counterfeits_sum:,} stated counterfeits;"
    " {wrong_counts_sum:,} groups have other counts, and {held_back_sum:,} people are held back.",
)
"""Of every principle with groups."""
