"""A candidate that passed its audit, as it lies in a release's private folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from republish.anonymize.principle.candidate import Candidate, ReleaseFigures
from republish.anonymize.principle.state import State
from republish.anonymize.promise import Promise, promise_of
from republish.orchestration.engine import the_engine
from republish.orchestration.expectations.verdict import Verdict
from republish.orchestration.readers.datapackage.dated import dated
from republish.orchestration.storage.sealed import read_sealed, write_sealed
from republish.orchestration.storage.store import (
    read_table,
    sha256,
    write_json,
    write_table,
    write_working_table,
)

if TYPE_CHECKING:
    from republish.anonymize.attack.knowledge import Knowledge

COMMITTED = "candidate.json"
"""Written last and sealed: without it, nothing else in the folder counts."""
CANDIDATE, STATE, KNOWLEDGE = "candidate-", "state-", "knowledge-"
"""Beginnings of the names of files: tables to be published, those the next release is built on, and those
that the next attack remembers."""
LINKAGE = "linkage.parquet"
"""Which group has whom; of people who are divided, in the folder of each shard."""
DIFFERENT_PEOPLE = "different_people"
"""A figure of a release where people may have several rows: how many people the rows are of."""


PRESENT = {"is_new", "not_applied"}
"""What a record says of the moment in which it was read, and its file does not."""


@dataclass(frozen=True)
class ReleaseRecord:
    """A candidate that passed its audit, as recorded in `candidate.json`."""

    parameters: Mapping[str, Any]
    """The principle's name and its parameters. Of a published release whose private folder is not kept, its
    manifest is all there is, and the rest is empty."""
    made_from: Mapping[str, Any] = field(default_factory=dict)
    """All it was made from: digests of snapshot, state, parameters, algorithm, key."""
    declared: Mapping[str, Any] = field(default_factory=dict)
    """The columns and the principle as the contract declared them."""
    promises: tuple[Promise, ...] = ()
    """Each release's promise to the people it published first, this one's last."""
    figures: Mapping[str, float] = field(default_factory=dict)
    """Figures of the principle and of its format, in one JSON object, under their names."""
    attack: Mapping[str, float | None] = field(default_factory=dict)
    """Figures of all attacks, in the same way."""
    verdicts: tuple[Verdict, ...] = ()
    """Verdicts of the audit."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """How long each part took, when it was computed."""
    files: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 (hex) of its files by name."""
    is_new: bool = True
    """Whether it was computed just now, rather than found."""
    not_applied: tuple[str, ...] = ()
    """What the present contract has otherwise, of a published release that was found."""

    @property
    def counts(self) -> ReleaseFigures | None:
        """The counts of every release; None where nothing is kept but a manifest."""
        return ReleaseFigures.of(self.figures) if self.figures else None

    def tables(self, kind: str) -> dict[str, str]:
        """SHA-256 of the files of one kind (`CANDIDATE`, `STATE` or `KNOWLEDGE`), by name, of all shards."""
        return {name: digest for name, digest in self.files.items() if f"/{kind}" in f"/{name}"}

    def has_tables_of(self, manifest: Mapping[str, Any]) -> bool:
        """Whether the tables that a manifest states are byte for byte those of the candidate."""
        stated = {f"{CANDIDATE}{name}": file["sha256"] for name, file in manifest["files"].items()}
        made = self.tables(CANDIDATE)
        return bool(made) and made.items() <= stated.items()

    def of_shard(self, place: str) -> ReleaseRecord:
        """Itself with the files in one folder of it alone, `shard-0003`; all of them if that is empty."""
        if not place:
            return self
        own = f"{place}/"
        files = {
            name.removeprefix(own): digest for name, digest in self.files.items() if name.startswith(own)
        }
        return replace(self, files=files)

    def as_json(self) -> dict[str, Any]:
        """Itself as the content of `candidate.json`."""
        parts = {name: part for name, part in asdict(self).items() if name not in PRESENT}
        parts["promises"] = [promise.as_json() for promise in self.promises]
        as_read: dict[str, Any] = json.loads(json.dumps(parts))
        return as_read

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> ReleaseRecord:
        """A record from what `as_json` returned."""
        own = {part.name: record[part.name] for part in fields(cls) if part.name not in PRESENT}
        return cls(
            **own
            | {
                "promises": _promises(record["promises"]),
                "verdicts": tuple(Verdict(**verdict) for verdict in record["verdicts"]),
                "is_new": False,
            }
        )


def _promises(stated: Sequence[Mapping[str, Any]]) -> tuple[Promise, ...]:
    """The promises of a record; those of a long series are nearly all the same, and each is read once."""
    texts = [json.dumps(promise) for promise in stated]
    read = {text: promise_of(promise) for text, promise in dict(zip(texts, stated, strict=True)).items()}
    return tuple(read[text] for text in texts)


def write_tables(
    folder: Path, state: State, knowledge: Knowledge, buckets: pl.DataFrame | None = None
) -> dict[str, str]:
    """Write what the next release and the next attack remember, and a candidate's buckets, if it has any.

    Returns
    -------
    dict
        SHA-256 (hex) by file name.
    """
    tables = {
        **({} if buckets is None else {"buckets": buckets}),
        **{f"{STATE}{name}": table for name, table in state.tables.items()},
        **{f"{KNOWLEDGE}{name}": table for name, table in knowledge.tables().items()},
    }
    for name, table in tables.items():
        write_working_table(folder / f"{name}.parquet", table)
    return {name: sha256(folder / name) for name in (f"{name}.parquet" for name in tables)}


def write_published(
    folder: Path, candidate: Candidate, linkage: pl.DataFrame, release: str
) -> dict[str, str]:
    """Write what is to be published of a candidate, and its linkage; returns SHA-256 (hex) by file name.

    Parameters
    ----------
    linkage
        Its linkage under the identifier's own name.
    release
        Its date, which the tables to be published carry in every row.
    """
    for name, table in candidate.published.items():
        write_table(folder / f"{CANDIDATE}{name}.parquet", dated(table, release))
    write_working_table(folder / LINKAGE, linkage)
    for name, content in candidate.documents.items():
        write_json(folder / f"{CANDIDATE}{name}.json", content)
    tables = [f"{CANDIDATE}{name}.parquet" for name in candidate.published]
    documents = [f"{CANDIDATE}{name}.json" for name in candidate.documents]
    return {name: sha256(folder / name) for name in (*tables, LINKAGE, *documents)}


def write_committed(folder: Path, committed: ReleaseRecord, key: bytes) -> None:
    """Record that the candidate in a folder passed its audit."""
    write_sealed(folder / COMMITTED, committed.as_json(), key)


def read_record(folder: Path, key: bytes) -> ReleaseRecord | None:
    """The record of the candidate in a private folder; its files are not looked at."""
    record = read_sealed(folder / COMMITTED, key)
    return None if record is None else ReleaseRecord.from_json(record)


def read_committed(folder: Path, key: bytes) -> ReleaseRecord | None:
    """The committed candidate in a private folder, or None if there is none or any of it was changed."""
    committed = read_record(folder, key)
    return committed if committed is not None and is_unchanged(folder, committed) else None


def is_unchanged(folder: Path, committed: ReleaseRecord) -> bool:
    """Whether the files in a private folder are those that are recorded of its candidate.

    The engine's workers read those of people who are divided, each a shard's.
    """
    own: dict[Path, dict[str, str]] = {}
    for name, digest in committed.files.items():
        own.setdefault((folder / name).parent, {})[Path(name).name] = digest
    if not own:
        return True
    people = committed.counts.people // len(own) if committed.counts else 0
    return all([*the_engine().run(are_unchanged, list(own.items()), people, "folder")])


def are_unchanged(recorded: tuple[Path, Mapping[str, str]]) -> bool:
    """Whether files in a folder have the SHA-256 (hex) that is recorded of them, by name."""
    folder, files = recorded
    return all(
        (folder / name).is_file() and sha256(folder / name) == digest for name, digest in files.items()
    )


def read_tables(folder: Path, kind: str, committed: ReleaseRecord) -> Mapping[str, pl.DataFrame]:
    """The tables of one kind by name, each read when it is asked for."""
    return _Tables(folder, kind, committed.files)


def read_state(folder: Path, committed: ReleaseRecord) -> State:
    """The state that the next release is built on."""
    return State(read_tables(folder, STATE, committed))


def read_knowledge(folder: Path, committed: ReleaseRecord) -> Knowledge:
    """The memory of the next attack."""
    from republish.anonymize.attack.knowledge import Knowledge  # noqa: PLC0415 - imports what computes

    return Knowledge.of(dict(read_tables(folder, KNOWLEDGE, committed)))


class _Tables(Mapping[str, pl.DataFrame]):
    """The tables of one kind in a folder, by name."""

    def __init__(self, folder: Path, kind: str, files: Mapping[str, str]):
        self._files = {
            name.removeprefix(kind).removesuffix(".parquet"): folder / name
            for name in files
            if name.startswith(kind) and name.endswith(".parquet")
        }
        self._read: dict[str, pl.DataFrame] = {}

    def __getitem__(self, name: str) -> pl.DataFrame:
        if name not in self._read:
            self._read[name] = read_table(self._files[name])
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)
