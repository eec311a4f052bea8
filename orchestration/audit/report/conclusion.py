"""The conclusion of an audit, in a sentence and in a paragraph."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence

from republish.orchestration.audit.findings import Findings
from republish.orchestration.audit.report.handout import without_small
from republish.orchestration.audit.report.model import Report, Row

READING = (
    "“Looked at” counts people; for what concerns files, tables or groups, these. It is fewer"
    " than all people where a promise is about some of them, or where groups are not known."
    " “Found” is the worst case among those looked at: no less than a promise of “at least”, or"
    " no more than one of “at most”, keeps it."
)
"""How a table of promises is to be read."""
READING_OF_ROWS = (
    "“Looked at” counts rows, and people where a promise is about all rows of a person; for what"
    " concerns files, tables or groups, these. It is fewer than all where a promise is about some"
    " of them, or where groups are not known. “Found” is the worst case among those looked at: no"
    " less than a promise of “at least”, or no more than one of “at most”, keeps it."
)
"""The same where a person may have several rows."""
CHANGED = (
    "A promise that changed from a release on has a row for each figure: each person is judged"
    " by what the release promised that published the person first."
)
"""How a table is to be read in which a promise has several rows."""


def releases(runs: Sequence[Sequence[str]]) -> str:
    """The releases that promised what a row is about, from the first and the last one of each run."""
    named = [first if first == last else f"{first} to {last}" for first, last in runs]
    return ", ".join(named)


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
    if broken == 1:
        return f"1 of {len(rows)} promises is broken."
    if broken:
        return f"{broken} of {len(rows)} promises are broken."
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


def conclusion(report: Report, *, is_internal: bool) -> str:
    """A paragraph for a reader who reads nothing else, from what a report says.

    Parameters
    ----------
    described
        The report, or its version for others: counts of people are quoted as they are in it.
    """
    return " ".join(
        [
            _what_was_done(report),
            report.verdict,
            *_what_was_found(report),
            *_two_values_under_one_signature(report, is_internal=is_internal),
            *_what_was_missed(report, is_internal=is_internal),
            *_residual_risk(report),
            _what_remains(report),
        ]
    )


def _what_was_done(report: Report) -> str:
    releases = [release.release for series in report.series for release in series.releases]
    first, last = min(releases), max(releases)
    span = first if first == last else f"{first} to {last}"
    count = "one release"
    if len(releases) > 1:
        count = f"{len(releases)} releases"
    return (
        f"On {dt.date.fromisoformat(report.date)}, {report.auditor or 'the auditor'} attacked {count}"
        f" ({span}) with all that the section on the adversary lists, and compared what came out with"
        " the true tables."
    )


def _what_was_found(report: Report) -> Iterator[str]:
    broken = [row for row in report.promises if not row.holds]
    if broken:
        named = dict.fromkeys(row.promise for row in broken)
        yield f"Broken: {', '.join(named)}."
        if where := sorted({release for row in broken for release in row.broken_in}):
            yield f"Releases concerned: {', '.join(where)}."
        yield "The releases do not keep what the contract promises."
        return
    # The rows begin with what matters most of what was promised.
    promised = (row for row in report.promises if row.of_people and row.found is not None)
    leading = next((row for row in promised if row.bound), None)
    if leading is None:
        return
    yield leading.meaning
    own = [row for row in report.promises if _is_of(row, leading) and row.found is not None]
    for row in own:
        by = f" by the releases {releases(row.promised_in)}" if row.promised_in else ""
        yield f"Promised{by}: {row.bound} {row.required:.4g}; found: {row.found:.4g}."
    undecided = any(row.undecided for row in own)
    yield "This could not be decided for everybody." if undecided else "This keeps the promise."


def _two_values_under_one_signature(report: Report, *, is_internal: bool) -> Iterator[str]:
    """The exception of people with several rows, if there is one: a value that came later to a signature."""
    for series in report.series:
        last = series.releases[-1]
        if people := last.figures.get("alike"):
            yield (
                f"People of {last.release} with two values under one signature:"
                f" {people if is_internal else without_small(people)}. Whoever knows that these rows differ"
                " gives each value of the signature twice the probability. The promise is about those who"
                " take rows with one signature for rows with one value, so this does not break it."
            )


def _is_of(row: Row, other: Row) -> bool:
    return (row.series, row.promise) == (other.series, other.promise)


def _what_was_missed(report: Report, *, is_internal: bool) -> Iterator[str]:
    """What the contract asks for and was not found, where the releases promised something else."""
    broken = {(row.series, row.promise) for row in report.promises if not row.holds}
    missed = [
        in_words(row, is_internal=is_internal)
        for row in report.asked or ()
        if not row.holds and (row.series, row.promise) not in broken
    ]
    if missed:
        yield (
            f"The releases promised something else than the contract asks for. Missed: {'; '.join(missed)}."
        )


def in_words(row: Row, *, is_internal: bool = True) -> str:
    """A row of the findings under the contract: what it asks for, and what was found."""
    asked = "everybody"
    if row.required is not None and row.bound is not None:
        asked = f"{row.bound} {row.required:.4g}"
    is_shown = is_internal or not row.of_people
    broken = row.broken if is_shown else without_small(row.broken)
    found = "" if row.found is None else f", found {row.found:.4g}"
    return f"{row.promise}: asked for {asked}{found}, missed for {broken}"


def _residual_risk(report: Report) -> Iterator[str]:
    """How often an attacker is right, with the release and without it, and what the promise allows."""
    risk = report.residual_risk
    if risk is None:
        return
    guessed, release, promised = 100 * risk.guessed, risk.release, risk.promised
    if risk.without is None:
        yield (
            f"Residual risk: joined with the releases before it, {release} implies a protected value with"
            f" a confidence of up to {guessed:.0f} %. How often it is guessed without this release was not"
            " measured."
        )
    else:
        yield (
            f"Residual risk: an attacker who learns from the groups of {release} guesses {guessed:.0f} %"
            " of the people's values right, the most of any release; without it, by naming the most"
            f" frequent value, {100 * risk.without:.0f} %."
        )
    if promised is None:
        yield "On this scale, 100 % is certainty. The contract does not limit it."
    elif risk.without is None:
        yield f"On this scale, 100 % is certainty, and the contract allows {100 * promised:.0f} %."
    else:
        yield f"{100 * promised:.0f} % is the most that the contract allows by a person's own groups alone."
        yield _beside_what_is_promised(risk.guessed, promised, risk.error or 0.0)


def _beside_what_is_promised(guessed: float, promised: float, error: float) -> str:
    """Whether learning was right more often than is promised of other guesses, by more than chance makes."""
    if abs(guessed - promised) <= 2 * error:
        return "Learning is not limited: it is as often right, but for chance."
    if guessed > promised:
        return "Learning is not limited: to be right more often breaks no promise."
    return "Learning is not limited: it is right less often."


def _what_remains(report: Report) -> str:
    gaps = len(report.not_covered)
    if gaps == 1:
        return "Not covered by this audit: 1 thing, listed below with the reasons."
    return f"Not covered by this audit: {gaps} things, listed below with the reasons."
