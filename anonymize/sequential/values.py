"""Checks a contract against the earlier releases that it names: values, and what readers may know.

A confidence for a value that nobody has limits nothing, and a pair with such a value excludes nobody. An
earlier view with another X adds combinations of both, of which neither contract promises anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from republish.anonymize.contract import ViewContract
from republish.anonymize.principle.state import PREVIOUS
from republish.anonymize.sequential.matching import own_column
from republish.anonymize.sequential.parameters import Sequential, split_pair

MOST_SHOWN = 20
"""So many of the accepted values are listed."""


def faults_of_previous(
    contract: ViewContract[Sequential],
    previous: Mapping[str, pl.DataFrame],
    principles: Sequence[Mapping[str, Any]],
) -> list[tuple[str, str]]:
    """Find what is wrong between a contract and the releases that it names: `(key, what is accepted)`.

    That is each value that `k` or `inconsistent` names and no earlier release has, and each column in the X
    of an earlier view that is neither in x nor in y.

    Parameters
    ----------
    contract
        The view's columns, and what is promised of them. Values of these columns are checked with it.
    previous
        `previous_0`, …: the releases that the contract names, with the columns `column_0`, ….
    principles
        What the manifest of each states of its principle; nothing, of a file of any tool.
    """
    wanted = contract.principle
    found = [
        (
            "principle.x",
            (
                f"lacks {', '.join(lacking)}, which x of the earlier view {release.path} has: its readers may"
                f" know it beside {', '.join(wanted.x)}, and nothing would be promised of both together. Add"
                " it to x"
            ),
        )
        for release, stated in zip(wanted.previous, principles, strict=True)
        if (lacking := [name for name in stated.get("x", ()) if name not in (*wanted.x, *wanted.y)])
    ]
    if any(table.is_empty() or any(table.null_count().row(0)) for table in previous.values()):
        return found  # it can't be joined, and the join says why
    ours = {column.name for column in contract.columns}
    for key, column, value in _named(wanted):
        if column in ours:
            continue
        values = _values(wanted, previous, column)
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
