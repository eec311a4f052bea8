"""The source of a contract's snapshots, and the dates of its releases."""

from __future__ import annotations

import codecs
import datetime as dt
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, Literal, Self
from urllib.parse import unquote

import polars as pl
from pydantic import ConfigDict, Field, StrictBool, StrictInt, StrictStr, field_validator, model_validator

from republish.anonymize.contract.scalars import (
    RELEASE,
    Date,
    Declaration,
    Label,
    Number,
    check_releases,
    read_date,
    repeated,
    shown,
)

DATE_PARTS = ("%d", "%m", "%Y")
TIME_PARTS = ("%H", "%M", "%S", "%f")
NOT_FOR_TABLES = ("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7")
CSV = tuple(f".{kind}{packed}" for kind in ("csv", "tsv") for packed in ("", ".gz", ".zst"))
"""Endings of text files, as they are or compressed; a .tsv has tabs between its columns."""
LABELLED = (".sas7bdat", ".sav", ".dta", ".por")
"""Endings of files whose codes may have labels."""
WORKBOOK = ".xlsx"
TYPED = (".parquet", WORKBOOK, *LABELLED, ".xpt")
"""Endings of files whose columns have types."""
FIXED_WIDTH = (".dat", ".txt", ".asc", ".fwf", ".prn")
"""Endings of text files without separators: what stands where is declared (`widths`)."""
EACH_FILE = tuple(f"*{ending}" for ending in (*TYPED, *CSV, *FIXED_WIDTH))
"""In place of a file's name: every file of the folder that ends so."""
DATE = re.compile(r"\{release(?::([^{}]*))?\}")
"""Where the release's date stands in a path, and how: as YYYY-MM-DD, or as `{release:%Y%m}` says."""
QUARTER = "%q"
"""The quarter of a date, 1 to 4: beside the codes of `strftime`, which has none for it."""
SCHEDULES = {
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 1",
    "@monthly": "0 0 1 * *",
    "@quarterly": "0 0 1 */3 *",
    "@halfyearly": "0 0 1 1,7 *",
    "@yearly": "0 0 1 1 *",
}
"""Words for schedules, and what they stand for: the first day of the period, at midnight."""
STORES = ("s3", "gs", "az")
"""Object stores: of Amazon and others who speak its language, of Google, of Azure."""
NO_DATABASE = "duckdb:"
"""The dsn of a query that reads files, and no database."""
DATABASE_FILES = ("duckdb:///", "sqlite:///")
"""How the dsn of a database that is a file begins."""
FORMATS = ("delta", "iceberg")
"""Table formats that keep earlier versions."""


def _is_none(declared: Any) -> bool:
    return declared is None


class Written(Declaration):
    """How a column is written where it is text: in every column of a CSV file, say."""

    decimal: Literal[".", ","] | None = Field(default=None, exclude_if=_is_none)
    """Before the decimals of a number; `,` where `.` stands between thousands, and `.` else."""
    thousands: Literal[".", ",", " ", "'"] | None = Field(default=None, exclude_if=_is_none)
    """Between the thousands of a number."""
    date_format: StrictStr | None = Field(default=None, exclude_if=_is_none)
    """How a date is written, `%d.%m.%Y` say: day, month, year, and %H:%M:%S for a midnight."""
    null_values: tuple[StrictStr, ...] | None = Field(default=None, exclude_if=_is_none)
    """What stands for a value that is missing."""
    bounds: dict[StrictStr, Number] | None = Field(default=None, exclude_if=lambda words: words is None)
    """What stands among numbers for all beyond one, and the number that it is read as."""
    zone: StrictStr | None = Field(default=None, exclude_if=_is_none)
    """The time zone whose midnights are dates, of moments in UTC: `Europe/Berlin`."""

    @field_validator("zone")
    @classmethod
    def _check_zone(cls, zone: str | None) -> str | None:
        try:
            pl.Series([dt.datetime(2000, 1, 1, tzinfo=dt.UTC)], dtype=pl.Datetime(time_zone=zone))
        except pl.exceptions.PolarsError:
            raise ValueError(f"{shown(zone)} is no time zone that is known: Europe/Berlin is one") from None
        return zone

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


class Dialect(Written):
    """How a file of another program is written: the same keys wherever one is read."""

    separator: StrictStr = Field(default=",", exclude_if=lambda separator: separator == ",")
    """Between the columns of a CSV file: one letter. Of a .tsv file, a tab."""
    encoding: StrictStr = Field(default="utf-8", exclude_if=lambda encoding: encoding == "utf-8")
    """How the letters of a CSV file are written: utf-8, utf-16, latin-1, cp1252, …"""

    def written(self, _column: str) -> Written:
        """The way in which one column is written."""
        return Written(**self.model_dump(include=set(Written.model_fields)))

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


class FileSource(Dialect):
    """Snapshots that arrive as files."""

    path: StrictStr
    """A file for each release (`.parquet`, `.csv`, …), or a folder of them (`{release}/*.parquet`); relative
    to the contract, or in an object store. `{release:%Y%m}` writes the date in another way; `%q` is its
    quarter."""
    columns: dict[Label, Written] = Field(default_factory=dict)
    """Columns that are written in another way than the rest."""
    names: dict[Label, Label] = Field(default_factory=dict, exclude_if=lambda names: not names)
    """What the source calls columns of the contract that have another name there. Not for files of statistics
    programs."""
    where: dict[Label, StrictStr] = Field(default_factory=dict, exclude_if=lambda where: not where)
    """Of a file with the rows of several releases: by column, what a release's own rows have there.
    `{release}` is the date, as in a path."""
    final_newline: StrictBool = Field(default=True, exclude_if=lambda is_there: is_there)
    """Whether a CSV file without a line end after its last line is refused."""
    widths: dict[Label, StrictStr] = Field(default_factory=dict, exclude_if=lambda widths: not widths)
    """Of a text file without separators, from which letter of a line to which each column is."""
    sheet: StrictStr | None = Field(default=None, exclude_if=_is_none)
    """The sheet of a workbook that is read, by its name; the first without it."""
    header_row: Annotated[StrictInt, Field(ge=1)] | None = Field(default=None, exclude_if=_is_none)
    """The row of a workbook's sheet that has the headings, counted from 1; without it, the first that has
    anything."""
    labels: StrictBool = Field(default=False, exclude_if=lambda is_read: not is_read)
    """Whether the labels of a statistics file are read in place of its codes, in categories and sensitive
    columns."""

    def written(self, column: str) -> Written:
        """The way in which one column is written: as is said of it, and else as is said of all."""
        common, own = super().written(column), self.columns.get(column, Written())
        return Written(**common.model_dump() | own.model_dump())

    @model_validator(mode="after")
    def _check_columns(self) -> Self:
        for column in self.columns:
            self.written(column)
        return self

    def at(self, release: str) -> str:
        """The path of a release, with its date filled in.

        Examples
        --------
        >>> FileSource(path="{release:%Y}/patients_{release:%m%d}.csv").at("2024-07-01")
        '2024/patients_0701.csv'
        """
        return _dated(self.path, release)

    def of(self, release: str) -> dict[str, str]:
        """By column, the value that tells a release's rows from the others of its file.

        Examples
        --------
        >>> FileSource(path="panel.dta", where={"year": "{release:%y}"}).of("1968-07-01")
        {'year': '68'}
        """
        return {column: _dated(value, release) for column, value in self.where.items()}

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        if self.names and self.path.endswith((*LABELLED, ".xpt")):
            raise ValueError("names: are for text, Parquet and workbooks; rename the columns in that program")
        if twice := repeated([*self.names.values()]):
            raise ValueError(f"names: {twice} is the name of two columns of the contract")
        return self

    @model_validator(mode="after")
    def _check_widths(self) -> Self:
        has_none = self.path.endswith(FIXED_WIDTH)
        if self.widths and not has_none:
            raise ValueError(
                f"widths: are of files that end in {', '.join(FIXED_WIDTH)} alone: leave them out"
            )
        if has_none and not self.widths:
            raise ValueError(
                "path: nothing says which letters of a line are which column: write widths: {person: 1-6,"
                " age: 7-9}; if something stands between columns, call the file .csv and say it as separator"
            )
        self.places()
        return self

    def places(self) -> dict[str, tuple[int, int]]:
        """Of a file without separators, where each column begins in a line, from 0 on, and its letters.

        Raises ValueError if a place is not written as 7-9 is, or ends before it begins.

        Examples
        --------
        >>> FileSource(path="people.dat", widths={"person": "1-6", "sex": "10-10"}).places()
        {'person': (0, 6), 'sex': (9, 1)}
        """
        found = {}
        for name, said in self.widths.items():
            match = re.fullmatch(r"([1-9]\d{0,5})-([1-9]\d{0,5})", said)
            first, last = map(int, match.groups()) if match else (1, 0)
            if last < first:
                raise ValueError(
                    f"widths: {name}: must be from which letter to which, 7-9, not {shown(said)}"
                )
            found[name] = (first - 1, last - first + 1)
        return found

    @model_validator(mode="after")
    def _check_sheet(self) -> Self:
        for key in ("sheet", "header_row"):
            if getattr(self, key) is not None and not self.path.endswith(WORKBOOK):
                raise ValueError(f"{key}: is of files that end in {WORKBOOK} alone: leave it out")
        return self

    @model_validator(mode="after")
    def _check_labels(self) -> Self:
        if self.labels and not self.path.endswith(LABELLED):
            raise ValueError(f"labels are in files that end in {', '.join(LABELLED)} alone: leave it out")
        return self

    @property
    def names_release(self) -> bool:
        """Whether another release has another path, or other rows."""
        return any(DATE.search(one) is not None for one in (self.path, *self.where.values()))

    @model_validator(mode="before")
    @classmethod
    def _with_tabs(cls, declared: Any) -> Any:
        path = declared.get("path") if isinstance(declared, Mapping) else None
        is_tsv = isinstance(path, str) and path.endswith(CSV[len(CSV) // 2 :])
        return {"separator": "\t", **declared} if is_tsv else declared

    @field_validator("path")
    @classmethod
    def _check_path(cls, path: str) -> str:
        if not path.endswith((*TYPED, *CSV, *FIXED_WIDTH)):
            raise ValueError(f"must end in {', '.join((*TYPED, *CSV, *FIXED_WIDTH))}")
        _check_dates(path)
        return checked_place(path)

    @field_validator("where")
    @classmethod
    def _check_where(cls, where: dict[str, str]) -> dict[str, str]:
        for value in where.values():
            _check_dates(value)
        return where


def _check_dates(written_in: str) -> None:
    """Raise ValueError if nothing of a date is left where the release's is to stand."""
    for written in DATE.findall(written_in):
        two = {_dated(f"{{release:{written}}}", date) for date in ("2000-01-01", "2011-12-31")}
        if written and len(two) == 1:
            raise ValueError(f"has {shown(written)} for the date, and no part of a date is in it: %Y%m, say")


class QuerySource(Declaration):
    """Snapshots that a database answers with."""

    dsn: StrictStr
    """`duckdb:///file` or `sqlite:///file` (relative to the contract), `duckdb:` for a query that reads files
    alone, or `postgresql://user@host/database`, and no password."""
    query: StrictStr
    """One SELECT; `:release` in it stands for the release's date."""

    @field_validator("dsn")
    @classmethod
    def _check_dsn(cls, dsn: str) -> str:
        if dsn != NO_DATABASE and not dsn.startswith((*DATABASE_FILES, "postgresql://")):
            raise ValueError(f"must start with {', '.join(DATABASE_FILES)} or postgresql://, or be duckdb:")
        if _has_password(dsn):
            # A manifest states the SHA-256 of the contract: whoever has the rest of it could try passwords.
            raise ValueError(
                "has a password in it, and contracts are read by others: leave it out, and give it in"
                " PGPASSWORD, ~/.pgpass or a service file of PostgreSQL. A series that has begun goes on;"
                " from its next release, contract_sha256 is another one. If the contract was given"
                " away, change the password"
            )
        return dsn


class TableSource(Declaration):
    """Snapshots that are versions of one table."""

    table: StrictStr
    """`delta:FOLDER`, `iceberg:FOLDER` or `iceberg:catalog.namespace.table`; a folder is relative to the
    contract, or of Delta in an object store."""
    versions: dict[StrictStr, StrictInt] = Field(default_factory=dict)
    """The version (of Iceberg the snapshot's id) of single releases; of others, the one at the moment when
    the release is due."""

    @property
    def format(self) -> str:
        """`delta` or `iceberg`."""
        return self.table.partition(":")[0]

    @property
    def place(self) -> str:
        """Its folder, or its name in a catalog."""
        return self.table.partition(":")[2]

    @property
    def is_in_catalog(self) -> bool:
        """True if its place is a name in a catalog."""
        return self.format == "iceberg" and re.fullmatch(r"[^/.]+\.[^/]+\.[^/.]+", self.place) is not None

    @field_validator("table")
    @classmethod
    def _check_table(cls, table: str) -> str:
        kind, _, place = table.partition(":")
        if kind not in FORMATS or not place:
            raise ValueError("must be delta:FOLDER, iceberg:FOLDER or iceberg:catalog.namespace.table")
        if kind == "iceberg" and is_in_store(checked_place(place)):
            raise ValueError(
                "names an Iceberg table by its folder in a store, where only a catalog knows which of its"
                " metadata files is the last: name it as iceberg:catalog.namespace.table"
            )
        checked_place(place)
        return table

    @field_validator("versions")
    @classmethod
    def _check_versions(cls, versions: dict[str, int]) -> dict[str, int]:
        check_releases(versions)
        if negative := [version for version in versions.values() if version < 0]:
            raise ValueError(f"{negative[0]} is no version: versions are counted from 0 on")
        return versions


def _dated(path: str, release: str) -> str:
    """A path with a release in it, by its name where that is no date (of another tool's, say).

    Its other letters are no pattern, and a `%` outside of braces is itself.
    """
    date = dt.date.fromisoformat(release) if RELEASE.fullmatch(release) else None
    return DATE.sub(lambda found: write_date(date, found[1]) if date and found[1] else release, path)


def write_date(date: dt.date, how: str) -> str:
    """A date in the codes of `strftime`, and `%q` for its quarter.

    Examples
    --------
    >>> write_date(dt.date(2024, 4, 1), "%YQ%q"), write_date(dt.date(2024, 4, 1), "%%q")
    ('2024Q2', '%q')
    """
    quarter = f"{(date.month + 2) // 3}"
    return date.strftime(re.sub("%.", lambda code: quarter if code[0] == QUARTER else code[0], how))


def begin_of_file(dsn: str) -> str | None:
    """How the dsn of a database begins that is a file, before its path; None of others.

    Examples
    --------
    >>> begin_of_file("sqlite:///clinic.db"), begin_of_file("postgresql://host/clinic")
    ('sqlite:///', None)
    """
    return next((begin for begin in DATABASE_FILES if dsn.startswith(begin)), None)


def is_in_store(place: str) -> bool:
    """True if a place is in an object store, rather than a path."""
    return "://" in place


def checked_place(place: str) -> str:
    """A path, or an address in an object store that has no credentials in it.

    Raises
    ------
    ValueError
        If it is neither.
    """
    scheme, found, rest = place.partition("://")
    if not found:
        return place
    if scheme not in STORES:
        raise ValueError(f"must be a path, or begin with {', '.join(f'{store}://' for store in STORES)}")
    if set("@?#") & set(rest):
        raise ValueError(
            "has credentials or parameters in it, and contracts are read by others: write"
            f" {scheme}://bucket/path, and give credentials where the store's other programs look for them"
            " (environment, profile, role of the machine). If the contract was given away, change them"
        )
    if not re.fullmatch(r"[^/]+/.+", rest):
        raise ValueError(f"must name a bucket and a path in it, {scheme}://bucket/path")
    return place


def _has_password(dsn: str) -> bool:
    """True if an address has a password, before its @ or among its parameters, however it is written."""
    address, _, parameters = dsn.partition("?")
    user = address.partition("://")[2].rpartition("@")[0]
    named = {unquote(one.partition("=")[0]).strip().lower() for one in re.split("[&;?]", parameters)}
    return ":" in user or any("password" in name or "secret" in name for name in named)


def _first_or_dates(schema: dict[str, Any]) -> None:
    """Say in a JSON schema that releases have a first one, or their dates."""
    del schema["required"]
    schema["anyOf"] = [{"required": ["first"]}, {"required": ["dates"]}]


class Releases(Declaration):
    """When releases are due."""

    first: Date
    """The date of the first release."""
    cron: StrictStr | None = None
    """The schedule, in five fields or a word (`@daily`, `@weekly`, `@monthly`, `@quarterly`, `@halfyearly`,
    `@yearly`). Each tick from `first` on is a release. Without it, there is one."""
    last: Date | None = Field(None, exclude_if=lambda last: last is None)
    """The last day of a release; without it, releases go on."""
    dates: tuple[Date, ...] = Field((), exclude_if=lambda dates: not dates)
    """The dates of all releases, in place of the other keys, where they follow no schedule."""

    model_config = ConfigDict(json_schema_extra=_first_or_dates)

    @model_validator(mode="before")
    @classmethod
    def _begin_with_the_first(cls, declared: Any) -> Any:
        """Of releases on single dates, the first one is the first date."""
        if not isinstance(declared, Mapping) or "dates" not in declared:
            return declared
        if not declared["dates"]:
            if declared.get("first") is None:
                raise ValueError("dates are none: write the date of the first release, or first and cron")
            return declared
        first, *_ = declared["dates"] if isinstance(declared["dates"], list | tuple) else [None]
        others = [key for key in ("first", "cron", "last") if declared.get(key) is not None]
        if others and (others != ["first"] or declared["first"] != first):  # as a model has it
            raise ValueError(f"dates are all there is to say: leave {' and '.join(others)} out")
        try:
            read_date(first)
        except ValueError:
            first = dt.date.min  # of this fault, `dates` says what it is
        return {**declared, "first": first}

    @property
    def goes_on(self) -> bool:
        """Whether there may be more than one."""
        return self.cron is not None or len(self.dates) > 1

    @field_validator("dates")
    @classmethod
    def _check_dates(cls, dates: tuple[dt.date, ...]) -> tuple[dt.date, ...]:
        for before, after in pairwise(dates):
            if after <= before:
                raise ValueError(f"must be in order, each once: {after} stands behind {before}")
        return dates

    @field_validator("cron")
    @classmethod
    def _in_five_fields(cls, cron: str | None) -> str | None:
        return None if cron is None else in_five_fields(cron)


def in_five_fields(cron: str) -> str:
    """A schedule in five fields, of a word that stands for one; others as they are.

    Raises ValueError if there is no such word.
    """
    if cron.startswith("@") and cron not in SCHEDULES:
        raise ValueError(f"{shown(cron)} is no word for a schedule; there are {', '.join(SCHEDULES)}")
    return SCHEDULES.get(cron, cron)


def kind_of_source(source: Any) -> type[FileSource | QuerySource | TableSource]:
    """The kind of source that is declared, so that faults are told of one kind alone."""
    keys = set(source) if isinstance(source, Mapping) else set()
    if {"dsn", "query"} & keys:
        return QuerySource
    return TableSource if {"table", "versions"} & keys else FileSource
