"""A verdict as the UI shows it on its check: in words, as a list of what is broken, as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dagster as dg

from orchestration.dagster.names import RELEASE, asset_key
from orchestration.expectations import Verdict
from orchestration.series.series import Series


def words_of(verdict: Verdict) -> str | None:
    """What was promised and found; of a check that failed, what is broken, one line each."""
    broken = [f"- {one}" for one in verdict.broken]
    return "\n".join([*([verdict.found] if verdict.found else []), *broken]) or None


def metadata_of(verdict: Verdict) -> dict[str, Any]:
    """The figures that plot, and beside them what is broken and the evidence, as far as it has names."""
    shown: dict[str, Any] = dict(verdict.figures)
    if verdict.broken:
        shown["broken promises"] = dg.MetadataValue.md("\n".join(f"- {one}" for one in verdict.broken))
    if verdict.table:
        shown["evidence"] = dg.MetadataValue.table([dg.TableRecord(row) for row in verdict.table])
    return shown


def report(series: Series, release: str, manifest: Mapping[str, Any]) -> str:
    """A release on half a page, in Markdown: what it is, what was promised and what was found.

    Parameters
    ----------
    series, release
        Which one. What is not kept of it any more is left out.
    manifest
        What its manifest states.
    """
    parameters = ", ".join(
        f"{name} {value}" for name, value in manifest["principle"].items() if name != "name"
    )
    counted = [f"{manifest[name]:,} {name.replace('_', ' ')}" for name in COUNTED]
    committed = series.record(release)
    verdicts = committed.verdicts if committed else ()
    made = f"{manifest['principle']['name']} ({parameters}), release {manifest['n']}"
    checks = [
        f"- **{one.promise}** {'holds' if one.passed else 'is broken'}. {one.found}" for one in verdicts
    ]
    plots = "*mean width of …*, *query error*, *counterfeits*, *fewest candidates*"
    lines = [
        f"**{series.name}, {release}**: {made}. {', '.join(counted)}.",
        "",
        *checks,
        "",
        f"How releases change: the plots of {asset_key(series, RELEASE).to_user_string()}, {plots}.",
    ]
    return "\n".join(lines)


COUNTED = ("tuples", "groups", "counterfeits", "held_back")
"""The counts that every manifest states."""
