"""What the command and the page of a report say alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from republish.orchestration.audit.findings import Findings

CHANGED = (
    "A promise that changed from a release on has a row for each figure: each person is judged"
    " by what the release promised that published the person first."
)
"""How a table is to be read in which a promise has several rows."""


def reading(*, of_rows: bool) -> str:
    """How a table of promises is to be read, also where a person may have several rows."""
    counted = "rows, and people where a promise is about all rows of a person" if of_rows else "people"
    return (
        f"“Looked at” counts {counted}; for what concerns files, tables or groups, these. It is fewer"
        " than all where a promise is about some of them, or where groups are not known."
        " “Found” is the worst case among those looked at: no less than a promise of “at least”, or"
        " no more than one of “at most”, keeps it."
    )


def releases(runs: Sequence[Sequence[str]]) -> str:
    """The releases that promised what a row is about, from the first and the last one of each run."""
    return ", ".join(first if first == last else f"{first} to {last}" for first, last in runs)


def combinations(columns: Sequence[str]) -> str:
    """What a value is where several columns are sensitive."""
    return (
        f"A value is a combination of {', '.join(columns)} here. Candidate values of a person are"
        " combinations that differ in every column, unless a line is about one column."
    )


def verdict(findings: Findings) -> str:
    """What became of the promises, in one sentence."""
    rows = findings.promises()
    broken, undecided = int((~rows["holds"]).sum()), int((rows["undecided"] > 0).sum())
    open_asked = 0 if findings.asked is None else int((findings.asked["undecided"] > 0).sum())
    if broken:
        return f"{broken} of {len(rows)} promises {'is' if broken == 1 else 'are'} broken."
    if findings.missed.height:
        return "The releases keep what they promised; they do not keep what this contract asks for."
    if open_asked and not undecided:
        return (
            f"The releases keep what they promised. Of what this contract asks for, {open_asked} could"
            " not be decided."
        )
    if undecided:
        return f"No promise is broken; {undecided} could not be decided."
    return "Every promise holds."


def in_words(row: Mapping[str, Any]) -> str:
    """A row of the findings under the contract: what it asks for, and what was found."""
    asked = "everybody"
    if row["required"] is not None and row["bound"] is not None:
        asked = f"{row['bound']} {row['required']:.4g}"
    found = "" if row["found"] is None else f", found {row['found']:.4g}"
    return f"{row['promise']}: asked for {asked}{found}, missed for {row['broken']}"
