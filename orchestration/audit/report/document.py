"""The audit's report, for a reader who was not there: figures, never a person.

It is written twice, each time as a page that stands alone and prints on A4, and as JSON: `audit`, with all
figures and the paths of what was read, and `handout`, without paths and without small counts of people.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jinja2

from republish.anonymize.attack.figures import DiversityFigures, LinkageFigures, SeveralRowsFigures
from republish.anonymize.contract import Product
from republish.anonymize.people.rows import as_counted, has_several_rows
from republish.anonymize.principles import principle_of
from republish.anonymize.promise import LargestShare, Promise
from republish.anonymize.promise.part import Figure
from republish.anonymize.promise.registry import kinds_of
from republish.anonymize.utility.usefulness import Usefulness
from republish.orchestration.audit.findings import AttackedRelease, AttackedSeries, Findings
from republish.orchestration.audit.read.columns import described_columns
from republish.orchestration.audit.read.material import Material
from republish.orchestration.audit.report import charts
from republish.orchestration.audit.report.conclusion import (
    CHANGED,
    READING,
    READING_OF_ROWS,
    combinations,
    conclusion,
    releases,
    verdict,
)
from republish.orchestration.audit.report.handout import as_json, public_names
from republish.orchestration.audit.report.model import (
    Declared,
    FileRead,
    Guessed,
    GuessedColumn,
    Present,
    Reidentification,
    Release,
    Report,
    ResidualRisk,
    Row,
    Series,
    Signature,
    Unpromised,
    Useful,
)
from republish.orchestration.audit.signature import SIGNATURE, SIGNED
from republish.orchestration.storage.in_stores import origin_of
from republish.orchestration.storage.manifest import MANIFEST
from republish.orchestration.storage.store import json_text, write_together
from republish.orchestration.written import figure, filled, percent, points

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
OF_ANOTHER_TOOL = "another tool's"
GROUPS_KNOWN = "everybody's group in every release (private folder)"


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


def describe(findings: Findings, material: Material, contract: Path, about: About) -> Report:
    """Everything the report says."""
    declared, promise = findings.contract, findings.promise
    is_grouped = any(one.in_groups for one in findings.series)
    return Report(
        product=declared.product,
        date=about.date,
        auditor=about.auditor or declared.governance.auditor,
        purpose=about.purpose or PURPOSE,
        governance=declared.governance.model_dump(exclude={"auditor"}, exclude_none=True),
        software=f"republish {version('republish')}",
        nonce=about.nonce,
        holds=findings.holds,
        verdict=verdict(findings),
        contract=_declared(declared, contract, material, promise),
        columns=described_columns(material),
        background_knowledge=(BACKGROUND if is_grouped else BACKGROUND_OF_VIEWS)
        + ([GROUPS_KNOWN] if material.private else []),
        promises=[Row.of(row) for row in findings.promises().to_dicts()],
        keeps_contract=findings.keeps_contract,
        asked=None if findings.asked is None else [Row.of(row) for row in findings.asked.to_dicts()],
        series=[_series(one, promise, declared) for one in findings.series],
        residual_risk=_residual_risk(findings, promise),
        not_covered=findings.not_covered,
        read=[
            FileRead(origin_of(Path(file)), digest, rows)
            for file, (digest, rows) in sorted(material.reading.files.items())
        ],
        published=_published(material),
    )


def _residual_risk(findings: Findings, promise: Promise) -> ResidualRisk | None:
    """What is guessed right at worst, of any release; None where nothing was guessed."""
    guessed = [
        (found.learned, found.most_frequent, one.name, release.name, found.error, found.people)
        for one in findings.series
        for release in one.releases
        if (found := release.guesses) is not None
    ]
    implied = [
        (confidence, None, one.name, release.name, None, None)
        for one in findings.series
        for release in one.releases
        if (confidence := release.attack.figures.get("linkability")) is not None
    ]
    if not guessed and not implied:
        return None
    share, without, series, release, error, people = max(guessed or implied, key=lambda one: one[0])
    promised = next((part.likeliest for part in promise if part.likeliest is not None), None)
    return ResidualRisk(series, release, share, without, promised, error, people)


def _principle(material: Material) -> dict[str, Any]:
    """The contract's principle and its parameters, or what a mapping says in its place."""
    foreign = material.foreign
    if foreign is not None and foreign.promise is not None:
        return {"name": OF_ANOTHER_TOOL, **foreign.promise.as_json()}
    return material.contract.principle.model_dump(mode="json")


def _declared(contract: Product, file: Path, material: Material, promise: Promise) -> Declared:
    sensitive = contract.sensitive
    return Declared(
        file=str(file),
        product=contract.product,
        **{contract.LISTED_UNDER: [one.name for _, one in contract.attributes()]},
        sensitive=None if sensitive is None else sensitive.name,
        sensitive_columns=[one.name for one in sensitive.columns]
        if sensitive is not None and sensitive.is_several
        else None,
        rows="several" if has_several_rows(contract) else None,
        principle=_principle(material),
        promises=promise.sentences(),
    )


def _series(series: AttackedSeries, promise: Promise, contract: Product) -> Series:
    kinds = kinds_of(principle_of(contract).format(contract), [promise])
    figures, share = series.figures, promise.part(LargestShare)
    every = dict.fromkeys(_headed(column, contract) for kind in kinds for column in kind.figures)
    unpromised = [
        (*kind.unpromised, figures.get(kind.measured_on or ""))
        for kind in kinds
        if kind.unpromised and promise.part(kind) is None
    ]
    return Series(
        series.name,
        [_release(release) for release in series.releases],
        columns=[column for column in every if figures.get(column.name) is not None],
        intersection=series.left.by_what_is_linked.to_dicts(),
        candidates=series.left.by_candidates.to_dicts(),
        not_promised=[
            Unpromised(name, figures[name], words, people)
            for name, words, people in unpromised
            if figures.get(name) is not None
        ],
        beside_guesses=[]
        if share is None
        else [f"the largest share that is promised for a group is {100 * share.largest_share:.1f} %"],
        largest_share=None if share is None else share.largest_share,
        presence=None if series.presence is None else Present(**asdict(series.presence)),
        exact_risks=series.of_all_releases,
        equivalence=[
            Signature(
                number,
                len(found.signature),
                found.partitions,
                found.people,
                found.e,
                found.at_least,
                found.proven,
            )
            for number, found in enumerate(series.equivalences, start=1)
        ],
        equivalence_by_column={
            name: min((one.e for one in found if one.e is not None), default=None)
            for name, found in series.equivalences_by_column.items()
        },
    )


def _headed(column: Figure, contract: Product) -> Figure:
    """A figure under a head that says rows, if it counts these."""
    is_of_persons = column.name in {one.name for one in fields(SeveralRowsFigures)}
    return column if is_of_persons else replace(column, words=as_counted(column.words, contract))


def _release(release: AttackedRelease) -> Release:
    return Release(
        release.name,
        release.tuples,
        release.attack.figures,
        release.attack.findings.to_dicts(),
        _reidentification(release.attack.figures),
        None if release.useful is None else _useful(release.useful, release.columns),
        None if release.guesses is None else Guessed.of(release.guesses),
        _by_column(release),
    )


def _by_column(release: AttackedRelease) -> list[GuessedColumn]:
    if not release.guesses_by_column:
        return []
    return [
        GuessedColumn(name, found.learned, found.at_random, found.most_frequent, found.from_truth)
        for name, found in [*release.guesses_by_column.items(), (None, release.guesses)]
        if found is not None
    ]


def _reidentification(figures: Mapping[str, Any]) -> Reidentification | None:
    if figures.get("smallest_class") is None:
        return None
    linkage = LinkageFigures.of(figures)
    return Reidentification(
        linkage.smallest_class,
        DiversityFigures.of(figures).fewest_values_of_a_class,
        linkage.prosecutor_risk,
        linkage.journalist_risk,
        linkage.marketer_risk,
        figures.get("lone_ends"),
        figures.get("ends"),
    )


def _useful(found: Usefulness, names: Mapping[str, str]) -> Useful:
    renamed = {
        part: {names[column]: figure for column, figure in getattr(found, part).items()}
        for part in ("widths", "shares")
    }
    return Useful(**asdict(found) | renamed)


def _published(material: Material) -> list[FileRead]:
    """The published files that were read, without the folders above them."""
    names = public_names([series.name for series in material.series])
    return [
        FileRead(
            f"{names[series.name]}/{release.name}/{release.name_of(file)}"
            if release.path.is_dir()
            else f"{names[series.name]}/{file.name}",
            *material.reading.files[str(file)],
        )
        for series in material.series
        for release in series.releases
        for file in release.files
    ]


def audited_releases(material: Material) -> list[dict[str, Any]]:
    """What is signed of each release: the SHA-256 of its manifest as it was read, or of its files."""
    read = material.reading.files
    releases = []
    for series in material.series:
        for release in series.releases:
            manifest = release.manifest or {}
            named = f"{manifest.get('product')}/{manifest.get('series')}"
            files = [file for file in release.files if release.manifest is None or file.name == MANIFEST]
            releases.append(
                {
                    "series": release.path.parent.name if release.manifest is None else named,
                    "release": release.name,
                    "files": {release.name_of(file): read[str(file)][0] for file in files},
                }
            )
    return releases


def signed_part(report: Report) -> dict[str, Any]:
    """What a signature shows of a report in plain sight."""
    parts = ("software", "date", "auditor", "purpose", "governance", "verdict")
    return {part: getattr(report, part) for part in parts}


def told(report: Report, *, is_internal: bool) -> dict[str, Any]:
    """A report as JSON values, with its conclusion.

    Parameters
    ----------
    report
        What it says.
    is_internal
        Whether it is the publisher's own version. The other one is without what is the publisher's own
        business: paths, the files of the truth and of the private folder, how many people have how many
        candidate values, tables by signature, and counts of people below `SMALL`; what is measured on true
        values is `coarse`.
    """
    if is_internal:
        return {**as_json(report), "conclusion": conclusion(report, is_internal=True)}
    names, risk = public_names([one.name for one in report.series]), report.residual_risk
    said = replace(report, read=report.published, residual_risk=risk and risk.handed_out())
    return {**as_json(said, names), "conclusion": conclusion(said, is_internal=False)}


def write_report(report: Report, findings: Findings, folder: Path) -> list[Path]:
    """Write both versions of the report into a folder, whole or not at all; returns the paths of its files.

    An earlier signature in the folder is removed: it was of another report.
    """
    contract = findings.contract
    kinds = kinds_of(principle_of(contract).format(contract), [findings.promise])
    plots = [charts.of_series(one, findings.promise, kinds) for one in findings.series]
    files = dict[str, str]()
    for name in ("audit", "handout"):
        said = told(report, is_internal=name == "audit")
        files |= {
            f"{name}.html": page(said, plots, is_internal=name == "audit"),
            f"{name}.json": json_text(said),
        }
    return write_together(folder, files, gone=(SIGNED, SIGNATURE))


def page(said: Mapping[str, Any], plots: Sequence[Sequence[charts.Drawn]], *, is_internal: bool) -> str:
    """The report as a page.

    Parameters
    ----------
    said
        What the report says, or its version for others (`told`).
    plots
        The charts of each series.
    is_internal
        Whether it is the publisher's own version.
    """
    template = _environment().get_template("report.html.j2")
    return template.render(**said, plots=plots, is_internal=is_internal)


@functools.cache  # its templates are compiled once
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("republish.orchestration.audit.report", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "reading": READING,
        "reading_of_rows": READING_OF_ROWS,
        "combinations": combinations,
        "releases": releases,
        "changed": CHANGED,
        "groups_known": GROUPS_KNOWN,
    }
    environment.filters |= {"figure": figure, "percent": percent, "points": points, "filled": filled}
    return environment
