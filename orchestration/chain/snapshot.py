"""Take the snapshot of a release: read it, check it, keep it privately."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from anonymize.columns import IDENTIFIER, PSEUDONYM
from anonymize.errors import AlreadyPublished, SnapshotError
from anonymize.people.pseudonyms import pseudonyms
from orchestration.chain.arrival import missing_before, never_comes
from orchestration.chain.audit import refuse_broken
from orchestration.expectations import Verdict, judge
from orchestration.series.series import Series
from orchestration.snapshots.sources import read_snapshot, snapshot_faults
from orchestration.storage.store import read_json, write_csv, write_json, write_table

FAULTS = "faults.csv"
"""In a release's private folder: which rows of a snapshot were at fault when it was last refused."""


@dataclass(frozen=True)
class Snapshot:
    """A snapshot as it was taken."""

    people: int
    """Rows, one per person."""
    verdict: Verdict
    """What the suite `snapshot` found."""


def take_snapshot(series: Series, release: str) -> Snapshot:
    """Read the source, check it against the contract and keep it, one row per person by pseudonym.

    It is kept under our own column names: `identifier`, `qi_0`, …, `value`, `pseudonym`. The snapshot of a
    published release is compared with the one it was published from.

    Raises
    ------
    SnapshotError
        If the snapshot is missing, unreadable or not what the contract promises.
    AuditFailed
        If Great Expectations finds what reading it did not, or gave no verdict.
    AlreadyPublished
        If the release is published and the source now says something else.
    """
    with series.locked_for(release) as folder:
        people = _read(series, release, folder)
        by_pseudonym = keyed(people, series.pseudonym_key)
        kept = {
            "people": people.height,
            "columns": series.contract.column_names(),
            "sha256": content_digest(by_pseudonym),
        }
        # Asked last: until then Great Expectations may still be on its way in.
        faults = snapshot_faults(people, series.contract)
        verdict = judge({"snapshot": faults}, {})[0].with_words(_in_words(people, faults), faults)
        refuse_broken(f"{series.name} {release}", [verdict])
        if series.is_published(release):
            _refuse_other_content(series, release, kept)
        elif read_json(folder / "snapshot.json") != kept or not (folder / "snapshot.parquet").exists():
            (folder / "snapshot.json").unlink(missing_ok=True)
            write_table(folder / "snapshot.parquet", by_pseudonym)
            write_json(folder / "snapshot.json", kept)
        return Snapshot(people=people.height, verdict=verdict)


def _in_words(people: pl.DataFrame, faults: pl.DataFrame) -> str:
    """What was found in a snapshot, by kind of fault."""
    kinds = [name for name, dtype in faults.schema.items() if dtype.is_integer() and name != "rows"]
    counts = {name: faults[name].sum() for name in kinds}
    found = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items())
    return f"{people.height:,} people in {faults.height} columns: {found}."


def _read(series: Series, release: str, folder: Path) -> pl.DataFrame:
    """The snapshot; if rows of it are at fault, these are listed in a private file that the error names."""
    listed = folder / FAULTS
    try:
        people = read_snapshot(series.file, release)
    except SnapshotError as error:
        if error.rows is not None:
            write_csv(listed, error.rows)
            between = "\n  " if "\n" in str(error) else "; "
            raise SnapshotError(f"{error}{between}{listed} lists the rows") from None
        listed.unlink(missing_ok=True)
        if later := missing_before(series, release):
            raise SnapshotError(f"{error}. {never_comes(later)}") from None
        raise
    listed.unlink(missing_ok=True)
    return people


def keyed(people: pl.DataFrame, key: bytes) -> pl.DataFrame:
    """A snapshot with everybody's pseudonym under a key, in the order of pseudonyms."""
    return people.with_columns(pseudonyms(people[IDENTIFIER], key).alias(PSEUDONYM)).sort(PSEUDONYM)


def content_digest(people: pl.DataFrame) -> str:
    """SHA-256 (hex) of a snapshot's content; other software, or other Parquet settings, don't change it."""
    text = people.with_columns(pl.col(pl.Binary).bin.encode("hex")).write_csv()
    return hashlib.sha256(text.encode()).hexdigest()


def _refuse_other_content(series: Series, release: str, now: dict) -> None:
    kept = read_json(series.private(release) / "snapshot.json")
    if kept is not None and kept != now:
        raise AlreadyPublished(
            f"{series.name} {release} is published from a snapshot of {kept['people']} people; the source now"
            " has another one. A published release can't be made again: correct the next one, or begin a"
            " new series"
        )
