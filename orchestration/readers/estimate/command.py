"""`republish estimate`: how many people meet a condition, from a published folder alone."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow.parquet as pq

from anonymize.errors import PublishedFolderError, QueryError
from orchestration.limits import check
from orchestration.readers.estimate.condition import checked_column, checked_condition, columns_of
from orchestration.readers.estimate.statements import estimate_sql
from orchestration.storage.manifest import DATA_PACKAGE, releases_in, verify_release
from orchestration.storage.store import read_json
from orchestration.unforeseen import named


def estimate(published: Path, where: str = "true", by: str | None = None) -> pl.DataFrame:
    """Estimate how many people meet a condition, in one release or in each of a series.

    Parameters
    ----------
    published
        The folder of a release, or of a series.
    where
        A condition on the published columns, in DuckDB's SQL.
    by
        A column: one row for each of its values.

    Returns
    -------
    polars.DataFrame
        `release`, `split` (the column's value), `people`, `standard_error`, `low`, `high` (made to have the
        truth between them in 95 of 100 cases), `share` (of everybody, or with `by` of all who meet the
        condition), `share_error`. No row where nobody meets the condition.

    Raises
    ------
    PublishedFolderError
        If the folder is not what its manifest says, or has not what an estimate needs.
    QueryError
        If the condition or the column can't be asked for.
    """
    verified, found, values = {}, [], set[str]()
    for folder in releases_in(published):
        with named(folder):
            verified[folder] = verify_release(folder)
            values |= _values(folder)
    for folder, stated in verified.items():
        with named(folder):
            found.append(_estimated(folder, stated, where, by, values))
    return pl.concat(found, how="vertical_relaxed")


def _values(folder: Path) -> set[str]:
    """The sensitive values in a release, if they are text; none if its package does not say where."""
    try:
        name = _package(folder)["republish"]["sensitive"]["name"]
        tables = (folder / f"{table}.parquet" for table in ("sensitive", "microdata"))
        file = next(table for table in tables if table.is_file())
        at = pq.read_schema(file).names.index(name)
    except (KeyError, StopIteration, TypeError, ValueError):
        return set()
    column = pl.read_parquet(file, columns=[at], glob=False, hive_partitioning=False).to_series()
    return set(column.unique().drop_nulls()) if column.dtype == pl.String else set()


def _estimated(
    folder: Path, stated: Mapping[str, Any], where: str, by: str | None, values: Collection[str]
) -> pl.DataFrame:
    package = _package(folder)
    try:
        check(folder / DATA_PACKAGE, "columns", len(package["republish"]["attributes"]))
        for one in package["republish"]["attributes"]:
            check(folder / DATA_PACKAGE, "labels", len(one.get("labels", ())))
        statements, columns = estimate_sql(package), columns_of(package, values)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        raise PublishedFolderError(f"{folder / DATA_PACKAGE}: is not a package of republish's") from None
    if statements is None:
        raise QueryError(
            f"{folder}: has no groups to estimate from; its rows are people under labels, so count them"
        )
    condition = checked_condition(where, columns)
    split = None if by is None else checked_column(by, columns)
    with prepared(folder, statements) as connection:
        _refuse_other_figures(connection, stated, folder)
        return _asked(connection, condition, split, where)


def _refuse_other_figures(
    connection: duckdb.DuckDBPyConnection, stated: Mapping[str, Any], folder: Path
) -> None:
    """Raise PublishedFolderError if the tables are of another release than their manifest says."""
    figures = """
        SELECT count(*), coalesce(sum(size), 0)::BIGINT, coalesce(sum(size - people), 0)::BIGINT,
            count(*) FILTER (release::VARCHAR <> $release)
        FROM estimate_groups
    """
    (found,) = connection.execute(figures, {"release": stated["release"]}).fetchall()
    if found != (stated.get("groups"), stated.get("tuples"), stated.get("counterfeits"), 0):
        raise PublishedFolderError(
            f"{folder}: its tables have other groups, tuples or counterfeits than its manifest states, or are"
            " of another release"
        )


def prepared(folder: Path, statements: str) -> duckdb.DuckDBPyConnection:
    """A connection on which a release's statements were run, and that reaches nothing but what they read.

    Parameters
    ----------
    folder
        The release, or a folder with its tables.
    statements
        What `estimate_sql` returned.

    Raises
    ------
    PublishedFolderError
        If the tables have not the columns that the statements ask for.
    """
    connection = duckdb.connect()
    # DuckDB takes every path for a pattern: what means something in one stands in brackets.
    path = re.sub(r"([*?\[])", r"[\1]", str(folder.absolute()))
    connection.execute("SET VARIABLE folder = $folder", {"folder": path})
    try:
        connection.execute(statements)
    except duckdb.Error as error:
        connection.close()
        raise PublishedFolderError(
            f"{folder}: its tables are not what {DATA_PACKAGE} says: {str(error).splitlines()[0]}"
        ) from None
    # What runs from here on has a researcher's words in it.
    connection.execute("SET enable_external_access = false; SET lock_configuration = true")
    return connection


def _asked(
    connection: duckdb.DuckDBPyConnection, condition: str, split: str | None, where: str
) -> pl.DataFrame:
    one = f"SELECT ({condition}) AS met FROM estimate_people LIMIT 0"  # noqa: S608 - parsed and written anew
    try:
        kind = str(connection.sql(one).types[0])
        if kind != "BOOLEAN":
            raise QueryError(f"--where {where}: is a {kind.lower()}, and must be true or false of a person")
        by = "" if split is None else f", split := {split}"
        return pl.DataFrame(connection.sql(f"FROM estimate({condition}{by})").pl())
    except duckdb.Error as error:
        raise QueryError(f"--where {where}: {str(error).splitlines()[0]}") from None


def _package(folder: Path) -> Mapping[str, Any]:
    package = read_json(folder / DATA_PACKAGE)
    if package is None or "republish" not in package:
        raise PublishedFolderError(
            f"{folder}: has no {DATA_PACKAGE}, which says what domains and labels there are: it was published"
            " by an older version. Take a later release of the series"
        )
    return package
