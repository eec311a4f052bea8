"""The catalogues of a series' published releases, as files."""

from __future__ import annotations

from pathlib import Path

from republish.anonymize.errors import HomeError, PublishedFolderError
from republish.orchestration.catalogue.croissant import croissant
from republish.orchestration.catalogue.dcat import dcat
from republish.orchestration.catalogue.ddi import ddi
from republish.orchestration.catalogue.entry import declared_in, entry_of
from republish.orchestration.series.other_series import published_releases
from republish.orchestration.series.series import Series
from republish.orchestration.storage.manifest import DATA_PACKAGE
from republish.orchestration.storage.store import json_text, read_json, write_text


def write_catalogues(series: Series, folder: Path) -> list[Path]:
    """Write `dcat.jsonld` of all releases, and `ddi.xml` and `croissant.json` of each; return the paths.

    Raises
    ------
    ContractError
        If the contract lacks what a catalogue needs.
    HomeError
        If nothing is published yet.
    PublishedFolderError
        If a published release is not as it was published.
    """
    contract, where = series.contract, str(series.file.path)
    declared_in(contract, where)
    releases = published_releases(series.home, contract.product, contract.series)
    if not releases:
        raise HomeError(f"{series.name}: nothing is published yet. Run republish release first")
    entries = []
    for release in releases:
        manifest = series.verify(release)
        package = read_json(series.published(release) / DATA_PACKAGE)
        if package is None:
            raise PublishedFolderError(
                f"{series.name} {release}: it has no {DATA_PACKAGE}, which catalogues are made of. An older"
                " version published it: begin another series to have it in a catalogue"
            )
        entries.append(entry_of(contract, where, manifest, package))
    texts = {folder / "dcat.jsonld": json_text(dcat(entries))}
    for entry in entries:
        texts[folder / entry.release / "ddi.xml"] = ddi(entry)
        texts[folder / entry.release / "croissant.json"] = json_text(croissant(entry))
    for path, text in texts.items():
        write_text(path, text)
    return list(texts)
