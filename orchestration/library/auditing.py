"""Published folders, attacked by programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

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
from republish.orchestration.storage.scratch import scratch_folder
from republish.orchestration.storage.store import write_table
from republish.orchestration.unforeseen import named


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
