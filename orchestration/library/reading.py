"""Published folders, read and attacked by programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from republish.anonymize.errors import PublishedFolderError
from republish.orchestration.audit import SECONDS
from republish.orchestration.audit.findings import Findings
from republish.orchestration.audit.read.folders import Reading, find_series
from republish.orchestration.audit.read.material import Material
from republish.orchestration.audit.run import attack
from republish.orchestration.library.contract import Contract
from republish.orchestration.library.frames import as_frame
from republish.orchestration.snapshots.previous import read_previous
from republish.orchestration.storage.manifest import DATA_PACKAGE, releases_in, verify_tables
from republish.orchestration.storage.parts import scan_parts, tables_in
from republish.orchestration.storage.scratch import scratch_folder
from republish.orchestration.storage.store import read_json, write_table
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


def audit(
    published: str | Path | Sequence[str | Path],
    truth: str | Path | Mapping[str, pl.DataFrame],
    contract: Contract,
    *,
    private: str | Path | None = None,
    seconds: float = SECONDS,
) -> Findings:
    """Attack published folders with everything that an adversary may know of them.

    Parameters
    ----------
    published
        Releases or series.
    truth
        The true tables: a folder with `<release>.parquet` or `<release>.csv`, or frames by release, which
        are written into a temporary folder for this user alone while it runs.
    contract
        What the columns are, and what is asked for.
    private
        Folder in which the releases' `linkage.parquet` are found.
    seconds
        Time for the equivalence attack on each series.

    Returns
    -------
    Findings
        `promises()` has a row for each promise and series, `keeps_contract` is whether all hold, and
        `not_covered` what was not looked at.

    Raises
    ------
    ContractError, SnapshotError, PublishedFolderError
        If something can't be read, or is not what it says it is.
    """
    folders = [Path(published)] if isinstance(published, str | Path) else [Path(one) for one in published]
    if not folders:
        raise PublishedFolderError("published: names no folder")
    with scratch_folder() if isinstance(truth, Mapping) else nullcontext(Path(truth)) as place:
        if isinstance(truth, Mapping):
            for release, people in truth.items():
                write_table(place / f"{release}.parquet", as_frame(people, f"truth, {release}"))
        for folder in (place, *([Path(private)] if private is not None else [])):
            if not folder.is_dir():
                raise PublishedFolderError(f"{folder}: is no folder")
        with named(folders[0]):
            material = Material(
                contract.file,
                find_series(folders, None),
                place,
                None if private is None else Path(private),
                None,
                Reading(),
                read_previous(contract.file),
            )
            *_, found = attack(material, seconds)
    assert isinstance(found, Findings), "the attack ends with its findings"
    return found
