"""The audit's report, for a reader who was not there: figures, never a person.

It is written twice, each time as a page that stands alone and prints on A4, and as JSON: `audit`, with all
figures and the paths of what was read, and `handout`, without paths and without small counts of people.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jinja2

from anonymize.attack.figures import DiversityFigures, LinkageFigures
from anonymize.contract import Product
from anonymize.principles import principle_of
from anonymize.promise import LargestShare, Promise
from anonymize.promise.registry import kinds_of, scopes
from anonymize.text import Text
from anonymize.utility.usefulness import Usefulness
from orchestration.audit.findings import (
    AttackedRelease,
    AttackedSeries,
    Findings,
    Gap,
)
from orchestration.audit.read.columns import described_columns
from orchestration.audit.read.material import Material
from orchestration.audit.report import charts
from orchestration.audit.report.conclusion import (
    CHANGED,
    READING,
    combinations,
    conclusion,
    releases,
    verdict,
)
from orchestration.audit.report.handout import handed_out, public_names
from orchestration.audit.signature import SIGNATURE, SIGNED
from orchestration.languages.language import ENGLISH, Language
from orchestration.storage.in_stores import origin_of
from orchestration.storage.manifest import MANIFEST

PURPOSE = Text("To find out whether the published releases keep what the contract promises.")
BACKGROUND = [
    Text("every published table, of every series given"),
    Text("who is in the table at every release, under which name"),
    Text("everybody's exact quasi-identifiers at every release"),
    Text("that a person's sensitive value stays the same while they carry it, and when it changed"),
    Text("how many counterfeits each group has, as far as that is published"),
]
BACKGROUND_OF_VIEWS = [
    Text("every published view of the series, and every other release that the contract names"),
    Text("that all of these are about the same people"),
    Text("the hierarchies and domains of the columns, and which pairs of values nobody has"),
    Text("nobody's record in particular"),
]
OF_ANOTHER_TOOL = Text("another tool's")
GROUPS_KNOWN = Text("everybody's group in every release (private folder)")


@dataclass(frozen=True)
class About:
    """What a report says of the audit itself."""

    date: str
    """The day of the audit, UTC, YYYY-MM-DD."""
    auditor: str | None = None
    """Who audits."""
    purpose: str | None = None
    """What for."""


def describe(findings: Findings, material: Material, contract: Path, about: About) -> dict[str, Any]:
    """Everything the report says, as plain JSON values."""
    promise = findings.promise
    described = {
        "product": findings.contract.product,
        "date": about.date,
        "auditor": about.auditor or findings.contract.governance.auditor,
        "purpose": about.purpose or PURPOSE,
        "governance": findings.contract.governance.model_dump(exclude={"auditor"}, exclude_none=True),
        "software": f"republish {version('republish')}",
        "holds": findings.holds,
        "verdict": verdict(findings),
        "contract": {
            "file": str(contract),
            "product": findings.contract.product,
            **_columns(findings),
            "principle": _principle(material),
        },
        "columns": described_columns(material),
        "background_knowledge": (BACKGROUND if any(map(_in_groups, findings.series)) else BACKGROUND_OF_VIEWS)
        + ([GROUPS_KNOWN] if material.private else []),
        "promises": [_promise(row) for row in findings.promises().to_dicts()],
        "keeps_contract": findings.keeps_contract,
        "asked": None if findings.asked is None else [_promise(row) for row in findings.asked.to_dicts()],
        "series": [_series(one, promise, findings.contract) for one in findings.series],
        "residual_risk": _residual_risk(findings, promise),
        "not_covered": [_gap(gap) for gap in findings.not_covered],
        "read": [
            {"file": origin_of(Path(file)), "sha256": digest, "rows": rows}
            for file, (digest, rows) in sorted(material.reading.files.items())
        ],
        "published": _published(material),
    }
    return described | {"conclusion": conclusion(described)}


def _residual_risk(findings: Findings, promise: Promise) -> dict[str, Any] | None:
    """What is guessed right at worst, of any release, beside what is without it and what is promised.

    `series`, `release`; `guessed`, `without` (None where it is not measured) and `promised` (None where it is
    not) are shares. Of a view, `guessed` is the largest confidence. None where nothing was guessed.
    """
    guessed = [
        (found.learned, found.most_frequent, one.name, release.name)
        for one in findings.series
        for release in one.releases
        if (found := release.guesses) is not None
    ]
    implied = [
        (confidence, None, one.name, release.name)
        for one in findings.series
        for release in one.releases
        if (confidence := release.attack.figures.get("linkability")) is not None
    ]
    if not guessed and not implied:
        return None
    share, without, series, release = max(guessed or implied, key=lambda one: one[0])
    promised = next((part.likeliest for part in promise if part.likeliest is not None), None)
    worst = {"series": series, "release": release, "guessed": share, "without": without}
    return worst | {"promised": promised}


def _principle(material: Material) -> dict[str, Any]:
    """The contract's principle and its parameters, or what a mapping says in its place."""
    foreign = material.foreign
    if foreign is not None and foreign.promise is not None:
        return {"name": OF_ANOTHER_TOOL, **foreign.promise.as_json()}
    return material.contract.principle.model_dump(mode="json")


def _columns(findings: Findings) -> dict[str, Any]:
    contract = findings.contract
    named = {contract.LISTED_UNDER: [one.name for _, one in contract.attributes()]}
    if contract.sensitive is None:
        return named
    several = [one.name for one in contract.sensitive.columns] if contract.sensitive.is_several else []
    return {
        **named,
        "sensitive": contract.sensitive.name,
        **({"sensitive_columns": several} if several else {}),
    }


def _in_groups(series: AttackedSeries) -> bool:
    return series.in_groups


def _promise(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the findings, with what it means and whether its counts are of people."""
    scope = scopes()[row["promise"]]
    bound = None if row["required"] is None else row["bound"]
    return row | {"meaning": scope.meaning, "bound": bound, "of_people": scope.counts_people}


def _series(series: AttackedSeries, promise: Promise, contract: Product) -> dict[str, Any]:
    kinds = kinds_of(principle_of(contract).format(contract), [promise])
    figures, share = series.figures, promise.part(LargestShare)
    every = dict.fromkeys(column for kind in kinds for column in kind.figures)
    shown = [column for column in every if figures.get(column.name) is not None]
    unpromised = [kind.unpromised for kind in kinds if kind.unpromised and promise.part(kind) is None]
    return {
        "name": series.name,
        "releases": [_release(release, contract) for release in series.releases],
        "columns": [asdict(column) for column in shown],
        "intersection": series.left.by_what_is_linked.to_dicts(),
        "candidates": series.left.by_candidates.to_dicts(),
        "not_promised": [
            {"figure": name, "found": figures[name], "words": words}
            for name, words in unpromised
            if figures.get(name) is not None
        ],
        "beside_guesses": []
        if share is None
        else [f"the largest share that is promised for a group is {100 * share.largest_share:.1f} %"],
        "largest_share": share and share.largest_share,
        "presence": None if series.presence is None else asdict(series.presence),
        "exact_risks": series.of_all_releases,
        # Signatures are numbered, not named: which values are rare is not the report's to say.
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
            for number, found in enumerate(series.equivalences, start=1)
        ],
        "equivalence_by_column": {
            name: min((one.e for one in found if one.e is not None), default=None)
            for name, found in series.equivalences_by_column.items()
        },
    }


def _release(release: AttackedRelease, contract: Product) -> dict[str, Any]:
    guesses = release.guesses
    return {
        "release": release.name,
        "tuples": release.tuples,
        "figures": release.attack.figures,
        "findings": release.attack.findings.to_dicts(),
        "reidentification": _reidentification(release.attack.figures),
        "useful": None if release.useful is None else _useful(release.useful, contract),
        "guesses": None
        if guesses is None
        else asdict(guesses) | {"error": guesses.error, "group_known": guesses.hosted / guesses.people},
        "by_column": _by_column(release),
    }


def _by_column(release: AttackedRelease) -> dict[str, Any] | None:
    """What is guessed right of each sensitive column, and of all; None of one column.

    `columns`: a row for each, `column` (None: all together), `learned`, `at_random`, `most_frequent`,
    `from_truth`, `correlated`: shares. `ruled_out`: people.
    """
    correlated = release.correlated
    if release.guesses is None or correlated is None:
        return None
    known = dict(correlated.by_column)
    rows = [(name, found, known[name]) for name, found in release.guesses_by_column.items()]
    parts = ("learned", "at_random", "most_frequent", "from_truth")
    return {
        "columns": [
            {"column": name, **{part: getattr(found, part) for part in parts}, "correlated": share}
            for name, found, share in [*rows, (None, release.guesses, correlated.together)]
        ],
        "ruled_out": correlated.ruled_out,
    }


def _reidentification(figures: Mapping[str, Any]) -> dict[str, Any] | None:
    """Risks of a release by itself; None of a view."""
    if figures.get("smallest_class") is None:
        return None
    linkage = LinkageFigures.of(figures)
    return {
        "k": linkage.smallest_class,
        "l": DiversityFigures.of(figures).fewest_values_of_a_class,
        "prosecutor_risk": linkage.prosecutor_risk,
        "journalist_risk": linkage.journalist_risk,
        "marketer_risk": linkage.marketer_risk,
        "lone_ends": figures.get("lone_ends"),
        "ends": figures.get("ends"),
    }


def _useful(found: Usefulness, contract: Product) -> dict[str, Any]:
    """The figures, with the publisher's names of columns."""
    names = contract.column_names()
    renamed = {
        part: {names[column]: figure for column, figure in getattr(found, part).items()}
        for part in ("widths", "shares")
    }
    return asdict(found) | renamed


def _gap(gap: Gap) -> dict[str, Any]:
    return {"what": gap.what, "why": gap.why, "people": list(gap.people), "series": gap.series}


def _published(material: Material) -> list[dict[str, Any]]:
    """The published files that were read, without the folders above them."""
    names = public_names([series.name for series in material.series])
    read = material.reading.files
    return [
        {
            "file": f"{names[series.name]}/{release.name}/{release.name_of(file)}"
            if release.path.is_dir()
            else f"{names[series.name]}/{file.name}",
            "sha256": read[str(file)][0],
            "rows": read[str(file)][1],
        }
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


def signed_part(described: dict[str, Any]) -> dict[str, Any]:
    """What a signature shows of a report in plain sight."""
    parts = ("software", "date", "auditor", "purpose", "governance", "verdict")
    return {part: described[part] for part in parts}


def write_report(
    described: dict[str, Any], findings: Findings, folder: Path, language: Language | None = None
) -> list[Path]:
    """Write both versions of the report into a folder; returns the paths of its files.

    The pages are in the language that is asked for, and JSON is in English, for programs. An earlier
    signature in the folder is removed: it was of another report.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in (SIGNED, SIGNATURE):
        (folder / name).unlink(missing_ok=True)
    language = language or Language.of(ENGLISH)
    contract = findings.contract
    kinds = kinds_of(principle_of(contract).format(contract), [findings.promise])
    plots = [charts.of_series(one, findings.promise, kinds, language) for one in findings.series]
    written = []
    for name, told in (("audit", described), ("handout", handed_out(described))):
        html, data = folder / f"{name}.html", folder / f"{name}.json"
        html.write_text(page(told, plots, language, is_internal=name == "audit"), encoding="utf-8")
        data.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        written += [html, data]
    return written


def page(
    told: Mapping[str, Any], plots: Sequence[Sequence[charts.Drawn]], language: Language, *, is_internal: bool
) -> str:
    """The report as a page.

    Parameters
    ----------
    told
        What the report says, or its version for others.
    plots
        The charts of each series.
    language
        What it is written in.
    is_internal
        Whether it is the publisher's own version.
    """
    template = _environment(language).get_template("report.html.j2")
    return template.render(**told, plots=plots, is_internal=is_internal)


@functools.cache  # its templates are compiled once
def _environment(language: Language) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("orchestration.audit.report", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "_": language.say,
        "language": language,
        "reading": READING,
        "combinations": combinations,
        "releases": releases,
        "changed": CHANGED,
        "groups_known": GROUPS_KNOWN,
    }
    for name in ("say", "figure", "percent", "points", "filled", "day"):
        environment.filters[name] = getattr(language, name)
    return environment
