"""Where the snapshots of a contract come from, and when releases are due."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import StrictStr, field_validator

from anonymize.contract.scalars import Date, Declaration, shown


class FileSource(Declaration):
    """Snapshots that arrive as files."""

    path: StrictStr
    """A .parquet or .csv file for each release, with `{release}` in its name; relative to the contract."""
    separator: StrictStr = ","
    """Between the columns of a CSV file: one letter."""
    encoding: Literal["utf-8", "utf-16", "latin-1", "windows-1252"] = "utf-8"
    """How a CSV file is written."""

    @field_validator("path")
    @classmethod
    def _check_path(cls, path: str) -> str:
        if "{release}" not in path:
            raise ValueError("needs {release} in it: each release has a snapshot of its own")
        if not path.endswith((".parquet", ".csv")):
            raise ValueError("must end in .parquet or .csv")
        return path

    @field_validator("separator")
    @classmethod
    def _check_separator(cls, separator: str) -> str:
        if len(separator.encode()) != 1 or separator in '"\r\n':
            raise ValueError(f"must be one letter, no quotation mark and no line end, not {shown(separator)}")
        return separator


class QuerySource(Declaration):
    """Snapshots that a database answers with."""

    dsn: StrictStr
    """`duckdb:///file` (relative to the contract) or `postgresql://user@host/database`."""
    query: StrictStr
    """One SELECT; `:release` in it stands for the release's date."""

    @field_validator("dsn")
    @classmethod
    def _check_dsn(cls, dsn: str) -> str:
        if not dsn.startswith(("duckdb:///", "postgresql://")):
            raise ValueError("must start with duckdb:/// or postgresql://")
        return dsn


class Releases(Declaration):
    """When releases are due."""

    first: Date
    """The date of the first release."""
    cron: StrictStr | None = None
    """The schedule; each tick from `first` on is a release, named by its date. Without it, there is one."""


def is_query(source: Any) -> bool:
    """Whether a source is a query: one with a dsn or a query, so that faults are told of one kind alone."""
    return isinstance(source, Mapping) and bool({"dsn", "query"} & set(source))
