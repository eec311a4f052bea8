"""Everything that an audit found, as plain JSON values: `audit.json`, for the auditor and the publisher."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from republish.anonymize.attack.equivalence import Equivalence
from republish.anonymize.attack.intersection import SCOPES
from republish.anonymize.attack.measures.guessing import Guesses
from republish.anonymize.contract import Product
from republish.anonymize.people.rows import has_several_rows
from republish.anonymize.principles import principle_of
from republish.anonymize.promise import LargestShare, Promise
from republish.anonymize.promise.registry import kinds_of, scopes
from republish.orchestration.audit.findings import AttackedRelease, AttackedSeries, Findings, Left
from republish.orchestration.audit.read.material import Material
from republish.orchestration.audit.report.account import Line
from republish.orchestration.audit.report.coarse import public_names
from republish.orchestration.audit.report.words import verdict
from republish.orchestration.storage.in_stores import origin_of

PURPOSE = "To find out whether the published releases keep what the contract promises."
BACKGROUND = [
    "every published table, of every series given",
    "who is in the table at every release, under which name",
    "everybody's exact quasi-identifiers at every release",
    "that a person's sensitive value stays the same while they carry it, and when it changed",
    "how many counterfeits each group has, as far as that is published",
]
BACKGROUND_OF_VIEWS = [
    "every published view of the series, and every other release that the contract names",
    "that all of these are about the same people",
    "the hierarchies and domains of the columns, and which pairs of values nobody has",
    "nobody's record in particular",
]
GROUPS_KNOWN = "everybody's group in every release (private folder)"
OF_ANOTHER_TOOL = "another tool's"
MOST_PARTS = 1000
"""Parts of a series, of the equivalence attack, that are listed."""
DIGITS = 12
"""How exactly the usefulness of releases is written, in significant digits."""


@dataclass(frozen=True)
class About:
    """What a report says of the audit itself."""

    date: str
    """The day of the audit, UTC, YYYY-MM-DD."""
    auditor: str | None = None
    """Who audits."""
    purpose: str | None = None
    """What for."""
    nonce: str | None = None
    """See `signature.nonce`; None of an audit that is not signed."""


def raw(
    findings: Findings, material: Material, contract: Path, about: About, account: Sequence[Line]
) -> dict[str, Any]:
    """What was promised, read and found, with all digits, counts and paths; nothing of any one person."""
    declared, promise = findings.contract, findings.promise
    is_grouped = any(one.in_groups for one in findings.series)
    return {
        "product": declared.product,
        "date": about.date,
        "auditor": about.auditor or declared.governance.auditor,
        "purpose": about.purpose or PURPOSE,
        "governance": declared.governance.model_dump(exclude={"auditor"}, exclude_none=True),
        "software": f"republish {version('republish')}",
        **({} if about.nonce is None else {"nonce": about.nonce}),
        "holds": findings.holds,
        "keeps_contract": findings.keeps_contract,
        "verdict": verdict(findings),
        "account": [asdict(line) for line in account],
        "contract": _declared(declared, contract, material, promise),
        "background_knowledge": [
            *(BACKGROUND if is_grouped else BACKGROUND_OF_VIEWS),
            *([GROUPS_KNOWN] if material.private else []),
        ],
        "promises": [_judged(row) for row in findings.promises().to_dicts()],
        "asked": None if findings.asked is None else [_judged(row) for row in findings.asked.to_dicts()],
        "series": [_series(one, promise, declared) for one in findings.series],
        "residual_risk": _residual_risk(findings, promise),
        "not_covered": [asdict(gap) for gap in findings.not_covered],
        "read": [
            {"file": origin_of(Path(file)), "sha256": digest, "rows": rows}
            for file, (digest, rows) in sorted(material.reading.files.items())
        ],
        "published": list(_published(material)),
    }


def _declared(contract: Product, file: Path, material: Material, promise: Promise) -> dict[str, Any]:
    """The contract, with what it promises in sentences for readers."""
    sensitive, foreign, principle = contract.sensitive, material.foreign, material.contract.principle
    stated = principle.model_dump(mode="json")
    if foreign is not None and foreign.promise is not None:
        stated = {"name": OF_ANOTHER_TOOL, **foreign.promise.as_json()}
    declared = {
        "file": str(file),
        "product": contract.product,
        contract.LISTED_UNDER: [one.name for _, one in contract.attributes()],
        "sensitive": None if sensitive is None else sensitive.name,
        "sensitive_columns": [one.name for one in sensitive.columns]
        if sensitive is not None and sensitive.is_several
        else None,
        "rows": "several" if has_several_rows(contract) else None,
        "principle": stated,
        "promises": promise.sentences(),
    }
    return {name: part for name, part in declared.items() if part is not None}


def _judged(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of `Findings.promises`, with what holds if it is kept."""
    scope = scopes()[row["promise"]]
    bound = None if row["required"] is None else row["bound"]
    return {**row, "bound": bound, "meaning": scope.meaning, "of_people": scope.counts_people}


def _series(series: AttackedSeries, promise: Promise, contract: Product) -> dict[str, Any]:
    kinds, figures = kinds_of(principle_of(contract).format(contract), [promise]), series.figures
    share = promise.part(LargestShare)
    return {
        "name": series.name,
        "releases": [_release(release) for release in series.releases],
        **_intersected(series.left),
        "not_promised": [
            {
                "figure": name,
                "found": figures[name],
                "words": words,
                "people": figures.get(kind.measured_on or ""),
            }
            for kind in kinds
            if kind.unpromised is not None and promise.part(kind) is None
            for name, words in [kind.unpromised]
            if figures.get(name) is not None
        ],
        "largest_share": None if share is None else share.largest_share,
        "presence": None if series.presence is None else asdict(series.presence),
        "exact_risks": series.of_all_releases,
        # Numbered, not named: which values are rare is not the report's to say.
        "equivalence": [
            {
                "signature": number,
                "values": len(found.signature),
                "partitions": found.partitions,
                "people": found.people,
                "e": found.e,
                "at_least": found.at_least,
                "proven": found.proven,
            }
            for number, found in _most_telling(series.equivalences)
        ],
    }


def _most_telling(found: Sequence[Equivalence]) -> list[tuple[int, Equivalence]]:
    """Parts with their numbers; of too many, those with the smallest attacks, all together among them."""
    numbered = [*enumerate(found, start=1)]
    smallest = sorted(numbered, key=lambda one: (one[1].e is None, one[1].e, -one[0]))
    return sorted(smallest[:MOST_PARTS], key=lambda one: one[0])


def _intersected(left: Left | None) -> dict[str, Any]:
    """What intersecting all releases leaves."""
    if left is None:
        return {"intersection": [], "candidates": []}
    people = [{"candidates": one, "people": some} for one, some in left.by_candidates.items()]
    linked = [{"linked": scope} | getattr(left, scope).as_json() for scope in SCOPES]
    return {"intersection": linked, "candidates": people}


def _release(release: AttackedRelease) -> dict[str, Any]:
    useful: dict[str, Any] = {} if release.useful is None else asdict(release.useful)
    for part in {"widths", "shares"} & useful.keys():
        useful[part] = {release.columns[column]: figure for column, figure in useful[part].items()}
    by_column = [*release.guesses_by_column.items()]
    by_column += [("all columns together", release.guesses)] if by_column and release.guesses else []
    return {
        "release": release.name,
        "tuples": release.tuples,
        "figures": dict(release.attack.figures),
        "findings": release.attack.findings.to_dicts(),
        "useful": _steady(useful) or None,
        "guesses": _guessed(release.guesses),
        "by_column": [{"column": name, **(_guessed(found) or {})} for name, found in by_column],
    }


def _steady(figures: Any) -> Any:
    """Figures to the digits that are the same in every run: the order in which many are added up is not."""
    if isinstance(figures, dict):
        return {name: _steady(one) for name, one in figures.items()}
    return float(f"{figures:.{DIGITS}g}") if isinstance(figures, float) else figures


def _guessed(found: Guesses | None) -> dict[str, Any] | None:
    if found is None:
        return None
    shares = asdict(replace(found, clues=None))
    del shares["clues"]
    return shares


def _residual_risk(findings: Findings, promise: Promise) -> dict[str, Any] | None:
    """What is guessed right at worst, of any release, as a share; None where nothing was guessed.

    Of a view, it is the largest confidence, which its readers can compute; `without` is then not measured.
    """
    of_all = [(one.name, release) for one in findings.series for release in one.releases]
    guessed = [
        (found.learned, found.most_frequent, name, release.name, found.error, found.people)
        for name, release in of_all
        if (found := release.guesses) is not None
    ]
    implied = [
        (confidence, None, name, release.name, None, None)
        for name, release in of_all
        if (confidence := release.attack.figures.get("linkability")) is not None
    ]
    if not (worst := max(guessed or implied, default=None, key=lambda one: one[0])):
        return None
    names = ("guessed", "without", "series", "release", "error", "people")
    promised = next((part.likeliest for part in promise if part.likeliest is not None), None)
    return {**dict(zip(names, worst, strict=True)), "promised": promised}


def _published(material: Material) -> Iterator[dict[str, Any]]:
    """The published files that were read, without the folders above them."""
    names = public_names([series.name for series in material.series])
    for series in material.series:
        for release in series.releases:
            for file in release.files:
                name = f"{release.name}/{release.name_of(file)}" if release.path.is_dir() else file.name
                digest, rows = material.reading.files[str(file)]
                yield {"file": f"{names[series.name]}/{name}", "sha256": digest, "rows": rows}
