"""Tables that keep earlier versions as sources: Delta and Iceberg, read as they were at a moment.

Their libraries are imported late: nobody waits for them, or needs them, who has no such table.
"""

from __future__ import annotations

import datetime as dt
import itertools
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa

from republish.anonymize.contract import TableSource, is_in_store
from republish.anonymize.errors import RepublishError, SnapshotError
from republish.orchestration.snapshots.arrow import Answer
from republish.orchestration.storage.objects import profile_of

LIBRARIES = {"delta": "deltalake", "iceberg": "pyiceberg"}
NONE_THERE = ("FileNotFoundError", "NoSuchNamespaceError", "NoSuchTableError", "TableNotFoundError")
"""The libraries' errors where there is no table."""
METADATA = re.compile(r"v?(\d+).*\.metadata\.json")

Log = list[tuple[int, int]]
"""Versions in the order in which they were written, each with its milliseconds since 1970."""
Read = tuple[Iterable[Any], list[str]]
"""Batches of rows in Arrow's layout, and the names of all columns."""


def version_at(source: TableSource, moment: dt.datetime, folder: Path, where: str) -> int | None:
    """The last version of a table that was written up to a moment, the moment included.

    Parameters
    ----------
    moment
        With a time zone.
    folder
        The contract's: relative paths begin there.

    Returns
    -------
    int or None
        The version (of Iceberg the snapshot's id); None if there was no table yet.

    Raises
    ------
    SnapshotError
        If that version is not among those that the table still lists, or the table can't be read.
    """
    with _in_our_words(source, where):
        table = _open(source, folder)
        log, is_whole = table.log() if table else ([], True)
    # A clock that was set back does not make an earlier version a later one.
    latest = itertools.accumulate((written for _, written in log), max)
    until = int(moment.timestamp() * 1000)
    found = [version for (version, _), written in zip(log, latest, strict=True) if written <= until]
    if not found and not is_whole:
        raise SnapshotError(f"{where}: {_gone(f'the version of {moment:%Y-%m-%d %H:%M} UTC')}")
    return found[-1] if found else None


def read_version(
    source: TableSource, version: int, columns: list[str], folder: Path, where: str
) -> tuple[Answer, list[str]]:
    """A version of a table: those of the columns that it has, read when they are asked for; the names of all.

    Raises SnapshotError if there is no such table, the version is not there any more, or it can't be read.
    """
    with _in_our_words(source, where, version):
        table = _open(source, folder)
        if table is None:
            raise SnapshotError(f"{where}: there is no such table; correct source.table in the contract")
        batches, present = table.read(version, columns)
    parts = _record_batches(batches, source, version, where)
    first = next(parts, None)
    nothing = pa.table({column: pa.nulls(0) for column in columns if column in present})
    schema = nothing.schema if first is None else first.schema
    rows = (one for one in itertools.chain([first], parts) if one is not None)
    return Answer(schema, rows), present


def _record_batches(
    batches: Iterable[Any], source: TableSource, version: int, where: str
) -> Iterator[pa.RecordBatch]:
    with _in_our_words(source, where, version):
        yield from map(pa.record_batch, batches)


class _GoneError(Exception):
    """A version that a table does not list any more."""


class _Delta:
    def __init__(self, place: str):
        self._open = partial(import_module("deltalake").DeltaTable, place, storage_options=profile_of(place))
        self._now = self._open()

    def log(self) -> tuple[Log, bool]:
        """Its versions, and whether the first of them is the first that there ever was."""
        commits = sorted(self._now.history(), key=lambda commit: int(commit["version"]))
        # The times that commits state. Those of the files, by which the library goes, are a copy's own.
        log = [
            (commit["version"], commit.get("inCommitTimestamp", commit["timestamp"])) for commit in commits
        ]
        return log, not log or log[0][0] == 0

    def read(self, version: int, columns: list[str]) -> Read:
        """A version of it."""
        try:
            then = self._open(version=version)
        except Exception as error:  # DeltaError where the version is later than the last, say
            raise _GoneError from error
        present = [field.name for field in then.schema().fields]
        return then.scan(columns=[column for column in columns if column in present]), present


class _Iceberg:
    def __init__(self, place: str):
        if "/" in place:
            static = import_module("pyiceberg.table").StaticTable
            self._now = static.from_metadata(_metadata_of(place))
        else:
            catalog, _, name = place.partition(".")
            self._now = import_module("pyiceberg.catalog").load_catalog(catalog).load_table(name)

    def log(self) -> tuple[Log, bool]:
        """Its snapshots, and whether the first of them is the first that there ever was."""
        log = [(entry.snapshot_id, entry.timestamp_ms) for entry in self._now.history()]
        first = self._now.snapshot_by_id(log[0][0]) if log else None
        return log, not log or (first is not None and (first.sequence_number or 0) <= 1)

    def read(self, version: int, columns: list[str]) -> Read:
        """A snapshot of it."""
        if self._now.snapshot_by_id(version) is None:
            raise _GoneError
        present = [field.name for field in self._now.scan(snapshot_id=version).projection().fields]
        wanted = tuple(column for column in columns if column in present)
        return self._now.scan(snapshot_id=version, selected_fields=wanted).to_arrow_batch_reader(), present


def _metadata_of(place: str) -> str:
    """The metadata of a table without a catalog: as its folder says, or that with the highest number."""
    folder = Path(place, "metadata")
    if place.endswith(".metadata.json") or (folder / "version-hint.text").exists():
        return place
    files = {file: int(found[1]) for file in folder.glob("*") if (found := METADATA.fullmatch(file.name))}
    last = [file for file, number in files.items() if number == max(files.values())]
    if not last:
        raise FileNotFoundError
    if len(last) > 1:  # of two writers at once, the catalog alone knows which one has won
        raise ValueError
    return str(last[0])


def _open(source: TableSource, folder: Path) -> _Delta | _Iceberg | None:
    """The table as it is now; None if there is none."""
    is_complete = source.is_in_catalog or is_in_store(source.place)
    place = source.place if is_complete else str(folder / source.place)
    try:
        return (_Delta if source.format == "delta" else _Iceberg)(place)
    except Exception as error:
        if type(error).__name__ in NONE_THERE:
            return None
        raise


@contextmanager
def _in_our_words(source: TableSource, where: str, version: int | None = None) -> Iterator[None]:
    """Whatever a library raises, said in a line. Its own words may have values in them, and credentials."""
    library = LIBRARIES[source.format]
    try:
        yield
    except RepublishError:
        raise
    except ModuleNotFoundError:
        reason = (
            f"{library} is not installed, which reads such tables: pip install 'republish[{source.format}]'"
        )
    except Exception as error:  # noqa: BLE001 - each catalog, and each store, has errors of its own
        is_gone = isinstance(error, _GoneError | FileNotFoundError) or "not found" in str(error).lower()
        reason = (
            _gone(f"version {version}")
            if version is not None and is_gone
            else f"can't be read ({type(error).__name__}). Open it with {library} to see why; catalogs and"
            " credentials are looked for in their usual places"
        )
    else:
        return
    raise SnapshotError(f"{where}: {reason}") from None


def _gone(what: str) -> str:
    return (
        f"{what} is not there any more: it was vacuumed, or it expired. Restore it; or name another version"
        " with the people of this release under source.versions in the contract"
    )
