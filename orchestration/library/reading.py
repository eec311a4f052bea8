"""Published folders, read by programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from republish.orchestration.storage.manifest import DATA_PACKAGE, releases_in, verify_tables
from republish.orchestration.storage.parts import scan_parts, tables_in
from republish.orchestration.storage.store import read_json
from republish.orchestration.unforeseen import named


@dataclass(frozen=True)
class Published:
    """What is in published folders."""

    tables: Mapping[str, pl.DataFrame]
    """The tables by name, those of all releases one below the other; `release` is their date."""
    manifests: Mapping[str, Mapping[str, Any]] = field(repr=False)
    """By date: what was promised, counts, digests."""
    package: Mapping[str, Any] = field(repr=False)
    """The data package of the last release: columns, types, domains, terms."""


def read(published: str | Path) -> Published:
    """Read a published release, or all of a series, when every file is what its manifest says.

    Raises PublishedFolderError if one is not, or there is none.
    """
    manifests, tables, package = {}, dict[str, list[pl.DataFrame]](), dict[str, Any]()
    for folder in releases_in(Path(published)):
        with named(folder):
            stated = verify_tables(folder)
            manifests[str(stated["release"])] = stated
            for name, files in tables_in(folder).items():
                tables.setdefault(name, []).append(scan_parts(files).collect())
            package = read_json(folder / DATA_PACKAGE) or {}
    return Published(
        {name: pl.concat(parts, how="diagonal_relaxed") for name, parts in tables.items()}, manifests, package
    )
