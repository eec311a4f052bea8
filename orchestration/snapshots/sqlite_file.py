"""SQLite files as sources, asked to read only.

A column of SQLite has no type: each of its values has one. All of a query's answer is looked at for the
narrowest type that holds a column: whole numbers, numbers, else text.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from republish.orchestration.storage.statements import statement

READS = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
"""What a query may do."""
KINDS = (pa.string(), pa.int64(), pa.float64(), pa.string(), pa.binary())
"""Types of columns, by what `sql/select_types.sql` says of them."""
PATIENCE = 5
"""Seconds in which whoever writes may end."""
BATCH = 100_000
"""Rows that are given at a time."""


class QueryError(Exception):
    """SQLite's words for why a query fails; they may quote a value."""


def sqlite_answer(file: Path, query: str, around: str, release: str) -> Generator[Any]:
    """The answer to a query: its schema (pyarrow.Schema), then its rows (pyarrow.RecordBatch).

    Parameters
    ----------
    query
        One SELECT, in which `:release` stands for the release's date, which is text.
    around
        The statement that asks for something of its answer, with `{query}` in it.

    Raises
    ------
    QueryError
        If it is no SQLite file, or the query isn't one SELECT, writes, or fails: at once or when rows are
        read.
    """
    asked, given = around.replace("{query}", query), {"release": release}
    place = f"{file.resolve().as_uri()}?mode=ro"
    with (
        _of_sqlite(),
        # Another thread may read its rows than the one that asked for them.
        closing(sqlite3.connect(place, uri=True, timeout=PATIENCE, check_same_thread=False)) as connection,
    ):
        connection.execute("BEGIN")  # what is looked at, and what is read, is the same
        connection.set_authorizer(_may_read)
        with closing(connection.execute(asked, given)) as answer:
            names = [name for name, *_ in answer.description]
            types = ", ".join(map(_type_of, names))
            looked = statement("select_types").replace("{types}", types).replace("{query}", asked)
            found = connection.execute(looked, given).fetchone()
            schema = pa.schema([(name, KINDS[kind or 0]) for name, kind in zip(names, found, strict=True)])
            yield schema
            while rows := answer.fetchmany(BATCH):
                columns = zip(schema.types, zip(*rows, strict=True), strict=True)
                yield pa.record_batch(
                    [pa.array(_plain(kind, values), kind) for kind, values in columns], schema
                )


def _may_read(action: int, *_: object) -> int:
    return sqlite3.SQLITE_OK if action in READS else sqlite3.SQLITE_DENY


def _plain(kind: pa.DataType, values: tuple[Any, ...]) -> Iterator[Any]:
    """Values of a type; whole numbers and others among text as they are written."""
    is_text = kind == pa.string()
    return (str(value) if is_text and value is not None else value for value in values)


def _type_of(name: str) -> str:
    return statement("select_type_of").replace("{column}", '"{}"'.format(name.replace('"', '""'))).strip()


@contextmanager
def _of_sqlite() -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning, pa.ArrowException, OverflowError) as error:
        said = str(error)
    else:
        return
    raise QueryError(said)
