"""The conclusion of an audit, in a sentence and in a paragraph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from orchestration.audit.run import Findings

READING = (
    "“Looked at” counts people; for what concerns files, tables or groups, these. It is fewer than all people"
    " where a promise is about some of them, or where groups are not known. “Found” is the worst case among"
    " those looked at: no less than a promise of “at least”, or no more than one of “at most”, keeps it."
)
"""How a table of promises is to be read."""


def verdict(findings: Findings) -> str:
    """What became of the promises, in one sentence."""
    rows = findings.promises()
    judged = [rows] if findings.asked is None else [rows, findings.asked]
    broken, undecided = int((~rows["holds"]).sum()), max(int((one["undecided"] > 0).sum()) for one in judged)
    if broken:
        return f"{broken} of {len(rows)} promises {'is' if broken == 1 else 'are'} broken."
    if findings.missed.height:
        return "The releases keep what they promised; they do not keep what this contract asks for."
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
            *_what_was_missed(described),
            *_residual_risk(described),
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
    return [f"{leading['meaning']} Promised: {required}; found: {leading['found']:.4g}. {_kept(leading)}"]


def _kept(row: Mapping[str, Any]) -> str:
    return "This could not be decided for everybody." if row["undecided"] else "This keeps the promise."


def _what_was_missed(described: Mapping[str, Any]) -> Iterator[str]:
    """What the contract asks for and was not found, where the releases promised something else."""
    kept = {(row["series"], row["promise"]) for row in described["promises"] if row["holds"]}
    for taken_up, words in MISSED.items():
        missed = [
            in_words(row)
            for row in described["asked"] or ()
            if not row["holds"] and row["taken_up"] == taken_up and (row["series"], row["promise"]) in kept
        ]
        if missed:
            yield f"{words}: {'; '.join(missed)}."


MISSED = {
    False: "The releases promised something else than the contract asks for. Missed",
    True: "People who were published before the contract asked for so much keep what they were promised then",
}
"""What is said of what is missed, by whether the last release promises what the contract asks for."""


def in_words(row: Mapping[str, Any]) -> str:
    """A row of the findings under the contract: what it asks for, and what was found."""
    asked = "" if row["required"] is None else f" {row['bound']} {row['required']:.4g}"
    found = "" if row["found"] is None else f", found {row['found']:.4g}"
    return f"{row['promise']}: asked for{asked or ' everybody'}{found}, missed for {row['broken']}"


def _what_remains(described: Mapping[str, Any]) -> str:
    gaps = len(described["not_covered"])
    things = "1 thing" if gaps == 1 else f"{gaps} things"
    return f"Not covered by this audit: {things}, listed below with the reasons."


def _residual_risk(described: Mapping[str, Any]) -> Iterator[str]:
    """How often an attacker is right, with the release and without it, and what the promise allows."""
    risk = described["residual_risk"]
    if risk is None:
        return
    guessed, release = f"{100 * risk['guessed']:.0f} %", risk["release"]
    if risk["without"] is None:
        yield (
            f"Residual risk: joined with the releases before it, {release} implies a protected value with a"
            f" confidence of up to {guessed}. How often it is guessed without this release was not measured."
        )
    else:
        yield (
            f"Residual risk: an attacker who learns from the groups of {release} guesses {guessed} of the"
            " people's values right; without the release, by always naming the most frequent value,"
            f" {100 * risk['without']:.0f} %."
        )
    if risk["promised"] is None:
        yield "On this scale, 100 % is certainty. The contract does not limit it."
    elif risk["without"] is None:
        yield f"On this scale, 100 % is certainty, and the contract allows {100 * risk['promised']:.0f} %."
    else:
        yield (
            f"On this scale, 100 % is everybody's value, and {100 * risk['promised']:.0f} % is the most that"
            " the contract allows for a guess from a person's own groups alone."
        )
