"""Snapshots, read column by column from where the contract says they are.

What a database or a file reader says of a failure may quote a person's value, or a password from the
dsn. None of it is passed on but what is known to speak of the query and the server alone.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import duckdb
import polars as pl

from anonymize.contract import Contract, FileSource, QuerySource
from anonymize.errors import SnapshotError
from orchestration.conformity import conform, describe_faults, snapshot_faults
from orchestration.contract_file import ContractFile

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["read_snapshot", "snapshot_exists", "snapshot_faults"]

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
        The contract's columns, one row for each person: the identifier as the source has it, quasi-identifiers
        of their attribute's type, the sensitive column String or Int64. No rows if there are no people.

    Raises
    ------
    SnapshotError
        If it is missing, can't be read, or breaks the contract: every fault with its column, count and
        way out; no identifier and no value of a person.
    """
    contract = contract_file.contract
    where = _where(contract_file, release)
    snapshot = _read(contract_file, release, where)
    faults = describe_faults(snapshot, contract)
    if len(faults) == 1:
        raise SnapshotError(f"{where}: {faults[0]}")
    if faults:
        lines = "\n  ".join(faults)
        raise SnapshotError(f"{where}: {len(faults)} faults in the snapshot\n  {lines}")
    return conform(snapshot, contract)


def snapshot_exists(contract_file: ContractFile, release: str) -> bool:
    """Whether a release's snapshot has arrived: a file that isn't empty, a query that answers with a row.

    Raises
    ------
    SnapshotError
        If the source is a query that fails, or a server that isn't there.
    """
    source = contract_file.contract.source
    if isinstance(source, FileSource):
        file = _snapshot_file(contract_file, release)
        return file.is_file() and file.stat().st_size > 0
    if _is_duckdb(source) and not _database_file(contract_file).is_file():
        return False
    any_row = resources.files("sql").joinpath("select_any_row.sql").read_text()
    query = any_row.replace("{query}", source.query.rstrip().rstrip(";"))
    where = _where(contract_file, release)
    return _answer(contract_file, query, release, ["1"], where).height > 0


def _where(contract_file: ContractFile, release: str) -> str:
    """What a message begins with: product, release and source."""
    source = contract_file.contract.source
    if isinstance(source, FileSource):
        place = str(_snapshot_file(contract_file, release))
    elif _is_duckdb(source):
        place = str(_database_file(contract_file))
    else:
        place = _server(source.dsn)
    return f"{contract_file.contract.product}, release {release}, {place}"


def _read(contract_file: ContractFile, release: str, where: str) -> pl.DataFrame:
    """Those of the contract's columns that the source has, as it has them."""
    contract = contract_file.contract
    if isinstance(contract.source, QuerySource):
        return _answer(contract_file, contract.source.query, release, contract.columns, where)
    file = _snapshot_file(contract_file, release)
    _check_file(file, where)
    try:
        return (_read_parquet if file.suffix == ".parquet" else _read_csv)(file, contract, where)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        kind = "Parquet" if file.suffix == ".parquet" else "CSV"
    raise SnapshotError(f"{where}: is no {kind} file that can be read, or a part of one; deliver it again")


# ---- files


def _snapshot_file(contract_file: ContractFile, release: str) -> Path:
    return contract_file.resolve(contract_file.contract.source.path.replace("{release}", release))


def _check_file(file: Path, where: str) -> None:
    if not file.exists():
        raise SnapshotError(
            f"{where}: there is no such file; deliver the snapshot, or correct source.path in the contract"
        )
    if not file.is_file():
        raise SnapshotError(f"{where}: is no file; correct source.path in the contract")
    try:
        size = file.stat().st_size
        file.open("rb").close()
    except OSError as error:
        raise SnapshotError(f"{where}: can't be read: {error.strerror}") from None
    if not size:
        raise SnapshotError(f"{where}: is empty; deliver it again")


def _read_parquet(file: Path, contract: Contract, _where: str) -> pl.DataFrame:
    present = pl.read_parquet_schema(file)
    columns = [column for column in contract.columns if column in present]
    return pl.read_parquet(file, columns=columns, glob=False, hive_partitioning=False)


def _read_csv(file: Path, contract: Contract, where: str) -> pl.DataFrame:
    """Every column as text: an identifier's leading zeros are a part of it."""
    header = pl.read_csv(file, infer_schema=False, n_rows=0, glob=False).columns
    columns = [column for column in contract.columns if column in header]
    if twice := [column for column in columns if f"{column}_duplicated_0" in header]:
        raise SnapshotError(f"{where}: the column {twice[0]} is in the header twice; rename one in the source")
    return pl.read_csv(file, infer_schema=False, columns=columns, glob=False).select(columns)


# ---- databases


def _answer(
    contract_file: ContractFile, query: str, release: str, columns: list[str], where: str
) -> pl.DataFrame:
    """What a database answers to a query: those of the columns that it has."""
    release_date = dt.date.fromisoformat(release)
    if _is_duckdb(contract_file.contract.source):
        return _ask_duckdb(_database_file(contract_file), query, release_date, columns, where)
    return _ask_postgresql(contract_file.contract.source.dsn, query, release_date, columns, where)


_SKIPPED = r"""[eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*" | \$(\w*)\$.*?\$\1\$
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


def _database_file(contract_file: ContractFile) -> Path:
    return contract_file.resolve(contract_file.contract.source.dsn.removeprefix("duckdb:///"))


def _ask_duckdb(file: Path, query: str, release: dt.date, columns: list[str], where: str) -> pl.DataFrame:
    _check_file(file, where)
    bound, has_release = _bind(query, "$release")
    with _told(where), closing(duckdb.connect(file, read_only=True)) as connection:
        if len(connection.extract_statements(bound)) != 1:
            raise SnapshotError(f"{where}: the query must be one SELECT")
        answer = connection.sql(bound, params={"release": release} if has_release else None)
        if answer is None:
            raise SnapshotError(f"{where}: the query must be one SELECT")
        present = [column for column in columns if column in answer.columns]
        _check_unique(answer.columns, present, where)
        if not present:
            return pl.DataFrame()
        return answer.select(*map(duckdb.ColumnExpression, present)).pl()
    raise AssertionError


def _ask_postgresql(dsn: str, query: str, release: dt.date, columns: list[str], where: str) -> pl.DataFrame:
    import adbc_driver_postgresql.dbapi as postgresql  # noqa: PLC0415 - only who has a server needs it

    bound, has_release = _bind(query, "$1")
    separator = "&" if "?" in dsn else "?"
    address = dsn if "connect_timeout=" in dsn else f"{dsn}{separator}connect_timeout={CONNECT_SECONDS}"
    with _told(where), closing(postgresql.connect(address)) as connection, connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION READ ONLY")
        cursor.execute(bound, parameters=(release,) if has_release else None)
        answer = cursor.fetch_arrow_table()
    present = [column for column in columns if column in answer.column_names]
    _check_unique(answer.column_names, present, where)
    return _to_polars(answer.select(present))
