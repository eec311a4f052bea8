"""The values that a contract names of columns that earlier releases have and the view lacks.

A confidence for a value that nobody has limits nothing, and a pair with such a value excludes nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from anonymize.contract import ViewContract
from anonymize.principle.state import PREVIOUS
from anonymize.sequential.matching import own_column
from anonymize.sequential.parameters import Sequential, split_pair

MOST_SHOWN = 20
"""So many of the accepted values are listed."""


def faults_of_values(
    contract: ViewContract[Sequential], previous: Mapping[str, pl.DataFrame]
) -> list[tuple[str, str]]:
    """Each value that `k` or `inconsistent` names and no earlier release has: `(key, what is accepted)`.

    Parameters
    ----------
    contract
        The view's columns, and what is promised of them. Values of these columns are checked with it.
    previous
        `previous_0`, …: the releases that the contract names, with the columns `column_0`, ….
    """
    if any(table.is_empty() or any(table.null_count().row(0)) for table in previous.values()):
        return []  # it can't be joined, and the join says why
    ours = {column.name for column in contract.columns}
    found = []
    for key, column, value in _named(contract.principle):
        if column in ours:
            continue
        values = _values(contract.principle, previous, column)
        if value not in values:
            accepted = ", ".join(values[:MOST_SHOWN]) + (", …" if len(values) > MOST_SHOWN else "")
            found.append(
                (key, f"{value} is no value of {column} in an earlier release: accepted are {accepted}")
            )
    return found


def _named(wanted: Sequential) -> Iterator[tuple[str, str, str]]:
    """Key, column and value of each value of an earlier release's column that a contract names."""
    for column, limit in (wanted.limits or {}).items():
        for value in limit if isinstance(limit, Mapping) else ():
            yield "principle.k", column, value
    for key, pairs in wanted.inconsistent.items():
        _, theirs = split_pair(key)
        for _, label in pairs:
            yield f"principle.inconsistent[{key}]", theirs, label


def _values(wanted: Sequential, previous: Mapping[str, pl.DataFrame], column: str) -> list[str]:
    values = [
        own_column(previous[PREVIOUS.format(position=number)], release.columns.index(column))
        for number, release in enumerate(wanted.previous)
        if column in release.columns
    ]
    return sorted(set().union(*(one.unique().to_list() for one in values)))
