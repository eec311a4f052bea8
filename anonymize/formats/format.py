"""A release format: its tables and columns, the way they are read back, and their charts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import polars as pl

from republish.anonymize.columns import VALUE
from republish.anonymize.contract import Table
from republish.anonymize.contract.combined import combine, separate
from republish.anonymize.formats.published import Published
from republish.anonymize.plot import Chart

Tables = Mapping[str, pl.DataFrame]
"""Tables by name, the name of a published file without its ending."""

RELEASE = "release"
"""The first column of every published table: the release's date, so that releases read as one dated table."""
EXTRA = "extra_"
"""Our name of a published column that the format does not know, with its position."""


@dataclass(frozen=True)
class PublishedColumn:
    """A column of a published table."""

    ours: str
    """What it is called inside: `qi_0_low`, `value`, …"""
    name: str
    """What it is called in the file."""
    dtype: str
    """Its type, in words."""
    description: str
    """What it says."""
    origin: str | None = None
    """Our name of the snapshot's column it is from, if it is from one."""


def _no_groups(*_asked: Any) -> NoReturn:
    raise TypeError("this format has no groups")


@dataclass(frozen=True)
class Format:
    """A release format. All that reads or shows published tables asks their format, and never guesses it."""

    name: str
    """What manifests call it."""
    columns: Callable[[Any], dict[str, list[PublishedColumn]]]
    """The columns of each published table, in order. The first table has a row for each tuple."""
    read: Callable[[Tables, Any], Published] = _no_groups
    """From tables in our own column names (`internal`) to the groups that an adversary reads in them; not of
    a format without groups."""
    counterfeit_key: Callable[[Any], list[str]] = _no_groups
    """The columns, by our names, of the main table that a counterfeit's row does not share with a person."""
    attack: str = "groups"
    """Which of the attacks judges releases: `groups`, or `join` with the releases before."""
    documents: tuple[str, ...] = ()
    """The JSON documents that are published beside the tables, by name."""
    plots: Callable[[Tables, Any], list[Chart]] = lambda _tables, _schema: []
    """Charts of a release, from tables in our own column names."""
    refused: Callable[[Any], list[tuple[str, str]]] = lambda _schema: []
    """What a contract can't have with this format, as `(key, what is wrong and the way out)`."""
    figures: Callable[[Tables, Any], dict[str, float]] = lambda _tables, _schema: {}
    """Figures worth plotting over releases, from tables in our own column names."""
    as_groups: Callable[[Tables, Any], pl.DataFrame] = _no_groups
    """From tables in our own column names to a row for each group: `group_id`, and all that is published of
    it, in columns by which groups are ordered."""
    of_groups: Callable[[pl.DataFrame, Any], Tables] = _no_groups
    """The tables again, in our own column names, from such rows under the numbers that are published."""

    def tables(self, schema: Table) -> list[str]:
        """The names of the published tables, the main one first."""
        return list(self.columns(schema))

    def entries(self, schema: Table) -> dict[str, list[str]]:
        """The columns of each table by our own names, as `internal` has them: all sensitive ones as one."""
        sensitive = dict(schema.sensitive_columns())
        return {
            name: list(dict.fromkeys(VALUE if one.ours in sensitive else one.ours for one in columns))
            for name, columns in self.columns(schema).items()
        }

    def internal(self, tables: Tables, schema: Table) -> dict[str, pl.DataFrame]:
        """Published tables under our own column names; an unknown column is `extra_<position>`."""
        known = {table: {c.name: c.ours for c in columns} for table, columns in self.columns(schema).items()}
        return {
            name: combine(
                table.rename(
                    {
                        column: known[name].get(column, f"{EXTRA}{position}")
                        for position, column in enumerate(table.columns)
                    }
                ),
                schema,
            )
            for name, table in tables.items()
            if name in known
        }

    def published(self, tables: Tables, schema: Table) -> dict[str, pl.DataFrame]:
        """Tables under our own column names as they are published: the format's columns, in its order."""
        sensitive, published = dict(schema.sensitive_columns()), {}
        for name, columns in self.columns(schema).items():
            has_values = any(column.ours in sensitive for column in columns)
            table = separate(tables[name], schema) if has_values else tables[name]
            published[name] = pl.DataFrame([table[column.ours].alias(column.name) for column in columns])
        return published

    def faults(self, schema: Table) -> list[tuple[str, str]]:
        """List faults of a contract that is published so, as `(key, what is wrong and the way out)`.

        These are columns with names that the format needs itself, and what it refuses beside.
        """
        taken = {"group_id", "bucket_id"} & {schema.identifier}  # the columns of the private linkage
        for columns in self.columns(schema).values():
            names = Counter([RELEASE, *(column.name for column in columns)])
            taken |= {name for name, often in names.items() if often > 1} | ({schema.identifier} & {*names})
        return [
            ("", f"the column {name} bears the name of a column of republish's own: rename it in the source")
            for name in sorted(taken)
        ] + self.refused(schema)


COUNTERFEITS = [
    PublishedColumn("group_id", "group_id", "Int64", "a group that has counterfeits"),
    PublishedColumn("count", "count", "Int64", "how many of its tuples are counterfeits"),
]
"""R(n): the columns of the table of counterfeits, the same in every format of groups."""
