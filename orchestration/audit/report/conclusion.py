"""What an audit comes to, in a sentence and in a paragraph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestration.audit.run import Findings


def verdict(findings: Findings) -> str:
    """What became of the promises, in one sentence."""
    rows = findings.promises()
    broken, undecided = int((~rows["holds"]).sum()), int((rows["undecided"] > 0).sum())
    if broken:
        return f"{broken} of {len(rows)} promises {'is' if broken == 1 else 'are'} broken."
    if undecided:
        return f"No promise is broken; {undecided} could not be decided."
    return "Every promise holds."


def conclusion(described: Mapping[str, Any]) -> str:
    """A paragraph for a reader who reads nothing else, from what a report says.

    Parameters
    ----------
    described
        The report, or its version for others: counts of people are quoted as they are in it.
    """
    return " ".join(
        [
            _what_was_done(described),
            described["verdict"],
            *_what_was_found(described),
            _what_remains(described),
        ]
    )


def _what_was_done(described: Mapping[str, Any]) -> str:
    releases = [release["release"] for series in described["series"] for release in series["releases"]]
    span = min(releases) if len(set(releases)) == 1 else f"{min(releases)} to {max(releases)}"
    count = "one release" if len(releases) == 1 else f"{len(releases)} releases"
    who = described["auditor"] or "the auditor"
    return (
        f"On {described['date']}, {who} attacked {count} ({span}) with all that the section on"
        " the adversary lists, and compared what came out with the true tables."
    )


def _what_was_found(described: Mapping[str, Any]) -> list[str]:
    broken = [row for row in described["promises"] if not row["holds"]]
    if broken:
        names = ", ".join(dict.fromkeys(row["promise"] for row in broken))
        where = sorted({release for row in broken for release in row["broken_in"]})
        shown = f" Releases concerned: {', '.join(where)}." if where else ""
        return [f"Broken: {names}.{shown} The releases do not keep what the contract promises."]
    # The rows begin with what matters most of what was promised.
    promised = (row for row in described["promises"] if row["of_people"] and row["found"] is not None)
    leading = next((row for row in promised if row["bound"]), None)
    if leading is None:
        return []
    required = f"{leading['bound']} {leading['required']:.4g}"
    return [f"{leading['meaning']} Promised: {required}; found: {leading['found']:.4g}."]


def _what_remains(described: Mapping[str, Any]) -> str:
    gaps = len(described["not_covered"])
    learned = [
        release["guesses"]["learned"]
        for series in described["series"]
        for release in series["releases"]
        if release["guesses"] is not None
    ]
    guessed = (
        f" Not promised, and a figure alone: an adversary who learns from the groups guesses up to"
        f" {100 * max(learned):.0f} % of the people's values right."
        if learned
        else ""
    )
    things = "1 thing" if gaps == 1 else f"{gaps} things"
    return f"Not covered by this audit: {things}, listed below with the reasons.{guessed}"
