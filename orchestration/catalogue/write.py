"""The catalogues of a series' published releases, as files."""

from __future__ import annotations

from pathlib import Path

from republish.anonymize.errors import ContractError, HomeError
from republish.orchestration.catalogue.croissant import croissant
from republish.orchestration.catalogue.dcat import dcat
from republish.orchestration.catalogue.ddi import ddi
from republish.orchestration.catalogue.entry import entry_of
from republish.orchestration.series.series import Series
from republish.orchestration.storage.manifest import DATA_PACKAGE, MANIFEST
from republish.orchestration.storage.store import json_text, read_json, write_text


def write_catalogues(series: Series, folder: Path) -> list[Path]:
    """Write `dcat.jsonld` of all releases, and `ddi.xml` and `croissant.json` of each; return the paths.

    A release without a data package, which an older version published, is in none.

    Raises
    ------
    ContractError
        If the contract declares no catalogue.
    HomeError
        If nothing is published yet.
    """
    contract = series.contract
    if contract.catalogue is None:
        keys = "write its keys address and access (public, restricted or non_public)"
        why = f"is missing, and a catalogue needs it: {keys}"
        raise ContractError(str(series.file.path), [("catalogue", why)])
    entries = []
    for release in series.releases:
        published = series.published(release)
        manifest, package = read_json(published / MANIFEST), read_json(published / DATA_PACKAGE)
        if manifest is not None and package is not None:
            entries.append(entry_of(contract, manifest, package))
    if not entries:
        raise HomeError(f"{series.name}: nothing is published yet. Run republish release first")
    texts = {folder / "dcat.jsonld": json_text(dcat(entries))}
    for entry in entries:
        texts[folder / entry.release / "ddi.xml"] = ddi(entry)
        texts[folder / entry.release / "croissant.json"] = json_text(croissant(entry))
    for path, text in texts.items():
        write_text(path, text)
    return list(texts)
