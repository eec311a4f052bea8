"""What catalogues are made of: what is published of a release already, and words of the contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from republish.anonymize.contract import Catalogue, Product
from republish.anonymize.errors import ContractError

NEEDED = {
    "title": "what the releases are called",
    "description": "what the table is",
    "contact": "an e-mail or web address",
    "governance.controller": "the publisher",
}
"""Keys that a record of any catalogue needs, and what they say."""
NEEDED_FOR_HEALTH = {
    "governance.legal_basis": "a law or a consent",
    "governance.purpose": "what the releases are for",
    "catalogue.health_themes": "addresses of topics",
    "catalogue.legislation": "addresses of laws",
}
"""Keys that HealthDCAT-AP needs as well, where `catalogue.health_categories` says that it applies."""


@dataclass(frozen=True)
class Entry:
    """A published release as catalogues see it. No table is read: a catalogue can't say more than these."""

    declared: Catalogue
    governance: Mapping[str, str]
    manifest: Mapping[str, Any]
    package: Mapping[str, Any]
    """The content of `datapackage.json`."""
    title: str
    description: str
    contact: str
    licence: str | None

    @property
    def release(self) -> str:
        """The release's date."""
        return str(self.manifest["release"])

    @property
    def address(self) -> str:
        """Where the release's folder is on the web."""
        return f"{self.declared.address}/{self.release}"

    @property
    def tables(self) -> dict[str, Mapping[str, Any]]:
        """Each file of a table, with what the manifest states of it."""
        return {name: one for name, one in self.manifest["files"].items() if name.endswith(".parquet")}

    @property
    def people(self) -> int | None:
        """How many people the release has, if it has a row for each."""
        if self.package["republish"].get("rows") == "several":
            return None
        return int(self.manifest["tuples"]) - int(self.manifest["counterfeits"])


def entry_of(contract: Product, where: str, manifest: Mapping[str, Any], package: Mapping[str, Any]) -> Entry:
    """The entry of a release.

    Parameters
    ----------
    where
        The contract's file, for errors.
    manifest, package
        The release's manifest and the content of its `datapackage.json`.
    """
    declared = declared_in(contract, where)
    assert contract.title
    assert contract.contact
    return Entry(
        declared=declared,
        governance=contract.governance.model_dump(exclude_none=True),
        manifest=manifest,
        package=package,
        title=contract.title,
        description=contract.description,
        contact=contract.contact,
        licence=contract.licence,
    )


def declared_in(contract: Product, where: str) -> Catalogue:
    """What the contract declares for catalogues; ContractError names each key that is missing."""
    declared = contract.catalogue
    if declared is None:
        keys = "write its keys address and access (public, restricted or non_public)"
        raise ContractError(where, [("catalogue", f"is missing, and a catalogue needs it: {keys}")])
    needed = dict(NEEDED)
    if declared.health_categories:
        needed |= NEEDED_FOR_HEALTH
        if declared.access == "non_public":
            needed["catalogue.access_body"] = "the health data access body"
    said: dict[str, Any] = contract.model_dump(include={"title", "description", "contact"})
    said |= {f"governance.{key}": text for key, text in contract.governance.model_dump().items()}
    said |= {f"catalogue.{key}": text for key, text in declared.model_dump().items()}
    missing = [key for key in needed if not said.get(key)]
    if missing:
        raise ContractError(
            where, [(key, f"is missing, and a catalogue needs it: {needed[key]}") for key in missing]
        )
    return declared
