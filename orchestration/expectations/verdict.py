"""The verdict of a suite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import polars as pl


@dataclass(frozen=True)
class Verdict:
    """What a suite found on one table of evidence."""

    promise: str
    """The suite's name."""
    passed: bool
    """Whether every expectation was met; one that could not be evaluated was not."""
    figures: dict[str, int | float]
    """Rows of evidence, expectations, and what was promised and found, in numbers."""
    broken: list[str] = field(default_factory=list)
    """Each expectation that failed, in words, with how many rows of evidence failed it."""
    found: str = ""
    """What was promised and what was found, in words, whether it passed or failed."""
    table: list[dict[str, Any]] = field(default_factory=list)
    """The evidence itself, where a row of it is about a column, a measure or a promise."""

    def with_words(
        self, found: str, evidence: pl.DataFrame, figures: Mapping[str, int | float] | None = None
    ) -> Verdict:
        """Itself with what was found in words and numbers, and the evidence where it has names."""
        named = {"column", "measure", "promise"} & set(evidence.columns)
        table = evidence.to_dicts() if named else []
        return replace(self, found=found, table=table, figures={**self.figures, **(figures or {})})

    def as_json(self) -> dict[str, Any]:
        """Itself as a JSON object."""
        return asdict(self)


def no_verdict(promise: str, reason: str) -> Verdict:
    """A suite that could not be run: its promise counts as broken."""
    return Verdict(promise, passed=False, figures={}, broken=[reason])
