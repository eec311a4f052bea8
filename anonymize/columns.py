"""The names of columns between the snapshot and the published tables.

A column of the publisher's may have any name: one that polars reads as a pattern, or one of our own. So
columns are renamed on entry, by their role, and a format gives them their own names again when it writes.
"""

from __future__ import annotations

from typing import Any

import polars as pl

IDENTIFIER = "identifier"
"""The identifier. It is in the private snapshot, and never reaches a principle."""
ROW_NAME = "row_name"
"""What tells a row from all others, where people have several. It is as private as the identifier."""
PSEUDONYM = "pseudonym"
"""What a person is known by inside a series: 16 bytes. Where people have several rows, what a row is known
by: the 16 bytes of its person, and 8 of its own."""
VALUE = "value"
"""The sensitive value."""
CORRECTED = "corrected"
"""Whether the sensitive value that was published so far was wrong. Only there if somebody's was."""


def qi_column(position: int) -> str:
    """The column of a quasi-identifier: `qi_0`, `qi_1`, … in the contract's order."""
    return f"qi_{position}"


def value_column(position: int) -> str:
    """One of several sensitive columns: `value_0`, `value_1`, … in the contract's order."""
    return f"value_{position}"


def view_column(position: int) -> str:
    """A column of a view: `column_0`, `column_1`, … in the contract's order."""
    return f"column_{position}"


def least_of(numbers: pl.Series) -> Any:
    """The smallest number of a column, None of none: to polars it might be a date, too."""
    return numbers.min()


def most_of(numbers: pl.Series) -> Any:
    """The largest number of a column, None of none."""
    return numbers.max()


def counted(numbers: pl.Series) -> dict[Any, int]:
    """Count how often each number of a column is there, in their order."""
    counts = numbers.value_counts(name="times").sort(numbers.name)
    return dict(counts.iter_rows())


def mean_of(numbers: pl.Series) -> Any:
    """The mean of a column, None of none."""
    return numbers.mean()


def exactly(*names: str) -> pl.Expr:
    """Columns by their exact names: `pl.col` takes `*` and `^…$` for patterns."""
    return pl.selectors.by_name(*names).as_expr()


def entries(table: pl.DataFrame, name: str) -> pl.Series:
    """A column as a series without a name, because most methods of a series take its name for a pattern."""
    return table[name].alias("")
