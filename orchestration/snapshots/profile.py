"""The content of a snapshot's columns: for the publisher's terminal alone, and kept nowhere.

The lowest and the highest value of a column are two people's values. They are shown of quasi-identifiers that
are numbers or dates, inside the declared domain; of identifiers and sensitive values nothing but counts is.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import polars as pl

from republish.anonymize.columns import IDENTIFIER, least_of, most_of
from republish.anonymize.contract import Table
from republish.anonymize.contract.combined import separate
from republish.anonymize.contract.scalars import MISSING
from republish.anonymize.errors import as_data

HEADS = ("column", "kind", "lowest", "highest", "distinct", "most frequent", "missing")
FEW, MOST = 5, 0.5
"""So few values that so large a share of the people has them make a column lumpy."""


def profile(snapshot: pl.DataFrame, schema: Table) -> list[tuple[str, ...]]:
    """A row for each column of the contract that a snapshot has, under `HEADS`.

    The snapshot has our own column names, with or without faults.
    """
    snapshot = separate(snapshot, schema)
    names = [(ours, name) for ours, name in schema.column_names().items() if ours in snapshot.columns]
    return [(as_data(name), *_shown(snapshot[ours], ours, schema)) for ours, name in names]


def _shown(column: pl.Series, ours: str, schema: Table) -> tuple[str, ...]:
    attribute = dict(schema.attributes()).get(ours)
    present = column.drop_nulls()
    if present.dtype == pl.String:
        present = present.filter(
            ~present.is_in(["", *([MISSING] if _publishes_missing(ours, schema) else [])])
        )
    roles = {IDENTIFIER: "identifier"} | {column: "sensitive" for column, _ in schema.sensitive_columns()}
    kind = roles.get(ours) or str(getattr(attribute, "kind", ""))
    share = "" if ours == IDENTIFIER or present.is_empty() else f"{100 * _shares(present)[0]:.1f} %"
    lowest, highest = _ends(present, attribute)
    missing = len(column) - len(present)
    return kind, lowest, highest, f"{present.n_unique():,}", share, f"{missing:,}"


def _publishes_missing(ours: str, schema: Table) -> bool:
    """Whether a missing value of a column is a label of its own."""
    return any(one.publishes_missing for column, one in schema.all_columns() if column == ours)


def _ends(present: pl.Series, attribute: Any) -> tuple[str, str]:
    """The lowest and the highest of the values inside the declared domain; nothing of text."""
    domain = getattr(attribute, "domain", None)
    is_date = domain is not None and isinstance(domain[0], dt.date)
    if domain is None or not (present.dtype == pl.Date if is_date else present.dtype.is_numeric()):
        return "", ""
    inside = present.filter(present.is_between(*domain))
    return ("", "") if inside.is_empty() else (str(least_of(inside)), str(most_of(inside)))


def _shares(present: pl.Series) -> list[float]:
    """The shares of the most frequent values, the largest first; at most `FEW`."""
    counts = present.value_counts(name="people")["people"].top_k(FEW).sort(descending=True)
    return [count / len(present) for count in counts]


def levels(snapshot: pl.DataFrame, schema: Table) -> Iterator[str]:
    """A line on each coarser level of a sensitive column's hierarchy: how many values, and how frequent.

    The snapshot has no faults, and our own column names.
    """
    if snapshot.is_empty():
        return
    apart = separate(snapshot, schema)
    for ours, one in schema.sensitive_columns():
        paths = one.hierarchy or ()
        for level in range(one.level + 1, len(paths[0]) - 1 if paths else 0):
            above = {path[one.level]: path[level] for path in paths}
            coarser = apart[ours].replace_strict(above, default=None, return_dtype=pl.String).drop_nulls()
            yield (
                f"{as_data(one.name)} at level {level}: {coarser.n_unique():,} values, the most frequent that"
                f" of {100 * _shares(coarser)[0]:.1f} %"
            )


def lumpy_columns(snapshot: pl.DataFrame, schema: Table) -> Iterator[str]:
    """A sentence on each column in which most people share few values, and which is published in intervals.

    The snapshot has no faults, and our own column names.
    """
    for ours, attribute in schema.attributes():
        width = getattr(attribute, "min_width", 0)
        if attribute.kind == "category" or width <= int(attribute.discrete) or snapshot.is_empty():
            continue
        shares = _shares(snapshot[ours].drop_nulls())
        few = next((k for k in range(1, len(shares) + 1) if sum(shares[:k]) >= MOST), None)
        if few is not None:
            values = "one value" if few == 1 else f"{few} values"
            yield (
                f"{100 * sum(shares[:few]):.0f} % of the people share {values} of {as_data(attribute.name)},"
                f" and intervals of min_width {width} hide which: counts at such a value will be far off."
                " Declare the column as a category of ranges that begin and end at these values, or leave"
                " min_width out"
            )
