"""Take the snapshot of a release: read it, check it, keep it privately."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import polars as pl

from republish.anonymize.columns import IDENTIFIER, PSEUDONYM
from republish.anonymize.contract import Product
from republish.anonymize.contract.combined import combine
from republish.anonymize.errors import AlreadyPublished, SnapshotError
from republish.anonymize.people.rows import counted_in, keyed, with_persons
from republish.orchestration.chain.arrival import missing_before, never_comes
from republish.orchestration.chain.audit import refuse_broken
from republish.orchestration.chain.division import Divided, divide
from republish.orchestration.engine import the_engine
from republish.orchestration.expectations import Verdict, judge
from republish.orchestration.series.lock import locked_for
from republish.orchestration.series.persons import without_forgotten
from republish.orchestration.series.series import Series
from republish.orchestration.series.shards import ShardJob, jobs_of, shards_of
from republish.orchestration.snapshots.missing import (
    counted_by_column,
    counted_of_all,
    in_words,
    settle_missing,
)
from republish.orchestration.snapshots.sources import (
    Source,
    ValidationResult,
    look_at,
    read_snapshot,
    refuse_faults,
    source_of,
)
from republish.orchestration.snapshots.validation import counted_together, snapshot_faults
from republish.orchestration.steps import say_step
from republish.orchestration.storage.home import private_folder, sync
from republish.orchestration.storage.store import (
    PARTIAL,
    read_json,
    read_table,
    write_csv,
    write_json,
    write_table,
    write_working_table,
)

FAULTS = "faults.csv"
"""In a release's private folder: which rows of a snapshot were at fault when it was last refused."""
KEPT, PEOPLE = "snapshot.json", "snapshot.parquet"
"""There, too: what is said of the snapshot that was taken, and the snapshot itself. Where people are divided,
each shard's folder has both, and that of the release the first."""
LEFT_OUT = "left_out.parquet"
"""There, too, if anybody is left out: `identifier`, `pseudonym`, and the `column` without their value."""
LEFT_OUT_STATED = "left_out"
"""In what is said of a snapshot, and in a manifest, if anybody is left out: how many people, by column."""
FORGOTTEN_STATED = "forgotten"
"""In what is said of a snapshot, if anybody was forgotten and is left out of it: how many people."""
DIVISION = f".division{PARTIAL}"
"""There, while a snapshot is divided: nothing in it counts."""


@dataclass(frozen=True)
class Snapshot:
    """A snapshot, or one shard of it, under our own column names, in the order of pseudonyms."""

    table: pl.DataFrame
    """`identifier`, `qi_0`, …, `value`, `pseudonym`; where people have several rows, `row_name`."""
    columns: Mapping[str, str]
    """The publisher's names by ours."""
    left_out: pl.DataFrame | None = None
    """`identifier`, `pseudonym`, `column` of people who are left out for want of a value."""

    @classmethod
    def of(cls, people: pl.DataFrame, contract: Product, key: bytes) -> Self:
        """The snapshot of people as they are read, with pseudonyms under a key."""
        settled = settle_missing(people, contract)
        table = keyed(combine(settled.people, contract), contract, key)
        return cls(table, contract.column_names(), with_persons(settled.left_out, key))

    @cached_property
    def stated(self) -> dict[str, Any]:
        """The content of the file beside it."""
        stated = {
            "people": self.table.height,
            "columns": dict(self.columns),
            "sha256": content_digest(self.table),
        }
        if self.left_out is None or self.left_out.is_empty():
            return stated
        counted = counted_by_column(self.left_out)
        return {**stated, LEFT_OUT_STATED: counted, "left_out_sha256": content_digest(self.left_out)}

    def keep(self, folder: Path) -> None:
        """Write it into a folder."""
        (folder / KEPT).unlink(missing_ok=True)
        write_working_table(folder / PEOPLE, self.table)
        if LEFT_OUT_STATED in self.stated and self.left_out is not None:
            write_table(folder / LEFT_OUT, self.left_out)
        write_json(folder / KEPT, self.stated)


@dataclass(frozen=True)
class Taken:
    """A snapshot that is what the contract promises."""

    folder: Path
    """Where each shard's is, in the shard's folder."""
    stated: Mapping[str, Any]
    """The content of the file beside it; with the version, if it is of a table that keeps versions."""
    verdict: Verdict
    """The verdict of the suite `snapshot`."""

    @property
    def people(self) -> int:
        """Rows: one per person, unless they may have several."""
        return int(self.stated["people"])


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
    with locked_for(series, release) as folder, _for_a_while(folder / DIVISION) as division:
        listed = folder / FAULTS
        listed.unlink(missing_ok=True)
        try:
            taken = look_at_snapshot(series, release, division)
        except SnapshotError as error:
            if error.rows is None or series.home.is_rehearsal:
                raise
            write_csv(listed, error.rows)
            between = "\n  " if "\n" in str(error) else "; "
            says = f"{listed} lists the rows (1 is the first one, below a header)"
            raise SnapshotError(f"{error}{between}{says}") from None
        if series.is_published(release):
            _refuse_other_content(series, release, taken.stated)
        elif not _is_kept(series, folder, taken.stated):
            _keep(series, folder, taken)
        return taken


def _is_kept(series: Series, folder: Path, stated: Mapping[str, Any]) -> bool:
    files = (shard.within(folder) / PEOPLE for shard in shards_of(series))
    return read_json(folder / KEPT) == stated and all(file.exists() for file in files)


def _keep(series: Series, folder: Path, taken: Taken) -> None:
    """Put what was taken where it is kept; the folder states it last."""
    (folder / KEPT).unlink(missing_ok=True)
    for shard in shards_of(series):
        own = private_folder(shard.within(folder))
        (own / KEPT).unlink(missing_ok=True)
        (own / LEFT_OUT).unlink(missing_ok=True)
        for name in (PEOPLE, LEFT_OUT, KEPT):
            if (new := shard.within(taken.folder) / name).exists():
                new.rename(own / name)
        sync(own)
    write_json(folder / KEPT, taken.stated)


@contextmanager
def _for_a_while(folder: Path) -> Iterator[Path]:
    """A folder that is gone afterwards, whatever happens."""
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def look_at_snapshot(series: Series, release: str, division: Path) -> Taken:
    """Read the source and check it against the contract.

    What is read is written into the folder `division`, each shard in its own.

    Raises
    ------
    SnapshotError
        If the snapshot is missing, unreadable or not what the contract promises.
    AuditFailed
        If Great Expectations finds what reading it did not, or gave no verdict.
    """
    say_step("reading its snapshot")
    try:
        source = _source_of(series, release)
        with source.unchanged():
            return _taken(series, source, division)
    except SnapshotError as error:
        if error.rows is None and (later := missing_before(series, release)):
            raise SnapshotError(f"{error}. {never_comes(series, release, later)}") from None
        raise


def _taken(series: Series, source: Source, division: Path) -> Taken:
    """What the source has now, and what Great Expectations says of it."""
    found = _look_at_shards(series, source, division)
    # Asked last: until then Great Expectations may still be on its way in.
    faults = counted_together([one.counted for one in found])
    stated = stated_of_all([one.stated for one in found]) | source.stated()
    if forgotten := sum(one.forgotten for one in found):
        stated[FORGOTTEN_STATED] = forgotten
    words = _in_words(
        faults,
        forgotten,
        stated.get(LEFT_OUT_STATED, {}),
        counted_in(series.contract),
    )
    verdict = judge({"snapshot": faults}, {})[0].with_words(words, faults)
    refuse_broken(f"{series.name} {source.release}", [verdict])
    return Taken(division, stated, verdict)


def digest_of_source(series: Series, release: str, division: Path) -> str:
    """The digest that is kept of a snapshot, of what the source has now; arguments as `look_at_snapshot`.

    Raises SnapshotError if the snapshot is missing, unreadable or not what the contract promises.
    """
    source = _source_of(series, release)
    with source.unchanged():
        found = _look_at_shards(series, source, division)
    return str(stated_of_all([one.stated for one in found])["sha256"])


def _source_of(series: Series, release: str) -> Source:
    """The source of a release's snapshot: of a table, the version that it was made from before."""
    source = source_of(series.file, release, is_published=series.is_published(release))
    return source.as_noted(read_json(series.private(release) / KEPT) or {})


class _Found(NamedTuple):
    """The outcome of looking at a shard without faults."""

    stated: Mapping[str, Any]
    counted: pl.DataFrame
    """Counts of `snapshot_faults` for the people as they are read, once more."""
    forgotten: int


def _look_at_shards(series: Series, source: Source, division: Path) -> list[_Found]:
    """Look at each shard, and keep it for a while. Raises SnapshotError if one of them has faults."""
    jobs = jobs_of(series, source.release, division)
    if len(jobs) == 1:
        return [_found(jobs[0], read_snapshot(source))]
    divided = divide(series, source, division / "source")
    say_step("checking its snapshot")
    seen = list(the_engine().run(partial(look_at_shard, divided), jobs, max(divided.rows)))
    faulty = next((job for job, (_, one) in zip(jobs, seen, strict=True) if one is None), jobs[0])
    sample = divided.source_of(faulty.shard)
    likely = source.likely_names(divided.present)
    refuse_faults(source.where, [look for look, _ in seen], sample, series.contract, divided.present, likely)
    shutil.rmtree(divided.folder)
    return [one for _, one in seen if one is not None]


def look_at_shard(divided: Divided, job: ShardJob) -> tuple[ValidationResult, _Found | None]:
    """Look for faults in a shard; if there are none, keep it for a while."""
    seen = look_at(divided.source_of(job.shard), job.shard.contract)
    found = _found(job, seen.people) if seen.people.width else None
    return replace(seen, people=pl.DataFrame()), found


def _found(job: ShardJob, people: pl.DataFrame) -> _Found:
    series, contract = job.shard.series, job.shard.contract
    left = without_forgotten(series, people, job.release)
    snapshot = Snapshot.of(left, contract, series.pseudonym_key)
    snapshot.keep(job.own)
    return _Found(snapshot.stated, snapshot_faults(people, contract), people.height - left.height)


def stated_of_all(shards: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Put together the statements on all shards of a snapshot."""
    stated = {
        **shards[0],
        "people": sum(one["people"] for one in shards),
        "sha256": _digest_of_all([one["sha256"] for one in shards]),
    }
    if any(LEFT_OUT_STATED in one for one in shards):
        stated[LEFT_OUT_STATED] = counted_of_all(one.get(LEFT_OUT_STATED, {}) for one in shards)
        stated["left_out_sha256"] = _digest_of_all([one.get("left_out_sha256", "") for one in shards])
    return stated


def _digest_of_all(digests: Sequence[str]) -> str:
    """The digest of a shard alone, or one for those of several."""
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()


def first_shard(series: Series, folder: Path) -> pl.DataFrame:
    """Everybody where people are not divided; else as many as are in the first shard, drawn by lot."""
    return read_table(shards_of(series)[0].within(folder) / PEOPLE)


def identifiers_in(folder: Path) -> pl.Series:
    """The identifiers of the snapshot in the folder of a shard."""
    return read_table(folder / PEOPLE, [IDENTIFIER])[IDENTIFIER]


def everybody_in(folder: Path) -> pl.DataFrame:
    """`identifier`, `pseudonym` of all whom a shard's snapshot had, those who are left out included."""
    files = (file for name in (PEOPLE, LEFT_OUT) if (file := folder / name).exists())
    return pl.concat(read_table(file, [IDENTIFIER, PSEUDONYM]) for file in files)


def most_people(series: Series, folder: Path) -> int:
    """The people of the largest shard of a release, by its folder; 0 where no snapshot is kept there."""
    stated = (read_json(shard.within(folder) / KEPT) or {} for shard in shards_of(series))
    return max(int(one.get("people", 0)) for one in stated)


def kept_snapshot(folder: Path) -> Snapshot | None:
    """The snapshot in a release's private folder, or in a shard's; None if it is not kept."""
    if not (folder / PEOPLE).exists():
        return None
    kept = read_json(folder / KEPT) or {}
    return Snapshot(read_table(folder / PEOPLE), kept.get("columns", {}))


def _in_words(faults: pl.DataFrame, forgotten: int, without: Mapping[str, int], counted: str) -> str:
    """Describe the faults of a snapshot by kind, and how many of its people are not in the release."""
    kinds = [name for name, dtype in faults.schema.items() if dtype.is_integer() and name != "rows"]
    counts = {name: faults[name].sum() for name in kinds}
    found = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items())
    left_out = f" {forgotten:,} of them were forgotten, and are left out." if forgotten else ""
    left_out += f" {in_words(without, counted)}." if without else ""
    return f"{faults['rows'][0]:,} {counted} in {faults.height} columns: {found}.{left_out}"


def content_digest(people: pl.DataFrame) -> str:
    """SHA-256 (hex) of a snapshot's content; other software, or other Parquet settings, don't change it."""
    text = people.with_columns(pl.col(pl.Binary).bin.encode("hex")).write_csv()
    return hashlib.sha256(text.encode()).hexdigest()


def _refuse_other_content(series: Series, release: str, now: Mapping[str, Any]) -> None:
    kept = read_json(series.private(release) / KEPT)
    if kept is not None and any(kept.get(name) != now[name] for name in ("people", "columns", "sha256")):
        raise AlreadyPublished(
            f"{series.name} {release} is published from a snapshot of {kept['people']}"
            f" {counted_in(series.contract)}; the source now has another one. A published release can't be"
            " made again: correct the next one, or begin a new series"
        )
