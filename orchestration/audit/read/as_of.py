"""The contract as a release was made under it: its columns may have changed since.

Which changes there may be within a series, the chain says (`contract.changes`). What a release has in its own
columns is stated in its data package, which is all that an auditor needs beside the contract of today.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from republish.anonymize.contract import CategoryAttribute, Contract, Product, QuasiIdentifier, Sensitive
from republish.anonymize.errors import PublishedFolderError
from republish.orchestration.audit.read.folders import ReleaseFiles
from republish.orchestration.contracts.contract_file import ContractFile
from republish.orchestration.readers.datapackage.words import CELLS
from republish.orchestration.storage.manifest import DATA_PACKAGE
from republish.orchestration.storage.store import read_json

ATTRIBUTE: TypeAdapter[QuasiIdentifier] = TypeAdapter(QuasiIdentifier)


def as_of(file: ContractFile, release: ReleaseFiles) -> ContractFile:
    """The contract with the columns of a release, as its data package states them.

    It is the contract itself if the release was made under it, was not made by republish, or is a view: those
    of a series have the same columns. What is promised, and what else the contract says, is that of the
    contract. Where intervals of a category end, the release says: a series that versions below 0.30 began
    goes on with ends on the grid under any contract.

    Raises
    ------
    PublishedFolderError
        If the data package states columns that no contract can have, or of a view, others than the contract.
    """
    stated = release.manifest or {}
    contract, place = file.contract, release.path / DATA_PACKAGE
    is_of_this = stated.get("contract_sha256") == file.sha256
    has_cells = any(getattr(one, "cells", None) for _, one in contract.attributes())
    if (is_of_this and not has_cells) or DATA_PACKAGE not in stated.get("files", {}):
        return file
    try:
        own = (read_json(place) or {})["republish"]
        if is_of_this and isinstance(contract, Contract):
            return _with_columns(file, _ending(contract.quasi_identifiers, own["attributes"]))
        if not isinstance(contract, Contract):
            _refuse_other_columns(place, [(one["name"], one["kind"]) for one in own["attributes"]], contract)
            return file
        today = {one.name: getattr(one, "renamed", {}) for one in contract.quasi_identifiers}
        columns = tuple(_attribute(told, today.get(told["name"], {})) for told in own["attributes"])
        sensitive = _sensitive(contract.sensitive, own["sensitive"])
    except (KeyError, TypeError, AttributeError, ValueError):
        raise PublishedFolderError(
            f"{place}: does not state the columns of the release as a contract would: it was changed, and the"
            " audit can't tell what the tables say"
        ) from None
    return _with_columns(file, columns, sensitive=sensitive)


def _with_columns(file: ContractFile, columns: Sequence[QuasiIdentifier], **further: Any) -> ContractFile:
    """A contract with other quasi-identifiers."""
    now = {"quasi_identifiers": tuple(columns), **further}
    return replace(file, contract=file.contract.model_copy(update=now))


def _ending(
    declared: Sequence[QuasiIdentifier], attributes: Sequence[Mapping[str, Any]]
) -> list[QuasiIdentifier]:
    """Quasi-identifiers with intervals that end where a data package says, in the order declared.

    Raises ValueError if it states cells of a hierarchy that has others.
    """
    told = {one["name"]: one for one in attributes}
    return [_ends_as_told(one, told[one.name]) for one in declared]


def _ends_as_told(declared: QuasiIdentifier, told: Mapping[str, Any]) -> QuasiIdentifier:
    if not isinstance(declared, CategoryAttribute) or declared.cells is None:
        return declared
    if told.get("ends") != CELLS:
        return declared.on_grid()
    if told[CELLS] != [declared.labels[first] for first in declared.cells]:
        raise ValueError(declared.name)
    return declared


def _refuse_other_columns(place: Path, columns: Sequence[tuple[str, str]], contract: Product) -> None:
    """Raise PublishedFolderError if a view has other columns than its contract, or in another order."""
    declared = [(column.name, column.kind) for _, column in contract.attributes()]
    if columns != declared:
        there, asked = (", ".join(f"{name} ({kind})" for name, kind in one) for one in (columns, declared))
        raise PublishedFolderError(
            f"{place}: the view has the columns {there}, and the contract declares {asked}. Views of a series"
            " have the same columns: give the contract of this one"
        )


def _attribute(told: Mapping[str, Any], renamed: Mapping[str, str]) -> QuasiIdentifier:
    """A quasi-identifier as a data package states it; `renamed` is what the source calls its labels."""
    parts = {"name", "kind", "domain", "hierarchy", "min_width", "step", "missing", "unit", "description"}
    declared = {key: part for key, part in told.items() if key in parts}
    if "hierarchy" not in told and "labels" in told:
        declared["order"] = told["labels"]
    found = _ends_as_told(ATTRIBUTE.validate_python(declared), told)
    known = {own: now for own, now in renamed.items() if own in getattr(found, "in_source", ())}
    return found.model_copy(update={"renamed": known}) if known else found


def _sensitive(sensitive: Sensitive, told: Any) -> Sensitive:
    """The sensitive columns with the values that a data package lists, and its rule for missing ones."""
    told = told if isinstance(told, list) else [told]
    columns = [_with_values(one, its) for one, its in zip(sensitive.columns, told, strict=True)]
    return sensitive.with_columns(columns)


def _with_values(sensitive: Sensitive, told: Mapping[str, Any]) -> Sensitive:
    if told["name"] != sensitive.name:
        raise KeyError(sensitive.name)
    values = told.get("values")
    now = {"values": None if values is None else tuple(values), "missing": told.get("missing", "refuse")}
    # What is stated of other values that may be known, bins and levels begins a new series.
    renamed = {own: name for own, name in sensitive.renamed.items() if values is None or own in values}
    return Sensitive.model_validate(sensitive.model_dump() | now | {"renamed": renamed})
