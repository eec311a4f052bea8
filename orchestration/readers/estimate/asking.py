"""A question to copies, one after the other, on a connection that can read nothing else."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import polars as pl

from republish.anonymize.contract.scalars import MISSING
from republish.anonymize.errors import LimitError, QueryError
from republish.orchestration.readers.estimate.expression import Expression
from republish.orchestration.readers.estimate.names import quoted, text
from republish.orchestration.storage.parts import pattern_of
from republish.orchestration.storage.scratch import scratch_folder

MOST_PARTS = 5000
"""The most values, or combinations of values, that people of a release are counted by."""
ANSWER = "answer"
INTEGERS = {f"{sign}{size}int" for sign in ("", "u") for size in ("tiny", "small", "big", "huge")}
INTEGERS |= {"integer", "uinteger"}
NUMBERS = {*INTEGERS, "boolean", "decimal", "double", "float"}
"""DuckDB's types of numbers that an answer may be."""
DATES = {"date", "timestamp", "timestamp with time zone"}
"""Those of dates. An answer is in days since 1970 then."""
AS_KEY = {
    **dict.fromkeys(INTEGERS, ("BIGINT", pl.Int64)),
    **dict.fromkeys(("decimal", "double", "float"), ("DOUBLE", pl.Float64)),
    "boolean": ("BOOLEAN", pl.Boolean),
    "date": ("DATE", pl.Date),
}
"""What people are counted by as a type of DuckDB and of polars; what is not here is text."""
AS_TEXT = ("VARCHAR", pl.String)


@dataclass
class Question:
    """What is asked of each copy."""

    where: Expression
    by: Sequence[Expression]
    of: Expression

    @property
    def expressions(self) -> list[Expression]:
        """All of it."""
        return [self.where, *self.by, self.of]

    @property
    def columns(self) -> set[str]:
        """The columns that it mentions."""
        return {name for one in self.expressions for name in one.columns}


@dataclass
class Asker:
    """A connection that reads copies and nothing else, and what is asked on it."""

    folder: Path
    connection: duckdb.DuckDBPyConnection
    question: Question
    numbers: Mapping[str, str]
    """The types of columns of text that are numbers throughout: those of CSV files are."""
    seen: dict[str, set[str]]
    """The labels in columns of text of which none are declared, and that are compared with some."""
    of_dates: bool = False
    """Whether answers are dates."""
    kinds: Mapping[str, str] | None = None
    """Which of them are read as numbers: it is known once the first copy was asked."""
    _copies: int = 0
    _aggregates: set[str] = field(default_factory=set)

    @classmethod
    @contextmanager
    def open(cls, question: Question, labels: Mapping[str, Sequence[str]]) -> Iterator[Asker]:
        """Open a connection; `labels` are those that columns of text may have."""
        numbers = {name: kind for name in question.columns if (kind := _number(labels.get(name, ())))}
        unknown = {name for one in question.expressions for name, _ in one.compared if name not in labels}
        with scratch_folder() as folder:
            # What does not fit into memory goes to the folder of temporary files, too.
            extensions = dict.fromkeys(("autoinstall_known_extensions", "autoload_known_extensions"), "false")
            with duckdb.connect(
                config={**extensions, "temp_directory": str(folder / "spilled")}
            ) as connection:
                known = "SELECT function_name FROM duckdb_functions() WHERE function_type <> 'scalar'"
                aggregates = {name for (name,) in connection.execute(known).fetchall()}
                # What runs from here on has a researcher's words in it.
                connection.execute(
                    f"SET allowed_directories = [{text(str(folder))}];"
                    "SET enable_external_access = false; SET lock_configuration = true"
                )
                asker = cls(folder, connection, question, numbers, {name: set() for name in unknown})
                asker._aggregates = aggregates
                yield asker

    def ask(self, table: pl.DataFrame) -> pl.DataFrame:
        """What a copy says: a row for each part of the people, with `key_0`, …, `answer`.

        Raises
        ------
        QueryError
            If DuckDB refuses the question, or it is none about a group of people.
        """
        for name, labels in self.seen.items():
            if table.schema.get(name) == pl.String:
                labels.update(table[name].drop_nulls().unique())
        asked = [name for name in table.columns if name in self.question.columns or name == "release"]
        self._copies += 1
        file = self.folder / f"{self._copies}.parquet"
        with os.fdopen(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as stream:
            mentioned = pl.DataFrame([table[name] for name in asked])
            mentioned.write_parquet(stream, compression="uncompressed", statistics=False)
        # Text that is numbers is asked as numbers, or as text, where only that can be meant: code LIKE '4%'.
        tries = [self.numbers, {}] if self.kinds is None and self.numbers else [self.kinds or {}]
        refused = []
        try:
            for kinds in tries:
                try:
                    answer = self._asked(file, asked, kinds)
                except QueryError as refusal:
                    refused.append(refusal)
                else:
                    self.kinds = kinds
                    return answer
            raise refused[0]
        finally:
            file.unlink()

    def _asked(self, file: Path, columns: Sequence[str], kinds: Mapping[str, str]) -> pl.DataFrame:
        cast = [
            f"TRY_CAST({quoted(name)} AS {kinds[name]}) AS {quoted(name)}" if name in kinds else quoted(name)
            for name in columns
        ]
        read = f"read_parquet({text(pattern_of(file))})"
        self.connection.execute(
            f"CREATE OR REPLACE TEMP VIEW people AS SELECT {', '.join(cast)} FROM {read}"  # noqa: S608 - quoted
        )
        where, by, of = self.question.where, self.question.by, self.question.of
        kind = self._kind([where], f"SELECT {where.written} FROM people")  # noqa: S608 - parsed by itself
        if kind != "boolean":
            raise QueryError(f"{where.named}: is a {kind}, and must be true or false of a person")
        grouped = (f"SELECT {one.written} FROM people GROUP BY 1" for one in by)  # noqa: S608 - as above
        keys = [AS_KEY.get(self._kind([one], sql), AS_TEXT) for one, sql in zip(by, grouped, strict=True)]
        if not of.functions & self._aggregates:
            raise QueryError(f"{of.named}: is no aggregate of a group of people, as avg(age) is one")
        parts = [f"{one.written}::{kind}" for one, (kind, _) in zip(by, keys, strict=True)]
        group = f"GROUP BY {', '.join(str(at + 1) for at in range(len(by))) or '()'}"
        kind = self._kind([of], f"SELECT {', '.join([*parts, of.written])} FROM people {group}")  # noqa: S608
        self.of_dates = kind in DATES
        if kind not in NUMBERS | DATES:
            raise QueryError(f"{of.named}: is a {kind}, and must be a number or a date")
        answer = f"epoch({of.written}) / 86400" if self.of_dates else f"{of.written}::DOUBLE"
        asked = (
            f"SELECT {', '.join([*parts, answer])} FROM people WHERE {where.written} {group}"  # noqa: S608
            f" HAVING count(*) > 0 LIMIT {MOST_PARTS + 1}"
        )
        try:
            rows = self.connection.execute(asked).fetchall()
        except duckdb.Error as error:
            raise self._refusal(self.question.expressions, error) from None
        self.refuse_many(len(rows))
        schema = {f"key_{at}": kind for at, (_, kind) in enumerate(keys)}
        return pl.DataFrame(rows, {**schema, ANSWER: pl.Float64}, orient="row")

    def refuse_many(self, parts: int) -> None:
        """Raise QueryError if people of a release are counted by too many values."""
        if parts > MOST_PARTS:
            raise QueryError(
                f"{' '.join(one.named for one in self.question.by)}: that is more than {MOST_PARTS:,} lines a"
                " release. Ask for some of the people by --where, or for ranges one after the other"
            )

    def _kind(self, about: Sequence[Expression], sql: str) -> str:
        """DuckDB's type of the last column of a statement about an expression."""
        try:
            kind: str = self.connection.sql(sql).types[-1].id
        except duckdb.Error as error:
            raise self._refusal(about, error) from None
        return kind

    def _refusal(self, about: Sequence[Expression], error: duckdb.Error) -> Exception:
        if isinstance(error, duckdb.OutOfMemoryException | duckdb.IOException):
            return error
        named = " ".join(
            one.named for one in about if one.asked not in ("true", "count(*)") or len(about) == 1
        )
        return QueryError(f"{named}: {str(error).splitlines()[0]}")


@contextmanager
def fitting(folder: Path) -> Iterator[None]:
    """Raise LimitError if what is asked of a folder fits neither into memory nor on the disk beside it."""
    try:
        yield
    except (duckdb.OutOfMemoryException, duckdb.IOException) as error:
        if isinstance(error, duckdb.IOException) and os.strerror(errno.ENOSPC) not in str(error):
            raise
        raise LimitError(
            f"{folder}: is too large to be estimated from here: it fits neither into memory nor into"
            f" {tempfile.gettempdir()}. Set TMPDIR to a folder with more room, or take a larger machine"
        ) from None


def _number(labels: Sequence[str]) -> str | None:
    """The type of numbers that texts are, if all of them are, each as a number is written."""
    kinds = {"BIGINT": r"-?(0|[1-9]\d{0,17})", "DOUBLE": r"-?(0|[1-9]\d{0,17})(\.\d{1,18})?"}
    known = {*labels} - {MISSING}
    fits = (kind for kind, form in kinds.items() if all(re.fullmatch(form, one, re.ASCII) for one in known))
    return next(fits, None) if known else None
