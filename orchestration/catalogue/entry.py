"""What catalogues are made of: what is published of a release already, and words of the contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from republish.anonymize.contract import Catalogue, Product
from republish.orchestration.storage.parts import table_of


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

    def described(self, file: str) -> str:
        """What is in the table that a file is, or is a part of."""
        tables = {one["name"]: one["description"] for one in self.package["resources"] if "schema" in one}
        return str(tables[table_of(file)])

    @property
    def people(self) -> int | None:
        """How many people the release has, if it has a row for each."""
        if self.package["republish"].get("rows") == "several":
            return None
        return int(self.manifest["tuples"]) - int(self.manifest["counterfeits"])


def entry_of(contract: Product, manifest: Mapping[str, Any], package: Mapping[str, Any]) -> Entry:
    """The entry of a release, from its manifest and `datapackage.json`; the contract declares a catalogue."""
    assert contract.catalogue
    assert contract.title
    assert contract.contact
    return Entry(
        declared=contract.catalogue,
        governance=contract.governance.model_dump(exclude_none=True),
        manifest=manifest,
        package=package,
        title=contract.title,
        description=contract.description,
        contact=contract.contact,
        licence=contract.licence,
    )
