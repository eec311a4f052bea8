"""Releases of others that a contract names: files of any tool, or folders that republish published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from republish.anonymize.columns import view_column
from republish.anonymize.contract import PreviousRelease, Product
from republish.anonymize.errors import ContractError, PublishedFolderError, SnapshotError
from republish.anonymize.principle.state import PREVIOUS, State
from republish.anonymize.principles import principle_of
from republish.orchestration.contracts.contract_file import ContractFile
from republish.orchestration.snapshots.files import read_file
from republish.orchestration.snapshots.locale_formats import plainly
from republish.orchestration.storage.home import Home
from republish.orchestration.storage.manifest import columns_in, is_release, verify_tables
from republish.orchestration.storage.parts import tables_in


def read_previous(file: ContractFile) -> dict[str, pl.DataFrame]:
    """`previous_0`, …: the releases that a contract names, each with the columns `column_0`, ….

    Raises
    ------
    SnapshotError
        If one can't be read, lacks a column, has one in common that the contract does not list, or two of
        them have one in common that the view lacks.
    ContractError
        If the contract names values that none of them has, or protects less than an earlier view does.
    """
    contract, principle = file.contract, principle_of(file.contract)
    tables, principles, there = {}, [], Counter[str]()
    for position, previous in enumerate(principle.previous(contract)):
        path = file.resolve(previous.path)
        released, stated = _read(path, previous, contract)
        tables[PREVIOUS.format(position=position)] = enter_previous(released, previous, contract)
        principles.append(stated)
        there.update(columns_in(path) if path.is_dir() else released.columns)
    own = {column.name for _, column in contract.attributes()}
    if shared := sorted(name for name, files in there.items() if files > 1 and name not in own):
        raise SnapshotError(
            f"principle.previous: {', '.join(shared)}: {'is' if len(shared) == 1 else 'are'} in more than one"
            " of the previous releases, listed in their columns or not, and not in the view: anybody may join"
            " these releases with each other by it, and the view is joined with each alone. Add it to the"
            " view's columns, or join these releases into one"
        )
    if faults := principle.previous_faults(contract, tables, principles):
        raise ContractError(str(file.path), list(faults))
    return tables


def join_previous(state: State, file: ContractFile) -> tuple[State, dict[str, pl.DataFrame]]:
    """The state a release is built on with the releases that the contract names, and these by themselves.

    If the release before was joined with releases of others, they are in its state.

    Raises SnapshotError if one can't be read, or is not the table that the release before was joined with.
    """
    others = read_previous(file)
    named = principle_of(file.contract).previous(file.contract)
    for (name, table), previous in zip(others.items(), named, strict=True):
        if not state.tables.get(name, table).equals(table):
            raise SnapshotError(
                f"previous release {previous.path} is not the table that the release before was joined with:"
                " put it back, and list what is new after the others under principle.previous"
            )
    return State({**state.tables, **others}), others


def published_here(file: ContractFile, home: Home) -> dict[tuple[str, str], list[str]]:
    """The releases of other products of the same home that a contract names: dates by product and series."""
    published = home.published().resolve()
    found: dict[tuple[str, str], list[str]] = {}
    for previous in principle_of(file.contract).previous(file.contract):
        path = file.resolve(previous.path).resolve()
        parts = path.relative_to(published).parts if path.is_relative_to(published) else ()
        if len(parts) == 3 and parts[0] != file.contract.product:
            found.setdefault(parts[:2], []).append(parts[2])
    return found


def enter_previous(released: pl.DataFrame, previous: PreviousRelease, contract: Product) -> pl.DataFrame:
    """A previous release under our own names of its columns, from a table under the publisher's.

    It is of any tool, with the columns that the contract names; or of republish, with `<name>_low` and
    `<name>_high` in place of a column.

    Raises SnapshotError if a column is missing, or one in common is not declared: adversaries would join by
    it.
    """
    there = set(released.columns)
    undeclared = sorted(
        column.name
        for _, column in contract.attributes()
        if column.name not in previous.columns and _has(there, column.name)
    )
    if undeclared:
        raise SnapshotError(
            f"previous release {previous.path} has {', '.join(undeclared)} in common with the view: add"
            f" {'it' if len(undeclared) == 1 else 'them'} to its columns, for anybody may join by them"
        )
    chosen, missing = [], []
    for position, name in enumerate(previous.columns):
        ours = view_column(position)
        if name in there:
            chosen.append(released[name].alias(ours))
        elif {f"{name}_low", f"{name}_high"} <= there:
            chosen += [released[f"{name}_{end}"].alias(f"{ours}_{end}") for end in ("low", "high")]
        else:
            missing.append(name)
    if missing:
        raise SnapshotError(
            f"previous release {previous.path} lacks {', '.join(missing)}:"
            f" it has {', '.join(released.columns)}"
        )
    return pl.DataFrame(chosen)


def _has(columns: Collection[str], name: str) -> bool:
    """Whether a table has a column, as it is or by one of its ends."""
    return any(one in columns for one in (name, f"{name}_low", f"{name}_high"))


def _read(path: Path, previous: PreviousRelease, contract: Product) -> tuple[pl.DataFrame, Mapping[str, Any]]:
    """A release's table, and the principle that its manifest states: nothing, for a file of any tool."""
    where = f"previous release {previous.path}"
    if path.is_dir():
        return _read_folder(path, previous, where)
    if not path.exists():
        raise SnapshotError(f"{where}: there is no such file or folder ({path})")
    if path.suffix not in (".csv", ".parquet"):
        raise SnapshotError(f"{where}: must be a .csv or .parquet file, or a folder that republish published")
    table, _ = read_file(path, where, separator=previous.separator, encoding=previous.encoding)
    theirs = {found: name for name, found in previous.names.items()}
    if missing := [found for found in theirs if found not in table.columns]:
        raise SnapshotError(f"{where}: names: has no column {missing[0]} (it has {', '.join(table.columns)})")
    if there := [name for name in table.columns if name not in theirs and name in previous.names]:
        raise SnapshotError(
            f"{where}: names: has a column {there[0]}, beside the one that is to be called so: take the line"
            " out, or list the column under another name"
        )
    return plainly(table.rename(theirs), contract, previous), {}


def _read_folder(
    folder: Path, previous: PreviousRelease, where: str
) -> tuple[pl.DataFrame, Mapping[str, Any]]:
    """The one table of a published release that has all the columns, and the release's principle."""
    if not is_release(folder):
        raise SnapshotError(
            f"{where}: is no release that republish published: name the folder of one, which has a manifest"
        )
    try:
        stated = verify_tables(folder)
    except PublishedFolderError as error:
        raise SnapshotError(f"{where}: {error}") from None
    tables = {
        name: pl.concat(read_file(file, where)[0] for file in files)
        for name, files in tables_in(folder).items()
    }
    fitting = [
        table for table in tables.values() if all(_has(table.columns, name) for name in previous.columns)
    ]
    if len(fitting) == 1:
        return fitting[0], stated["principle"]
    columns = "; ".join(f"{name}: {', '.join(table.columns)}" for name, table in tables.items())
    raise SnapshotError(
        f"{where}: {', '.join(previous.columns)} are not the columns of one of its tables ({columns})"
    )
