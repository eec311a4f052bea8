"""Identifiers of several columns, as of a household and a line: joined so that no two people become one."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Self

import polars as pl
from pydantic import PlainSerializer, PlainValidator

from republish.anonymize.contract.scalars import Label, label, repeated, shown
from republish.anonymize.spelling import BETWEEN_PARTS

_MARKS = r"([\\¦\x{FFE4}\x{FF3C}\x{FE68}])"
"""A part's own marks, and signs that one normal form has for them, are escaped: what joins parts is not."""


class JoinedColumns(str):
    """The name of an identifier that several columns make together: `household ¦ line`."""

    __slots__ = ("columns",)

    columns: tuple[str, ...]

    def __new__(cls, columns: Sequence[str]) -> Self:
        """Of the columns' names, in their order."""
        made = super().__new__(cls, BETWEEN_PARTS.join(columns))
        made.columns = tuple(columns)
        return made

    def __getnewargs__(self) -> tuple[tuple[str, ...]]:  # type: ignore[override]
        """What makes it again in another process."""
        return (self.columns,)


def _identifier(declared: Any) -> str:
    if isinstance(declared, JoinedColumns):
        return declared
    if not isinstance(declared, list | tuple):
        return label(declared)
    names = [label(name) for name in declared]
    if not names:
        raise ValueError("must name a column, or list the columns that identify a person together")
    if twice := repeated(names):
        raise ValueError(f"lists {twice} more than once")
    return names[0] if len(names) == 1 else JoinedColumns(names)


Identifier = Annotated[
    str,
    PlainValidator(_identifier, json_schema_input_type=Label | list[Label]),
    PlainSerializer(lambda name: list(name.columns) if isinstance(name, JoinedColumns) else str(name)),
]
"""A column's name, or a list of several."""


def columns_of_identifier(identifier: str) -> tuple[str, ...]:
    """The columns that identify a person, one or several."""
    return identifier.columns if isinstance(identifier, JoinedColumns) else (identifier,)


def join_parts(parts: Sequence[pl.Series]) -> pl.Series:
    r"""String[N]: the identifier that several columns make together; null where one of them has no value.

    Parts are text, whole numbers or dates. People who differ in a part differ in what is joined, whatever
    is in it.

    Examples
    --------
    >>> join_parts([pl.Series(["a", "a_b"]), pl.Series(["b_c", "c"])]).to_list()
    ['a ¦ b_c', 'a_b ¦ c']
    >>> join_parts([pl.Series([7, None]), pl.Series(["x ¦ y", "z"])]).to_list()
    ['7 ¦ x \\¦ y', None]
    """
    texts = [part.cast(pl.String).replace("", None).str.replace_all(_MARKS, r"\$1") for part in parts]
    named = [text.alias(f"{at}") for at, text in enumerate(texts)]
    return pl.select(pl.concat_str(named, separator=BETWEEN_PARTS)).to_series()


def is_part(dtype: pl.DataType) -> bool:
    """Whether values of a type can be a part of an identifier: text, whole numbers or dates."""
    is_whole = dtype.is_integer() or (isinstance(dtype, pl.Decimal) and dtype.scale == 0)
    return is_whole or isinstance(dtype, pl.String | pl.Categorical | pl.Enum | pl.Date | pl.Null)


def given(lines: Iterable[str], identifier: str) -> list[str]:
    """Identifiers that are given as text, one a line: of several columns as in a CSV file, `12,3`.

    A first line with the columns' names is none. Raises ValueError if a line has more parts or fewer; it
    counts lines, and repeats none.
    """
    columns = columns_of_identifier(identifier)
    if len(columns) == 1:
        return [*lines]
    rows = [[cell.strip() for cell in row] for row in csv.reader(lines, skipinitialspace=True)]
    rows = rows[1:] if rows and tuple(rows[0]) == columns else rows
    if wrong := [number for number, row in enumerate(rows, 1) if len(row) != len(columns) or not all(row)]:
        raise ValueError(
            f"{len(wrong):,} of {len(rows):,} lines do not have the {len(columns)} parts of an identifier:"
            f" write {shown(','.join(columns))}, with quotation marks around a part that has a comma"
        )
    return join_parts([pl.Series(part, dtype=pl.String) for part in zip(*rows, strict=True)]).to_list()
