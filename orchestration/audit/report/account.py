"""What an audit was given, looked at, and could not read: three lines, the same wherever it reports."""

from __future__ import annotations

from dataclasses import dataclass

from republish.anonymize.people.rows import has_several_rows
from republish.anonymize.promise.rules import Coverage, Entries
from republish.orchestration.audit.findings import Findings, braced
from republish.orchestration.audit.read.material import Material


@dataclass(frozen=True)
class Line:
    """A sentence with `{}` in the place of each count."""

    what: str
    people: tuple[int, ...]
    """The counts of people and rows. The page, which everybody may see, has words for small ones."""


def account(findings: Findings, material: Material) -> list[Line]:
    """Say what was given, looked at and not read.

    Parameters
    ----------
    findings
        What the audit came to.
    material
        What it read, after all attacks.
    """
    reading, unit = material.reading, "rows" if has_several_rows(findings.contract) else "people"
    releases = [release for one in findings.series for release in one.releases]
    files = sum(len(release.files) for one in material.series for release in one.releases)
    of_series = "" if len(material.series) == 1 else f" of {len(material.series)} series"
    each = "" if len(releases) == 1 else ", each counted in every release that has them"
    given = (
        f"Given: {_counted(len(releases), 'release')}{of_series} in {_counted(files, 'file')}, {{}} rows;"
        f" true tables of {{}} {unit}{each}."
    )
    used, ignored = (braced(", ".join(names) or "none") for names in (reading.used, reading.ignored))
    looked = f"Looked at: columns {used}. Searched for identifiers alone: {ignored}."
    left_out = sum(sum(some.values()) for some in reading.left_out.values())
    lacking = [
        ("missing or unreadable entries", _broken(findings, Entries.scopes[""].name)),
        ("cells that stand for anything", sum(one.anything for one in reading.cells.values())),
        ("rows that others of their class spell otherwise", sum(one.spelt for one in reading.cells.values())),
        ("rows that say nothing of anybody", _figure(findings, "rows_of_anything")),
        (f"{unit} whom no row with their value covers", _broken(findings, Coverage.scopes[""].name)),
        (f"{unit} left out for want of a value", left_out),
    ]
    lacking.append(("true tables of no release that was given", len(material.unreleased)))
    some = [(words, count) for words, count in lacking if count]
    not_read = "; ".join(f"{{}} {words}" for words, _ in some) or "nothing"
    return [
        Line(given, (sum(release.tuples for release in releases), sum(reading.people.values()))),
        Line(looked, ()),
        Line(f"Not read, or without a person: {not_read}.", tuple(count for _, count in some)),
    ]


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _broken(findings: Findings, promise: str) -> int:
    rows = [release.attack.findings for one in findings.series for release in one.releases]
    return sum(int(some.filter(promise=promise)["broken"].sum()) for some in rows)


def _figure(findings: Findings, name: str) -> int:
    figures = [release.attack.figures for one in findings.series for release in one.releases]
    return sum(int(some.get(name) or 0) for some in figures)
