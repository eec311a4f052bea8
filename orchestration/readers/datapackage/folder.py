"""The texts of a published folder, all of them made of the contract and of what the manifest states."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from republish.anonymize.contract import Product
from republish.anonymize.formats import Format
from republish.orchestration.readers.datapackage.package import data_package
from republish.orchestration.readers.datapackage.readme import README, readme
from republish.orchestration.storage.manifest import DATA_PACKAGE, MANIFEST
from republish.orchestration.storage.store import SUMS, json_text

WRITTEN = (DATA_PACKAGE, README)
"""The texts that are made of contract and manifest."""
DOCUMENTS = {
    MANIFEST: "What was promised, counts, and the SHA-256 of every file and of the release before.",
    SUMS: "The SHA-256 of every file, for `sha256sum -c`.",
}
"""Files of every folder beside its tables, for the README."""


def texts(
    contract: Product, release_format: Format, stated: Mapping[str, Any], types: Mapping[str, str]
) -> dict[str, str]:
    """The texts of a published folder by the names of their files."""
    return texts_of_package(data_package(contract, release_format, stated, types))


def column_types(tables: Mapping[str, Path]) -> dict[str, str]:
    """The type (`Int64`, `String`) of each column of some Parquet files, by its name.

    Files have the names that they are published under; those that are no tables are passed over.
    """
    schemas = (
        pl.scan_parquet(file, glob=False, hive_partitioning=False).collect_schema()
        for name, file in tables.items()
        if name.endswith(".parquet")
    )
    return {column: str(dtype) for schema in schemas for column, dtype in schema.items()}


def texts_of_package(package: Mapping[str, Any]) -> dict[str, str]:
    """The texts that are made of a package."""
    documents = {
        DATA_PACKAGE: "All of this for programs: columns, types, domains, terms.",
        **DOCUMENTS,
    }
    return {
        DATA_PACKAGE: json_text(package),
        README: readme(package, documents),
    }
