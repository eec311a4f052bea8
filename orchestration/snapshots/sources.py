"""Snapshots, read column by column from where the contract says they are.

What a database or a file reader says of a failure may quote a person's value, or a password from the
dsn. None of it is passed on but what is known to speak of the query and the server alone.
"""

from __future__ import annotations

import datetime as dt
import re
from contextlib import closing
from importlib import resources
from pathlib import Path
from urllib.parse import urlsplit

import duckdb
import polars as pl
import pyarrow as pa

from anonymize.columns import VALUE
from anonymize.contract import FileSource, QuerySource, Table
from anonymize.errors import SnapshotError
from anonymize.people.values import by_own_names
from orchestration.contracts.contract_file import ContractFile
from orchestration.limits import check
from orchestration.snapshots.conformity import conform, describe_faults, rows_at_fault, snapshot_faults
from orchestration.snapshots.files import check_file, read_file
from orchestration.snapshots.written import plainly

__all__ = ["enter", "read_snapshot", "snapshot_exists", "snapshot_faults"]

CONNECT_SECONDS = 10


def read_snapshot(contract_file: ContractFile, release: str) -> pl.DataFrame:
    """The table of people as it is at a release.

    Parameters
    ----------
    contract_file
        The contract, and where it lies: paths in it are relative to it.
    release
        The release's date, `2024-01-01`.

    Returns
    -------
    polars.DataFrame
        `identifier`, `qi_0`, `qi_1`, …, `value` (of a view `identifier`, `column_0`, …), one row for each
        person: the identifier as the source has it, attributes of their own type, the value String or
        Int64. No rows if there are no people.

    Raises
    ------
    SnapshotError
        If it is missing, can't be read, or breaks the contract: every fault with its column, count and
        way out; no identifier and no value of a person.
    """
    contract = contract_file.contract
    where = _where(contract_file, release)
    source, present = _read(contract_file, release, where)
    snapshot = enter(source, contract)
    faults = [*_merged(source, contract), *describe_faults(snapshot, contract, present)]
    if faults:
        raise _refusal(where, faults, rows_at_fault(snapshot, contract), snapshot)
    return conform(snapshot, contract)


def _refusal(where: str, faults: list[str], rows: pl.DataFrame, table: pl.DataFrame) -> SnapshotError:
    lines = "\n  ".join(faults)
    several = f"{len(faults)} faults in the snapshot\n  " if len(faults) > 1 else ""
    return SnapshotError(f"{where}: {several}{lines}", rows=rows if rows.height else None, table=table)


def _merged(source: pl.DataFrame, schema: Table) -> list[str]:
    """The faults of a source that has a renamed value under both names: two values would become one."""
    if schema.sensitive is None or schema.sensitive.name not in source.columns:
        return []
    column = schema.sensitive.name
    counts = dict(source[column].cast(pl.String, strict=False).value_counts().iter_rows())
    renamed = schema.sensitive.renamed
    return [
        f"{column}: {counts[own]:,} rows have {own}, and {counts[now]:,} have {now}, its new name by"
        f" sensitive.renamed: write {now} for all of them in the source, or take the line out if they are two"
        " values"
        for own, now in renamed.items()
        if own in counts and now in counts and own not in renamed.values()
    ]


def enter(source: pl.DataFrame, schema: Table) -> pl.DataFrame:
    """The schema's columns under our own names. No name of the publisher's is used inside.

    Parameters
    ----------
    source
        A table as a source has it. Columns that the schema does not name are left out; of those that it
        names, any may be missing.
    schema
        The columns and their roles.
    """
    named = {ours: name for ours, name in schema.column_names().items() if name in source.columns}
    entered = pl.DataFrame([source[name].alias(ours) for ours, name in named.items()])
    if schema.sensitive is None or not schema.sensitive.renamed or VALUE not in entered.columns:
        return entered
    return entered.with_columns(by_own_names(pl.col(VALUE), schema.sensitive))


def snapshot_exists(contract_file: ContractFile, release: str) -> bool:
    """Whether a release's snapshot has arrived: a file that isn't empty, a query that answers with a row.

    Raises
    ------
    SnapshotError
        If the source is a query that fails, or a server that isn't there.
    """
    source = contract_file.contract.source
    if isinstance(source, FileSource):
        file = _snapshot_file(contract_file, source, release)
        # What is there and no file (a folder, say) will never be one: reading it says so.
        return file.exists() and (not file.is_file() or file.stat().st_size > 0)
    if _is_duckdb(source) and not _database_file(contract_file, source).is_file():
        return False
    any_row = resources.files("sql").joinpath("select_any_row.sql").read_text()
    query = any_row.replace("{query}", source.query.rstrip().rstrip(";"))
    where = _where(contract_file, release)
    answer, _ = _answer(contract_file, source, query, release, ["any_row"], where)
    return answer.height > 0


def place(contract_file: ContractFile, release: str) -> str:
    """Where a release's snapshot is looked for: a file, or a server without user and password."""
    source = contract_file.contract.source
    if isinstance(source, FileSource):
        return str(_snapshot_file(contract_file, source, release))
    return str(_database_file(contract_file, source)) if _is_duckdb(source) else _server(source.dsn)


def _where(contract_file: ContractFile, release: str) -> str:
    """What a message begins with: product, release and source."""
    return f"{contract_file.contract.product}, release {release}, {place(contract_file, release)}"


def _read(contract_file: ContractFile, release: str, where: str) -> tuple[pl.DataFrame, list[str]]:
    """Those of the contract's columns that the source has, as it has them, and the names of all it has."""
    contract = contract_file.contract
    source, names = contract.source, list(contract.column_names().values())
    if isinstance(source, QuerySource):
        return _answer(contract_file, source, source.query, release, names, where)
    return read_as_declared(_snapshot_file(contract_file, source, release), contract, source, where)


def read_as_declared(
    file: Path, schema: Table, source: FileSource, where: str
) -> tuple[pl.DataFrame, list[str]]:
    """Those of the schema's columns that a file has, read as the source is written, and the names of all."""
    names = schema.column_names().values()
    table, present = read_file(file, where, names, separator=source.separator, encoding=source.encoding)
    return plainly(table, schema, source, where), present


def _snapshot_file(contract_file: ContractFile, source: FileSource, release: str) -> Path:
    return contract_file.resolve(source.path.replace("{release}", release))


# ---- databases


def _answer(
    contract_file: ContractFile, source: QuerySource, query: str, release: str, columns: list[str], where: str
) -> tuple[pl.DataFrame, list[str]]:
    """What a database answers to a query: those of the columns that it has, and the names of all."""
    release_date = dt.date.fromisoformat(release)
    if _is_duckdb(source):
        answer = _ask_duckdb(_database_file(contract_file, source), query, release_date, where)
    else:
        answer = _ask_postgresql(source.dsn, query, release_date, where)
    return _to_polars(answer, columns, where), list(answer.column_names)


_SKIPPED = r"""[eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*" | \$(?P<tag>\w*)\$.*?\$(?P=tag)\$
               | --[^\n]* | /\*.*?\*/ | ::"""
_PARAMETER = re.compile(rf"(?P<skipped>{_SKIPPED}) | :release\b", re.VERBOSE | re.DOTALL)


def _bind(query: str, parameter: str) -> tuple[str, bool]:
    """The query with `:release` as a parameter of type date, and whether there is one in it.

    Text, quoted names, comments and casts (`::release`) are left as they are.
    """
    bound = f"CAST({parameter} AS DATE)"
    changed = _PARAMETER.sub(lambda found: found["skipped"] or bound, query)
    return changed, changed != query


def _is_duckdb(source: QuerySource) -> bool:
    return source.dsn.startswith("duckdb:")


def _database_file(contract_file: ContractFile, source: QuerySource) -> Path:
    return contract_file.resolve(source.dsn.removeprefix("duckdb:///"))


def _ask_duckdb(file: Path, query: str, release: dt.date, where: str) -> pa.Table:
    check_file(file, where)
    bound, has_release = _bind(query, "$release")
    try:
        with closing(duckdb.connect(file, read_only=True)) as connection:
            is_one = len(connection.extract_statements(bound)) == 1
            answer = connection.sql(bound, params={"release": release} if has_release else None)
            if is_one and answer is not None:
                return answer.to_arrow_table()
            reason = "the query must be one SELECT; correct source.query in the contract"
    except duckdb.Error as error:
        reason = _duckdb_reason(error)
    # Here, and not above: an error that is chained to the driver's is printed with what the driver said.
    raise SnapshotError(f"{where}: {reason}")


def _ask_postgresql(dsn: str, query: str, release: dt.date, where: str) -> pa.Table:
    import adbc_driver_postgresql.dbapi as postgresql  # noqa: PLC0415 - only who has a server waits for it

    bound, has_release = _bind(query, "$1")
    separator = "&" if "?" in dsn else "?"
    address = dsn if "connect_timeout=" in dsn else f"{dsn}{separator}connect_timeout={CONNECT_SECONDS}"
    try:
        with closing(postgresql.connect(address)) as connection, connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")
            cursor.execute(bound, parameters=(release,) if has_release else None)
            return cursor.fetch_arrow_table()
    except postgresql.Error as error:
        reason = _postgresql_reason(str(error), error.sqlstate or "")
    raise SnapshotError(f"{where}: {reason}")


def _to_polars(answer: pa.Table, columns: list[str], where: str) -> pl.DataFrame:
    """Those of the columns that an answer has; decimals and identifiers of PostgreSQL's own as text."""
    check(where, "rows", answer.num_rows)
    present = [column for column in columns if column in answer.column_names]
    if twice := [column for column in present if answer.column_names.count(column) > 1]:
        raise SnapshotError(f"{where}: the query answers with {twice[0]} twice; name its columns one by one")
    plain = {column: _plain(answer[column]) for column in present}
    frame = pl.DataFrame(plain)
    return frame.with_columns(_uuid_text(column) for column in present if _is_uuid(answer[column].type))


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of a type that Arrow knows; PostgreSQL's numeric arrives as text."""
    return column.cast(column.type.storage_type) if isinstance(column.type, pa.BaseExtensionType) else column


def _is_uuid(dtype: pa.DataType) -> bool:
    return isinstance(dtype, pa.UuidType)


def _uuid_text(column: str) -> pl.Expr:
    """The 16 bytes of a UUID as they are written elsewhere: 8-4-4-4-12 hexadecimal digits."""
    digits = pl.col(column).bin.encode("hex")
    parts = [
        digits.str.slice(start, length) for start, length in ((0, 8), (8, 4), (12, 4), (16, 4), (20, 12))
    ]
    return pl.concat_str(parts, separator="-").alias(column)


# ---- what may be said of a database's failure


def _server(dsn: str) -> str:
    """Where a PostgreSQL database is, without user, password and options."""
    try:
        parts = urlsplit(dsn)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "postgresql://…"
    if "@" in parts.path:  # a password with a slash in it would be taken for the path
        return "postgresql://…"
    return f"postgresql://{host}{f':{port}' if port else ''}{parts.path}"


# What is said of these speaks of the query's own words and of names in the database, never of a value.
_OF_THE_QUERY = (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException)


def _duckdb_reason(error: duckdb.Error) -> str:
    said = str(error).splitlines()[0]
    if isinstance(error, _OF_THE_QUERY):
        return f"the query fails: {said}; correct source.query in the contract"
    if isinstance(error, duckdb.ConnectionException) or "lock" in said.lower():
        return "is open elsewhere for writing; try again when that is done"
    if isinstance(error, duckdb.IOException):
        return "is no DuckDB file that can be read, or a part of one; deliver it again"
    return f"the query fails ({type(error).__name__}); try it on the database, and correct source.query"


def _postgresql_reason(said: str, state: str) -> str:
    if "Failed to connect" in said:
        # The rest may quote the dsn, and with it the password.
        refused = re.search(r"failed: (?:FATAL: +)?([^\n]*)", said)
        unknown = "could not translate host name" in said
        reason = (
            refused[1] if refused else "no such host" if unknown else "the dsn is no address that can be used"
        )
        return f"no connection to the database: {reason}; correct source.dsn, or try again when it is there"
    if state.startswith("42"):  # syntax, or a name that isn't there
        reason = re.search(r"ERROR: +([^\n]*)", said)
        return f"the query fails: {reason[1] if reason else state}; correct source.query in the contract"
    if state == "25006":
        return "the query would change the database; it must be one SELECT"
    return (
        f"the query fails (SQLSTATE {state or 'unknown'}); try it on the database, and correct source.query"
    )
