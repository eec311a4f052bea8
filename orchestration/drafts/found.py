"""A table as it is found: one file, all files that are named alike, or the answer of a query."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import ValidationError

from republish.anonymize.columns import exactly
from republish.anonymize.contract import QuerySource
from republish.anonymize.contract.source import CSV, FIXED_WIDTH, TYPED
from republish.anonymize.errors import ContractError, SnapshotError, as_data
from republish.orchestration.drafts.columns import (
    Column,
    column_of,
    is_no_value,
    is_word_for_nothing,
    together,
    with_labels,
)
from republish.orchestration.drafts.dates import dated_files, named_nearly_alike, schedule_of
from republish.orchestration.drafts.dialect import dialect_of, ends_its_last_line, usual_separator
from republish.orchestration.drafts.panel import Panel, panel_of
from republish.orchestration.drafts.yaml_lines import flow
from republish.orchestration.snapshots.arrow import from_arrow, numerics, with_numerics
from republish.orchestration.snapshots.databases import ask, place_of
from republish.orchestration.snapshots.files import read_file
from republish.orchestration.snapshots.labels import NO_LABELS, Codes, Labels, relabelled
from republish.orchestration.snapshots.labels import together as together_labels

MOST_ROWS = 5_000_000
"""Of further files, no more are read than make so many rows in all."""
UNDATED = (
    "There is no date in the file's name, so this contract is for a single release. Put one there, as"
    " in 2024-01-01, and write {release} for it in source.path, to go on."
)
IN_ONE_FILE = "One file has the rows of all releases: {column} says of which one a row is."
RELABELLED = "Codes have other labels in later files: labels are read in place of them."
UNNAMED = "__UNNAMED__"
"""How the names of columns begin that have none in a workbook."""
PASSED_OVER = "._~"
"""How the names of files begin that programs put beside others, to lock them say."""
NAMED = 5
"""So many files that are not looked at are named."""
WAYS = {
    " ".join(
        FIXED_WIDTH
    ): "if something stands between its columns, name it .csv, or .tsv if that is a tab; if"
    " its columns have fixed widths, write the contract by hand, and these as source.widths",
    ".tab": "if tabs stand between its columns, name it .tsv",
    ".xls .xlsb .xlsm .ods .numbers": "save its first sheet as .xlsx",
    ".json .jsonl .ndjson": "DuckDB reads it: republish init duckdb: --query"
    " \"SELECT * FROM read_json('{name}')\"",
    ".rds .rda .rdata": "write it in R: arrow::write_parquet",
    ".feather .arrow .ipc .orc .avro": "write it as .parquet",
    ".mdb .accdb .dbf": "export its table as .csv",
    ".zip .bz2 .xz .7z .rar .tar .tgz": "unpack it; a CSV file alone may be packed as .gz or .zst",
}
"""By the endings of files that are no source, how to get there."""
TABLES = (
    "SELECT table_schema, table_name FROM information_schema.tables"
    " WHERE table_schema NOT IN ('information_schema', 'pg_catalog') ORDER BY 1, 2"
)
"""What a database is asked for the names of its tables."""
OF_SQLITE = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%'"
"""The same, of SQLite."""


@dataclass(frozen=True)
class FoundTable:
    """A table, and how a contract would say where it is."""

    name: str
    """A name for the product."""
    folder: Path
    """Where the contract is to lie: paths begin there."""
    source: Mapping[str, Any]
    """The keys of `source`, but for how numbers and dates are written."""
    tables: Mapping[str, pl.DataFrame]
    """The snapshots that were looked at, by release."""
    columns: tuple[Column, ...]
    releases: tuple[str, ...]
    """The dates of the snapshots that are there."""
    sources: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Keys of `source` that change with a release."""
    cron: str | None = None
    remarks: tuple[str, ...] = ()
    """Sentences on what a publisher has to know."""
    person: str | None = None
    """Of a panel, the column by which people are found again."""

    @property
    def heights(self) -> tuple[int, ...]:
        """How many rows each snapshot has, in their order."""
        return tuple(table.height for table in self.tables.values())

    @cached_property
    def unique(self) -> tuple[str, ...]:
        """The names of columns that have another value in each row, in each file."""
        return tuple(one.name for one in self.columns if self.are_unique([one.name]))

    def places(self, column: Column) -> pl.Series | None:
        """Which of a column's values each row has, null where it has none; None if that can't be told."""
        rows = [table[column.name] for table in self.tables.values() if column.name in table.columns]
        given = together(rows)
        if given is None or len(given) != column.rows:
            return None
        if given.dtype.is_float():
            given = given.fill_nan(None)
        is_there = given.is_not_null()
        if isinstance(given.dtype, pl.String | pl.Categorical | pl.Enum):
            text = given.cast(pl.String)
            is_there &= ~(is_word_for_nothing(text) | text.is_in(column.no_values)).fill_null(True)
        if is_there.sum() != len(column.values):
            return None
        return (is_there.cum_sum() - 1).set(~is_there, None)

    def are_unique(self, names: Sequence[str]) -> bool:
        """Whether columns have, together, other values in each row of each file, and none is missing."""
        return all(
            all(
                name in table.columns and not table[name].dtype.is_nested() and not table[name].has_nulls()
                for name in names
            )
            and table.select(exactly(*names)).n_unique() == table.height
            for table in self.tables.values()
        )

    @property
    def is_series(self) -> bool:
        """Whether releases go on: by a schedule, or on dates that follow none."""
        return self.cron is not None or len(self.releases) > 1


def in_files(file: Path) -> FoundTable:
    """The table in a file, and in all that are named alike but for a date.

    Raises
    ------
    SnapshotError
        If one of them can't be read, or is none of a table.
    """
    if file.is_dir():
        file = _first_of(file)
    if file.is_file():
        _refuse_other_kind(file)
    dated = dated_files(file) if file.is_file() else None
    files = {today(): file} if dated is None else dated.files
    tables: dict[str, pl.DataFrame] = {}
    dialects: dict[str, dict[str, str]] = {}
    codes: dict[str, Codes] = {}
    remarks = []
    for release, one in files.items():
        if sum(table.height for table in tables.values()) > MOST_ROWS:
            remarks.append(f"The snapshots from {release} on were not looked at: they are large.")
            break
        dialect = dialects[release] = dialect_of(one, str(one))
        usual = {"separator": usual_separator(one), "encoding": "utf-8"}
        codes[release] = Codes()
        table, present = read_file(one, str(one), **usual | dialect, codes=codes[release])
        _refuse_title(present, one)
        if twice := [name for name, often in Counter(present).items() if often > 1]:
            raise SnapshotError(f"{one}: the column {twice[0]} is there twice; rename one in the source")
        _refuse_a_row_for_names(table, one)
        tables[release] = table
    _refuse_nobody(tables, str(file))
    panel = panel_of(*tables.values()) if dated is None else None
    tables = tables if panel is None else panel.tables
    first, *_ = tables.values()
    if renamed := _other_names(tables):
        remarks.append(renamed)
    elif other := next((name for one in tables.values() for name in one.columns if name not in first), None):
        remarks.append(f"The column {as_data(other)} is not in the first snapshot, and left out.")
    if others := named_nearly_alike(file, [*files.values()]):
        remarks.append(_not_looked_at(others))
    said, sources = _changes(dialects)
    said = said | _without_ends(files[release] for release in dialects)
    tables, labels, read_so = _in_words(tables, codes)
    said, remarks = said | read_so, [*remarks, *(RELABELLED for _ in read_so)]
    columns = _columns(tables, labels, codes.values())
    if dated is None:
        return _of_one_file(file, panel, tables, columns, said, remarks)
    return FoundTable(
        dated.name or dated.folder.resolve().name,
        dated.folder,
        {"path": dated.path, **said},
        tables,
        columns,
        tuple(files),
        sources,
        schedule_of(tuple(files)),
        tuple(remarks),
    )


def _of_one_file(
    file: Path,
    panel: Panel | None,
    tables: Mapping[str, pl.DataFrame],
    columns: tuple[Column, ...],
    said: Mapping[str, Any],
    remarks: Sequence[str],
) -> FoundTable:
    """The table of a file without a date in its name: of one release, or a panel of several."""
    rows = {} if panel is None else {"where": panel.where}
    note = UNDATED if panel is None else IN_ONE_FILE.format(column=as_data(panel.column))
    return FoundTable(
        file.name.partition(".")[0],
        file.parent,
        {"path": file.name, **rows, **said},
        tables,
        columns,
        tuple(tables),
        cron=None if panel is None else schedule_of(tuple(tables)),
        remarks=(note, *remarks),
        person=None if panel is None else panel.person,
    )


def _database(file: Path) -> str | None:
    """How the dsn of a file begins that is a database; None of others."""
    with file.open("rb") as stream:
        begin = stream.read(16)
    is_of = {"duckdb:///": begin[8:12] == b"DUCK", "sqlite:///": begin == b"SQLite format 3\0"}
    return next((dsn for dsn, is_it in is_of.items() if is_it), None)


def _refuse_other_kind(file: Path) -> None:
    """Raise SnapshotError, with how to get there, of a file that can't be a source of one table."""
    if (dsn := _database(file)) is not None:
        raise SnapshotError(
            f"{file}: is a database, and no file of one table: name it {dsn}{file.absolute()}"
        )
    if file.name.endswith((*TYPED, *CSV)):
        return
    ending = file.suffix.lower()
    ways = next((way for endings, way in WAYS.items() if ending in endings.split()), None)
    out = ways.format(name=file.name) if ways else "write its table as .csv or .parquet"
    raise SnapshotError(f"{file}: source.path must end in {', '.join((*TYPED, *CSV))}; {out}")


def _not_looked_at(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return (
        f"Not looked at: {', '.join(names[:NAMED])}{more}. Snapshots of the same table are named alike but"
        " for a date, as in 2024-01-31, 31.01.2024, 202401 or 2024Q1."
    )


def in_database(dsn: str, query: str | None, folder: Path) -> FoundTable:
    """The answer of a database to a query; without one, the only table that it has.

    Raises
    ------
    ContractError
        If it is no dsn, or has a password in it.
    SnapshotError
        If the database can't be asked, or it isn't clear which table is meant.
    """
    release, where = today(), dsn
    if query is None:
        listed = OF_SQLITE if dsn.startswith("sqlite:") else TABLES
        asked = _answer(_source(dsn, listed), release, folder, "the database")
        names = [".".join(map(_quoted, row)) for row in asked.rows()]
        if len(names) != 1:
            there = f"there are {', '.join(map(as_data, names[:10]))}" if names else "there is none"
            why = "say which table, by --query and a SELECT in which :release stands for the date"
            raise SnapshotError(f"{why}; {there}")
        query = f"SELECT * FROM {names[0]}"  # noqa: S608 - a name that the database itself has given
    source = _source(dsn, query)
    where = place_of(source, folder)
    table = _answer(source, release, folder, where)
    _refuse_nobody({release: table}, f"{where}, on {release}, today" if ":release" in query else where)
    remarks = []
    if ":release" not in query:
        remarks.append(
            "The query answers the same for each release. Write :release for its date, as in WHERE day ="
            " :release, to go on after the first."
        )
    name = Path(where).stem if not dsn.startswith("postgresql:") else where.rpartition("/")[2]
    tables = {release: table}
    return FoundTable(
        name or "people",
        folder,
        {"dsn": dsn, "query": query},
        tables,
        _columns(tables),
        (release,),
        remarks=tuple(remarks),
    )


def today() -> str:
    """The date of a snapshot that has none, UTC."""
    return dt.datetime.now(dt.UTC).date().isoformat()


def _source(dsn: str, query: str) -> QuerySource:
    """The source that a contract would have. Raises ContractError if it may have none such."""
    try:
        return QuerySource(dsn=dsn, query=query)
    except ValidationError as error:
        said = [one["msg"].removeprefix("Value error, ") for one in error.errors()]
    raise ContractError("the database", [("", one) for one in said])  # without what was given: a password


def _quoted(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""'))


def _answer(source: QuerySource, release: str, folder: Path, where: str) -> pl.DataFrame:
    answer = ask(source, release, folder, where)
    names = list(dict.fromkeys(answer.schema.names))
    tables = [from_arrow(part, names, where) for part in answer.pieces(MOST_ROWS)]
    return with_numerics(pl.concat(tables), [numerics(answer.schema, table) for table in tables])


def _first_of(folder: Path) -> Path:
    """The first dated file of a folder."""
    files = [one for one in sorted(folder.iterdir()) if one.is_file() and one.name[0] not in PASSED_OVER]
    found = [dated for one in files if (dated := dated_files(one))]
    if not found:
        raise SnapshotError(f"{folder}: no file in it has a date in its name (2024-01-01); name a file")
    return next(iter(found[0].files.values()))


def _refuse_title(names: Sequence[str], file: Path) -> None:
    """Raise SnapshotError if most columns of a sheet have no name: a title stands above these, probably."""
    unnamed = sum(name.startswith(UNNAMED) for name in names)
    if unnamed * 2 > len(names):
        raise SnapshotError(
            f"{file}: {unnamed} of the {len(names)} columns have no name in the first row: if that is a"
            " title, take it out or write the contract by hand, and header_row under source"
        )


def _other_names(tables: Mapping[str, pl.DataFrame]) -> str | None:
    """A question on the first snapshot that lacks columns of the first one and has others in their place."""
    first, *_ = tables.values()
    for release, table in tables.items():
        lacking = [name for name in first.columns if name not in table.columns]
        others = [name for name in table.columns if name not in first.columns]
        if lacking and others:
            line = flow({release: {"names": {lacking[0]: others[0] if len(others) == 1 else "THAT"}}})[1:-1]
            gone, new = (", ".join(map(as_data, names)) for names in (lacking, others))
            return (
                f"The snapshot of {release} has no {gone}, and the first one no {new}: if they are the same,"
                f" write sources: {{{line}}}, with all names, and so for each release that has others again."
            )
    return None


def _refuse_a_row_for_names(table: pl.DataFrame, file: Path) -> None:
    """Raise SnapshotError if a file has no line of names: its first person would be taken for the names.

    Where one row has all the names, files were put together with their lines of names.
    """
    text = [column for column in table if column.dtype == pl.String and column.name.strip()]
    is_name = pl.DataFrame(
        (one.alias(f"{at}").str.strip_chars() == one.name.strip()) for at, one in enumerate(text)
    )
    again = int(is_name.select(pl.all_horizontal(pl.all()).sum()).item()) if len(text) > 1 else 0
    if again and len(text) * 2 >= table.width:
        rows = "a row has" if again == 1 else f"{again:,} rows have"
        raise SnapshotError(f"{file}: {rows} the names of the columns again: take it out in the source")
    among = sum(column.any() for column in is_name)
    if among > 1 and among * 2 >= table.width:
        raise SnapshotError(
            f"{file}: {among} of the {table.width} names in its first line are values of their own columns,"
            " too: that line seems to be a row. Put a line with the names of the columns above it"
        )


def _refuse_nobody(tables: Mapping[str, pl.DataFrame], where: str) -> None:
    if all(table.is_empty() for table in tables.values()):
        raise SnapshotError(f"{where}: there is nobody in it, so that nothing can be said of its columns")


def _changes(
    dialects: Mapping[str, dict[str, str]],
) -> tuple[dict[str, Any], dict[str, dict[str, str]]]:
    """How the first file is written, and what changes from which release on."""
    usual: dict[str, Any] = next(iter(dialects.values()))
    before, changes = usual, {}
    for release, dialect in dialects.items():
        if dialect != before:
            whole = {"separator": ",", "encoding": "utf-8"} | dialect
            changes[release] = {
                key: whole[key] for key in {**before, **dialect} if whole[key] != before.get(key)
            }
            before = dialect
    return usual, changes


def _without_ends(files: Iterable[Path]) -> dict[str, bool]:
    """The key of a source for files of which one has no line end after its last line."""
    return {} if all(map(ends_its_last_line, files)) else {"final_newline": False}


def _in_words(
    tables: dict[str, pl.DataFrame], codes: Mapping[str, Codes]
) -> tuple[dict[str, pl.DataFrame], Labels, dict[str, bool]]:
    """Tables, the labels of their codes, and what a source says of these: labels are read if they changed."""
    found = [one.labels for one in codes.values()]
    if any(relabelled(one, other) for one, other in pairwise(found)):
        in_words = {release: codes[release].in_words(table, release) for release, table in tables.items()}
        return in_words, NO_LABELS, {"labels": True}
    return tables, together_labels(found), {}


def _columns(
    tables: Mapping[str, pl.DataFrame], labels: Labels = NO_LABELS, codes: Collection[Codes] = ()
) -> tuple[Column, ...]:
    """Each column of the first table, of all tables, with what is known of its codes."""
    first, *_ = tables.values()
    found = []
    for name in first.columns:
        parts = [table[name] for table in tables.values() if name in table.columns]
        values = together(parts)
        column = column_of(name, first[name] if values is None else values)
        reasons = sum((Counter(one.no_answers.get(name, {})) for one in codes), Counter[str]())
        column = with_labels(column, labels.get(name, {}), reasons)
        is_constant, numbers_rows = (all(map(is_so, parts)) for is_so in (_is_constant, _numbers_rows))
        found.append(replace(column, is_constant=is_constant, numbers_rows=numbers_rows))
    return tuple(found)


def _is_constant(values: pl.Series) -> bool:
    return not values.dtype.is_nested() and values.n_unique() - values.has_nulls() < 2


def _numbers_rows(values: pl.Series) -> bool:
    if not (values.dtype.is_integer() or values.dtype == pl.String):
        return False
    numbers = values.cast(pl.Int64, strict=False)
    places = pl.int_range(len(numbers), eager=True)
    return numbers.equals(places) or numbers.equals(places + 1)


def common_written(columns: Sequence[Column]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """How numbers and dates are written: keys of the whole source, and of single columns.

    A key is that of the whole source if all columns that need it agree, and none is written as usual.
    """
    said = [(one, one.written.model_dump(exclude_none=True)) for one in columns if one.written is not None]
    common: dict[str, Any] = {}
    for kind in ("number", "date"):
        of_kind = [keys for one, keys in said if one.kind == kind]
        plain = [one for one in columns if one.kind == kind and one.written is None]
        needed = [one for one in plain if not (kind == "number" and one.is_whole)]
        if of_kind and all(keys == of_kind[0] for keys in of_kind) and not needed:
            common |= of_kind[0]
    single = {one.name: keys for one, keys in said if any(common.get(key) != keys[key] for key in keys)}
    usual = {word for one in columns for word in one.no_values if is_no_value(word)}
    if usual:
        common["null_values"] = sorted(usual)
    for one in columns:
        if any(not is_no_value(word) for word in one.no_values):
            single[one.name] = single.get(one.name, {}) | {"null_values": list(one.no_values)}
    for one in columns:
        if one.bounds:
            single[one.name] = single.get(one.name, {}) | {"bounds": dict(one.bounds)}
    return common, single
