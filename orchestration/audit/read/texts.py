"""The texts of a published folder, held against the contract and the manifest that they are made of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import polars as pl

from republish.orchestration.audit.read.material import Turn
from republish.orchestration.readers.datapackage.folder import WRITTEN, texts, texts_of_package
from republish.orchestration.readers.datapackage.package import data_package
from republish.orchestration.snapshots.labels import LABELS_STATED
from republish.orchestration.storage.manifest import DATA_PACKAGE, OLDER_ESTIMATE
from republish.orchestration.storage.store import SUMS

WORDS = {
    "title",
    "description",
    "licenses",
    "contributors",
    "citation",
    "unit",
    "constraints",
    "attributes",
    "terms",
}
"""Keys of a package whose content a contract declares, and a later revision of it may declare otherwise."""

ANOTHER_REVISION = (
    "the releases were made with another revision of the contract, which this audit does not"
    " have. It could not check these words, and takes them to be what that revision says."
)


@dataclass(frozen=True)
class Texts:
    """What a comparison of a release's texts came to."""

    differ: Mapping[str, bool] = field(default_factory=dict)
    """For each file of text that was compared, whether it says anything else than it should."""
    not_compared: str | None = None
    """Why some words were not compared with the contract; None if all were."""


def compare_texts(turn: Turn, tables: Mapping[str, pl.DataFrame]) -> Texts:
    """Make the texts of a release again and compare them with those that are published.

    With the very contract that the release was made under, they have to be the same bytes. With another
    revision of it, the words that a contract declares are believed, and everything else is compared.
    """
    release, file = turn.release, turn.material.file_of(turn.release)
    stated = release.manifest or {}
    if DATA_PACKAGE not in stated.get("files", {}):
        return Texts()
    if stated.get("software_version") != version("republish"):
        theirs = (SUMS, *WRITTEN, OLDER_ESTIMATE)
        return Texts(dict.fromkeys(theirs, False), "another version of republish wrote them.")
    types = {name: str(dtype) for table in tables.values() for name, dtype in table.schema.items()}
    try:
        # The labels of codes are those of the snapshot, which an audit does not have: they are believed.
        package = json.loads((release.path / DATA_PACKAGE).read_text(encoding="utf-8"))
        stated = {**stated, LABELS_STATED: package["republish"].get(LABELS_STATED, {})}
        expected = texts(file.contract, turn.format, stated, types)
        found = {name: (release.path / name).read_text(encoding="utf-8") for name in expected}
        if stated.get("contract_sha256") == file.sha256:
            return Texts({SUMS: False} | {name: found[name] != text for name, text in expected.items()})
        again = texts_of_package(package)
        differ = {name: found[name] != text for name, text in again.items()}
        own = data_package(file.contract, turn.format, stated, types)
        differ[DATA_PACKAGE] |= _without_words(package) != _without_words(own)
    except (KeyError, TypeError, ValueError, AttributeError, OSError):  # a forged manifest or package
        return Texts({SUMS: False, DATA_PACKAGE: True})
    return Texts({SUMS: False} | differ, ANOTHER_REVISION)


def _without_words(package: Any) -> Any:
    """A package without what a contract declares freely: what is left follows from columns and promise."""
    if isinstance(package, list):
        return [_without_words(part) for part in package]
    if not isinstance(package, dict):
        return package
    kept = {key: _without_words(part) for key, part in package.items() if key not in WORDS}
    declared = kept.get("sensitive")
    if isinstance(declared, dict):
        kept["sensitive"] = _without_values(declared)
    elif isinstance(declared, list):
        kept["sensitive"] = [_without_values(one) if isinstance(one, dict) else one for one in declared]
    return kept


def _without_values(declared: dict[str, Any]) -> dict[str, Any]:
    return {key: part for key, part in declared.items() if key != "values"}
