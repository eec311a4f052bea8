"""The audit's report: one page that stands alone, and the same as JSON. Figures, never a person."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jinja2

from anonymize.attack.finding import MEANINGS, SERIES
from anonymize.contract import Product
from orchestration.audit import charts
from orchestration.audit.findings import (
    AttackedSeries,
    Findings,
    Material,
    final_distribution,
    intersection_table,
    largest_breach,
)
from orchestration.audit.signature import SIGNATURE, SIGNED
from orchestration.storage.manifest import MANIFEST

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
    return {
        "date": about.date,
        "auditor": about.auditor,
        "purpose": about.purpose or PURPOSE,
        "holds": findings.holds,
        "verdict": verdict(findings),
        "contract": {
            "file": str(contract),
            "product": findings.contract.product,
            **_columns(findings.contract),
            "principle": findings.contract.principle.model_dump(mode="json"),
        },
        "background_knowledge": (BACKGROUND if any(map(_in_groups, findings.series)) else BACKGROUND_OF_VIEWS)
        + (["everybody's group in every release (private folder)"] if material.private else []),
        "promises": [
            row | {"meaning": MEANINGS[SERIES if row["promise"].startswith(SERIES) else row["promise"]]}
            for row in findings.promises().to_dicts()
        ],
        "series": [_series(one) for one in findings.series],
        "not_covered": [{"what": what, "why": why} for what, why in findings.not_covered],
        "read": [
            {"file": file, "sha256": digest, "rows": rows}
            for file, (digest, rows) in sorted(material.reading.files.items())
        ],
        "software": f"republish {version('republish')}",
    }


def _columns(contract: Product) -> dict[str, Any]:
    named = {contract.LISTED_UNDER: [one.name for _, one in contract.attributes()]}
    return named if contract.sensitive is None else {**named, "sensitive": contract.sensitive.name}


def _in_groups(series: AttackedSeries) -> bool:
    return series.in_groups


def _series(series: AttackedSeries) -> dict[str, Any]:
    return {
        "name": series.name,
        "releases": [
            {
                "release": release.name,
                "tuples": release.tuples,
                "figures": release.attack.figures,
                "findings": release.attack.findings.to_dicts(),
            }
            for release in series.releases
        ],
        "intersection": intersection_table(series).to_dicts(),
        "candidates": final_distribution(series).to_dicts(),
        "largest_breach_probability": largest_breach(series),
        "exact_risks": None if series.assignments is None else series.assignments.figures,
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
    }


def verdict(findings: Findings) -> str:
    """What became of the promises, in one sentence."""
    rows = findings.promises()
    broken, undecided = int((~rows["holds"]).sum()), int((rows["undecided"] > 0).sum())
    if broken:
        return f"{broken} of {len(rows)} promises {'is' if broken == 1 else 'are'} broken."
    if undecided:
        return f"No promise is broken; {undecided} could not be decided."
    return "Every promise holds."


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
                    "files": {file.name: read[str(file)][0] for file in files},
                }
            )
    return releases


def signed_part(described: dict[str, Any]) -> dict[str, Any]:
    """What a signature shows of a report in plain sight."""
    return {part: described[part] for part in ("software", "date", "auditor", "verdict")}


def write_report(described: dict[str, Any], findings: Findings, folder: Path) -> list[Path]:
    """Write the report into a folder; returns the paths of its files.

    An earlier signature in the folder is removed: it was of another report.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in (SIGNED, SIGNATURE):
        (folder / name).unlink(missing_ok=True)
    plots = {
        one.name: {
            "candidates": charts.candidates_over_time(one, findings.contract) if one.in_groups else "",
            "risk": charts.risk_over_time(one, findings.contract) if one.in_groups else "",
            "equivalence": charts.equivalence_by_signature(one, findings.contract),
        }
        for one in findings.series
    }
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("orchestration.audit", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["figure"] = _figure
    page = environment.get_template("report.html.j2").render(**described, plots=plots)
    html, data = folder / "audit.html", folder / "audit.json"
    html.write_text(page)
    data.write_text(json.dumps(described, indent=2, ensure_ascii=False) + "\n")
    return [html, data]


def _figure(value: Any) -> str:
    """A number as a reader wants it; a dash where there is none."""
    if value is None:
        return "\u2013"
    if isinstance(value, float) and not value.is_integer():
        return f"{value:,.4g}"
    return f"{int(value):,}" if isinstance(value, int | float) else str(value)
