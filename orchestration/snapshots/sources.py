"""Snapshots, read column by column from where the contract says they are."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import polars as pl

from anonymize.columns import VALUE
from anonymize.contract import FileSource, QuerySource, Table
from anonymize.errors import SnapshotError
from anonymize.people.values import by_own_names
from orchestration.contracts.contract_file import ContractFile
from orchestration.snapshots.conformity import conform, describe_faults, rows_at_fault, snapshot_faults
from orchestration.snapshots.databases import ask, database_file, place_of
from orchestration.snapshots.files import read_file
from orchestration.snapshots.written import plainly

__all__ = ["enter", "read_snapshot", "snapshot_exists", "snapshot_faults"]


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
    database = database_file(source, contract_file.path.parent)
    if database is not None and not database.is_file():
        return False
    any_row = resources.files("sql").joinpath("select_any_row.sql").read_text()
    query = any_row.replace("{query}", source.query.rstrip().rstrip(";"))
    where = _where(contract_file, release)
    answer, _ = ask(source, query, release, ["any_row"], contract_file.path.parent, where)
    return answer.height > 0


def place(contract_file: ContractFile, release: str) -> str:
    """Where a release's snapshot is looked for: a file, or a server without user and password."""
    source = contract_file.contract.source
    if isinstance(source, FileSource):
        return str(_snapshot_file(contract_file, source, release))
    return place_of(source, contract_file.path.parent)


def _where(contract_file: ContractFile, release: str) -> str:
    """What a message begins with: product, release and source."""
    return f"{contract_file.contract.product}, release {release}, {place(contract_file, release)}"


def _read(contract_file: ContractFile, release: str, where: str) -> tuple[pl.DataFrame, list[str]]:
    """Those of the contract's columns that the source has, as it has them, and the names of all it has."""
    contract = contract_file.contract
    source, names = contract.source, list(contract.column_names().values())
    if isinstance(source, QuerySource):
        return ask(source, source.query, release, names, contract_file.path.parent, where)
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
