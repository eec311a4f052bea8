"""Take the snapshot of a release: read it, check it, keep it privately."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from anonymize.columns import IDENTIFIER, PSEUDONYM
from anonymize.errors import AlreadyPublished, SnapshotError
from anonymize.people.pseudonyms import pseudonyms
from orchestration.chain.arrival import missing_before, never_comes
from orchestration.chain.audit import refuse_broken
from orchestration.expectations import Verdict, judge
from orchestration.series.persons import without_forgotten
from orchestration.series.series import Series
from orchestration.snapshots.sources import read_snapshot, snapshot_faults
from orchestration.steps import say_step
from orchestration.storage.store import read_json, read_table, write_csv, write_json, write_table

FAULTS = "faults.csv"
"""In a release's private folder: which rows of a snapshot were at fault when it was last refused."""
KEPT, PEOPLE = "snapshot.json", "snapshot.parquet"
"""There, too: what is said of the snapshot that was taken, and the snapshot itself."""


@dataclass(frozen=True)
class Snapshot:
    """A snapshot under our own column names, in the order of pseudonyms."""

    table: pl.DataFrame
    """`identifier`, `qi_0`, …, `value`, `pseudonym`."""
    columns: Mapping[str, str]
    """The publisher's names by ours."""


@dataclass(frozen=True)
class Taken:
    """A snapshot that is what the contract promises."""

    snapshot: Snapshot
    verdict: Verdict
    """What the suite `snapshot` found."""

    @property
    def people(self) -> int:
        """Rows, one per person."""
        return self.snapshot.table.height


def take_snapshot(series: Series, release: str) -> Taken:
    """Read the source, check it against the contract and keep it, one row per person by pseudonym.

    The snapshot of a published release is compared with the one it was published from.

    Raises
    ------
    SnapshotError, AuditFailed
        As `look_at_snapshot` does; rows at fault are listed in a private file that the error names.
    AlreadyPublished
        If the release is published and the source now says something else.
    """
    with series.locked_for(release) as folder:
        listed = folder / FAULTS
        listed.unlink(missing_ok=True)
        try:
            taken = look_at_snapshot(series, release)
        except SnapshotError as error:
            if error.rows is None:
                raise
            write_csv(listed, error.rows)
            between = "\n  " if "\n" in str(error) else "; "
            raise SnapshotError(f"{error}{between}{listed} lists the rows") from None
        snapshot = taken.snapshot
        kept = {
            "people": taken.people,
            "columns": dict(snapshot.columns),
            "sha256": content_digest(snapshot.table),
        }
        if series.is_published(release):
            _refuse_other_content(series, release, kept)
        elif read_json(folder / KEPT) != kept or not (folder / PEOPLE).exists():
            (folder / KEPT).unlink(missing_ok=True)
            write_table(folder / PEOPLE, snapshot.table)
            write_json(folder / KEPT, kept)
        return taken


def look_at_snapshot(series: Series, release: str) -> Taken:
    """Read the source and check it against the contract.

    Raises
    ------
    SnapshotError
        If the snapshot is missing, unreadable or not what the contract promises.
    AuditFailed
        If Great Expectations finds what reading it did not, or gave no verdict.
    """
    say_step("reading its snapshot")
    try:
        people = read_snapshot(series.file, release)
    except SnapshotError as error:
        if error.rows is None and (later := missing_before(series, release)):
            raise SnapshotError(f"{error}. {never_comes(later)}") from None
        raise
    kept = without_forgotten(series.home, series.contract.product, people, release)
    snapshot = Snapshot(keyed(kept, series.pseudonym_key), series.contract.column_names())
    # Asked last: until then Great Expectations may still be on its way in.
    faults = snapshot_faults(people, series.contract)
    words = _in_words(people, faults, people.height - kept.height)
    verdict = judge({"snapshot": faults}, {})[0].with_words(words, faults)
    refuse_broken(f"{series.name} {release}", [verdict])
    return Taken(snapshot, verdict)


def kept_snapshot(folder: Path) -> Snapshot | None:
    """The snapshot in a release's private folder, or None if it is not kept."""
    if not (folder / PEOPLE).exists():
        return None
    kept = read_json(folder / KEPT) or {}
    return Snapshot(read_table(folder / PEOPLE), kept.get("columns", {}))


def _in_words(people: pl.DataFrame, faults: pl.DataFrame, forgotten: int) -> str:
    """What was found in a snapshot, by kind of fault, and how many of the people were forgotten."""
    kinds = [name for name, dtype in faults.schema.items() if dtype.is_integer() and name != "rows"]
    counts = {name: faults[name].sum() for name in kinds}
    found = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items())
    left_out = f" {forgotten:,} of them were forgotten, and are left out." if forgotten else ""
    return f"{people.height:,} people in {faults.height} columns: {found}.{left_out}"


def keyed(people: pl.DataFrame, key: bytes) -> pl.DataFrame:
    """A snapshot with everybody's pseudonym under a key, in the order of pseudonyms."""
    return people.with_columns(pseudonyms(people[IDENTIFIER], key).alias(PSEUDONYM)).sort(PSEUDONYM)


def content_digest(people: pl.DataFrame) -> str:
    """SHA-256 (hex) of a snapshot's content; other software, or other Parquet settings, don't change it."""
    text = people.with_columns(pl.col(pl.Binary).bin.encode("hex")).write_csv()
    return hashlib.sha256(text.encode()).hexdigest()


def _refuse_other_content(series: Series, release: str, now: Mapping[str, Any]) -> None:
    kept = read_json(series.private(release) / KEPT)
    if kept is not None and kept != now:
        raise AlreadyPublished(
            f"{series.name} {release} is published from a snapshot of {kept['people']} people; the source now"
            " has another one. A published release can't be made again: correct the next one, or begin a"
            " new series"
        )
