"""A verdict as the UI shows it on its check: in words, as a list of what is broken, as a table."""

from __future__ import annotations

from typing import Any

import dagster as dg

from republish.orchestration.dagster.figures import as_text
from republish.orchestration.expectations import Verdict

FIXED = ("expectations", "promises", "promises that hold")
"""Figures that are the same in every release that is published."""


def words_of(verdict: Verdict) -> str | None:
    """The promise and the finding; for a check that failed, a line on each thing that is broken."""
    broken = [f"- {one}" for one in verdict.broken]
    return "\n".join([*([verdict.found] if verdict.found else []), *broken]) or None


def metadata_of(verdict: Verdict) -> dict[str, Any]:
    """The figures that plot, and beside them what is broken and the evidence, as far as it has names."""
    fixed = {name: figure for name, figure in verdict.figures.items() if name in FIXED}
    shown: dict[str, Any] = {**verdict.figures, **as_text(fixed)}
    if verdict.broken:
        shown["broken promises"] = dg.MetadataValue.md("\n".join(f"- {one}" for one in verdict.broken))
    if verdict.table:
        shown["evidence"] = dg.MetadataValue.table([dg.TableRecord(row) for row in verdict.table])
    return shown
