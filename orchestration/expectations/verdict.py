"""The verdict of a suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import polars as pl

ROWS = "rows of evidence"
"""A figure of each verdict."""


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
        self, found: str, evidence: pl.DataFrame | None, figures: Mapping[str, int | float] | None = None
    ) -> Verdict:
        """Itself with what was found in words and numbers, and the evidence if its rows have names."""
        table = [] if evidence is None else evidence.to_dicts()
        return replace(self, found=found, table=table, figures={**self.figures, **(figures or {})})

    @classmethod
    def of_all(cls, several: Sequence[Verdict]) -> Verdict:
        """What a suite found on the evidence of all shards: it is passed if it is passed in each."""
        first, broken = several[0], [words for one in several for words in one.broken]
        return replace(
            first,
            passed=all(one.passed for one in several),
            figures={
                name: (sum if name == ROWS else max)(one.figures.get(name, 0) for one in several)
                for name in first.figures
            },
            broken=list(dict.fromkeys(broken)),
        )

    def as_json(self) -> dict[str, Any]:
        """Itself as a JSON object."""
        return asdict(self)


def no_verdict(promise: str, reason: str) -> Verdict:
    """A suite that could not be run: its promise counts as broken."""
    return Verdict(promise, passed=False, figures={}, broken=[reason])
