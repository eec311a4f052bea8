"""The history of published releases, in DuckDB: when built how, and what the audit of each found.

It is an index of manifests and records, for whoever asks with SQL. It is opened for short transactions only,
because one process at a time can have a DuckDB file open. A file that is gone is begun anew: the next process
that locks a series enters what is published of it.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from republish.anonymize.errors import HomeError
from republish.orchestration.storage.home import NO_ROOM, for_the_group, no_room
from republish.orchestration.storage.statements import statement

HISTORY_VERSION = 1
"""Raised when the tables change."""
PATIENCE = 60
"""Seconds to wait for another process that has the file open."""


@dataclass(frozen=True)
class History:
    """The history file of a home. It is read again only where it was written since."""

    file: Path
    """`history.duckdb`; made at first use."""

    def published(self, product: str, series: str) -> dict[str, str]:
        """SHA-256 (hex) of the manifest of every release that became a fact, by release. Nothing is written.

        Raises HomeError if the file can't be read, or a newer version of the software wrote it: then it names
        the version that can read it.
        """
        return dict(_published(self, _written(self.file), product, series))

    def enter(self, row: Mapping[str, Any], buckets: pl.DataFrame | None) -> None:
        """Enter a published release, and its buckets if it has any; an earlier entry is replaced.

        Parameters
        ----------
        row
            One entry per column of the table of releases.
        buckets
            `bucket_id`, `signature`, `people`, `counterfeits`, `groups`; None where there are no buckets.
        """
        key = {name: row[name] for name in ("product", "series", "release")}
        encoded = {
            name: json.dumps(value) if isinstance(value, dict | list) else value
            for name, value in row.items()
        }

        with self._transaction() as connection:
            connection.execute(statement("insert_release"), encoded)
            connection.execute(statement("delete_buckets"), key)
            if buckets is not None:
                connection.register(
                    "buckets_in_use", buckets.with_columns(pl.col("signature").cast(pl.List(pl.String)))
                )
                connection.execute(statement("insert_buckets"), key)

    def copy(self, into: Path) -> None:
        """Copy the file into a folder, while no process writes to it. Nothing if there is none.

        Raises HomeError if it can't be read.
        """
        if self.file.exists():
            with self._opened(read_only=True):
                for file in self.file.parent.glob(f"{self.file.name}*"):  # with the log of a killed process
                    shutil.copy2(file, into)

    def read_published(self, product: str, series: str) -> dict[str, str]:
        """What `published` returns, read from the file."""
        if not self.file.exists():
            return {}
        with self._opened(read_only=True) as connection:
            try:
                self._refuse_newer(connection)
                params = {"product": product, "series": series}
                return dict(connection.execute(statement("select_published"), params).fetchall())
            except duckdb.CatalogException:  # killed before the first tables were there
                return {}

    @contextmanager
    def _transaction(self) -> Iterator[duckdb.DuckDBPyConnection]:
        with self._opened() as connection:
            connection.begin()
            connection.execute(statement("create_history"))
            self._refuse_newer(connection)
            connection.execute(
                statement("insert_software"),
                {"history_version": HISTORY_VERSION, "software_version": version("republish")},
            )
            yield connection
            connection.commit()

    @contextmanager
    def _opened(self, *, read_only: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
        try:
            with _open(self.file, read_only=read_only) as connection:
                yield connection
        except duckdb.Error as error:
            for number in NO_ROOM:
                if os.strerror(number) in str(error):
                    raise HomeError(f"{no_room(self.file, number)}: what is published is untouched") from None
            raise HomeError(
                f"{self.file}: can't be read or written: {str(error).splitlines()[0]}. What is published is"
                " untouched, and this is an index of it: if it is damaged, move it away, and the next command"
                " that works on a series enters its releases again"
            ) from None

    def _refuse_newer(self, connection: duckdb.DuckDBPyConnection) -> None:
        for history_version, software_version in connection.execute(statement("select_software")).fetchall():
            if history_version > HISTORY_VERSION:
                raise HomeError(
                    f"{self.file} was written by republish {software_version}, this is"
                    f" {version('republish')}. Install that version or a newer one"
                )


@lru_cache(maxsize=64)
def _published(
    history: History, _: tuple[tuple[int, ...] | None, ...], product: str, series: str
) -> dict[str, str]:
    return history.read_published(product, series)


def _written(file: Path) -> tuple[tuple[int, ...] | None, ...]:
    """When a DuckDB file and its log were written, which tells whether they were since."""
    return tuple(_state(path) for path in (file, file.with_name(f"{file.name}.wal")))


def _state(path: Path) -> tuple[int, ...] | None:
    try:
        state = path.stat()
    except FileNotFoundError:
        return None
    return state.st_ino, state.st_size, state.st_mtime_ns


def _open(file: Path, *, read_only: bool) -> duckdb.DuckDBPyConnection:
    """The history, as soon as no other process has it open."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            connection = duckdb.connect(file, read_only=read_only)
        except duckdb.IOException as error:
            if "lock" not in str(error).lower():
                raise
            if time.monotonic() > deadline:
                raise HomeError(
                    f"{file}: another program has had it open for {PATIENCE} s. Close it there, and run again"
                ) from None
            time.sleep(0.05)
        else:
            if not read_only:
                file.chmod(0o600)
                for_the_group(file)
            return connection
