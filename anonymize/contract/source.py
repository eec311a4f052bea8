"""The source of a contract's snapshots, and the dates of its releases."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from typing import Any, Literal, Self
from urllib.parse import unquote

from pydantic import Field, StrictStr, field_validator, model_validator

from anonymize.contract.scalars import Date, Declaration, Label, shown

DATE_PARTS = ("%d", "%m", "%Y")
TIME_PARTS = ("%H", "%M", "%S", "%f")
NOT_FOR_TABLES = ("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7")


class Written(Declaration):
    """How a column is written where it is text: in every column of a CSV file, say."""

    decimal: Literal[".", ","] | None = None
    """Before the decimals of a number; `,` where `.` stands between thousands, and `.` else."""
    thousands: Literal[".", ",", " ", "'"] | None = None
    """Between the thousands of a number."""
    date_format: StrictStr | None = None
    """How a date is written, `%d.%m.%Y` say: day, month, year, and %H:%M:%S for a midnight."""
    null_values: tuple[StrictStr, ...] | None = None
    """What stands for a value that is missing."""

    @field_validator("date_format")
    @classmethod
    def _check_date_format(cls, date_format: str | None) -> str | None:
        if date_format is None:
            return None
        parts = re.findall("%.", date_format)
        if sorted(part for part in parts if part not in TIME_PARTS) != sorted(DATE_PARTS):
            raise ValueError(
                f"must have %d, %m and %Y once each, as in %d.%m.%Y, and may have %H, %M and %S,"
                f" not {shown(date_format)}"
            )
        return date_format

    @model_validator(mode="after")
    def _check_number(self) -> Self:
        if self.decimal is not None and self.decimal == self.thousands:
            raise ValueError(
                f"decimal and thousands are the same sign, {shown(self.decimal)}: "
                "write another one for one of them"
            )
        return self


class FileSource(Written):
    """Snapshots that arrive as files."""

    path: StrictStr
    """A .parquet or .csv file for each release, with `{release}` in its name; relative to the contract."""
    separator: StrictStr = ","
    """Between the columns of a CSV file: one letter."""
    encoding: StrictStr = "utf-8"
    """How the letters of a CSV file are written: utf-8, utf-16, latin-1, cp1252, …"""
    columns: dict[Label, Written] = Field(default_factory=dict)
    """Columns that are written in another way than the rest."""

    def written(self, column: str) -> Written:
        """How one column is written: as is said of it, and else as is said of all."""
        common = self.model_dump(include=set(Written.model_fields), exclude_none=True)
        own = self.columns.get(column, Written()).model_dump(exclude_none=True)
        return Written(**common | own)

    @model_validator(mode="after")
    def _check_columns(self) -> Self:
        for column in self.columns:
            self.written(column)
        return self

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

    @field_validator("encoding")
    @classmethod
    def _check_encoding(cls, encoding: str) -> str:
        try:
            name = codecs.lookup(encoding).name
            "".encode(name)  # raises LookupError if its input is no text
        except (LookupError, UnicodeError, ValueError):
            name = ""
        if not name or name.replace("_", "-") in NOT_FOR_TABLES:
            raise ValueError(
                f"{shown(encoding)} is no encoding that is known; usual ones are utf-8, utf-16, latin-1,"
                " cp1252"
            )
        return encoding


class QuerySource(Declaration):
    """Snapshots that a database answers with."""

    dsn: StrictStr
    """`duckdb:///file` (relative to the contract) or `postgresql://user@host/database`, and no password."""
    query: StrictStr
    """One SELECT; `:release` in it stands for the release's date."""

    @field_validator("dsn")
    @classmethod
    def _check_dsn(cls, dsn: str) -> str:
        if not dsn.startswith(("duckdb:///", "postgresql://")):
            raise ValueError("must start with duckdb:/// or postgresql://")
        if _has_password(dsn):
            # A manifest states the SHA-256 of the contract: whoever has the rest of it could try passwords.
            raise ValueError(
                "has a password in it, and contracts are read by others: leave it out, and give it in"
                " PGPASSWORD, ~/.pgpass or a service file of PostgreSQL. A series that has begun goes on;"
                " from its next release, contract_sha256 is another one. If the contract was given"
                " away, change the password"
            )
        return dsn


def _has_password(dsn: str) -> bool:
    """Whether an address has a password, before its @ or among its parameters, however it is written."""
    address, _, parameters = dsn.partition("?")
    user = address.partition("://")[2].rpartition("@")[0]
    named = {unquote(one.partition("=")[0]).strip().lower() for one in re.split("[&;?]", parameters)}
    return ":" in user or any("password" in name or "secret" in name for name in named)


class Releases(Declaration):
    """When releases are due."""

    first: Date
    """The date of the first release."""
    cron: StrictStr | None = None
    """The schedule; each tick from `first` on is a release, named by its date. Without it, there is one."""


def is_query(source: Any) -> bool:
    """Whether a source is a query: one with a dsn or a query, so that faults are told of one kind alone."""
    return isinstance(source, Mapping) and bool({"dsn", "query"} & set(source))
