"""The files of a report: a page for readers, and what was found for the auditor and the publisher."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from republish.orchestration.audit.findings import Findings
from republish.orchestration.audit.read.material import Material
from republish.orchestration.audit.report.charts import of_series
from republish.orchestration.audit.report.page import page
from republish.orchestration.audit.signature import SIGNATURE, SIGNED
from republish.orchestration.storage.manifest import MANIFEST
from republish.orchestration.storage.store import json_text, write_together

PAGE, DATA = "audit.html", "audit.json"


def write_report(found: Mapping[str, Any], findings: Findings, folder: Path) -> list[Path]:
    """Write both files into a folder, whole or not at all; returns their paths.

    Their owner alone can read them (0600). An earlier signature in the folder is removed: it was of another
    report.
    """
    charts = [of_series(one, findings.promise) for one in findings.series]
    files = {PAGE: page(found, charts), DATA: json_text(found)}
    return write_together(folder, files, gone=(SIGNED, SIGNATURE))


def audited_releases(material: Material) -> list[dict[str, Any]]:
    """What is signed of each release: the SHA-256 of its manifest as it was read, or of its files."""
    read = material.reading.files
    releases = []
    for series in material.series:
        for release in series.releases:
            named = "/".join(map(str, release.series))
            files = [file for file in release.files if release.manifest is None or file.name == MANIFEST]
            releases.append(
                {
                    "series": release.path.parent.name if release.manifest is None else named,
                    "release": release.name,
                    "files": {release.name_of(file): read[str(file)][0] for file in files},
                }
            )
    return releases


def signed_part(found: Mapping[str, Any]) -> dict[str, Any]:
    """What a signature shows of a report in plain sight."""
    parts = ("software", "date", "auditor", "purpose", "governance", "verdict")
    return {part: found[part] for part in parts}
