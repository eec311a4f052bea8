"""Whose a row is, by what it is called: where people have several rows, a row's name begins with its person.

This is all that an attack knows of names.
"""

from __future__ import annotations

from typing import Literal

import polars as pl

from republish.anonymize.columns import PSEUDONYM

PERSON_BYTES = 16
"""The bytes of a pseudonym that are the person's."""
NUMBER = "number of the name"
"""A column for as long as tables are joined."""
SEPARATOR = "\x1f"
"""Stands between an identifier and the name of a row where a text is to name both."""


def sorted_by_names(rows: pl.DataFrame, column: str) -> pl.DataFrame:
    """Rows in the order of the bytes of their names, of `PERSON_BYTES` or more.

    Polars sorts numbers of 16 bytes several times as fast as bytes.
    """
    name = pl.col(column)
    person = name.bin.slice(0, PERSON_BYTES).bin.reinterpret(dtype=pl.UInt128, endianness="big")
    return rows.sort(person) if _are_of_persons(rows[column]) else rows.sort(person, name)


def joined_by_names(
    left: pl.DataFrame,
    right: pl.DataFrame,
    how: Literal["inner", "left"] = "inner",
    column: str = PSEUDONYM,
) -> pl.DataFrame:
    """Join two tables by what their rows are called, in the order of the left one.

    Polars merges two columns of sorted numbers of 16 bytes thirty times as fast as it joins bytes.
    """
    if not all(_are_of_persons(table[column]) for table in (left, right)):
        return left.join(right, on=column, how=how, maintain_order="left")
    former, latter = (table.with_columns(_numbers(table[column]).alias(NUMBER)) for table in (left, right))
    return former.join(latter.drop(column), on=NUMBER, how=how, maintain_order="left").drop(NUMBER)


def _are_of_persons(names: pl.Series) -> bool:
    """Whether rows are called by their persons' pseudonyms, and by nothing else."""
    return names.dtype == pl.Binary and bool((names.bin.size() == PERSON_BYTES).all())


def _numbers(names: pl.Series) -> pl.Series:
    numbers = names.bin.reinterpret(dtype=pl.UInt128, endianness="big")
    return numbers.set_sorted() if numbers.is_sorted() else numbers


def persons_of(names: pl.Series) -> pl.Series:
    """The person of each row, by what the row is called: a pseudonym, or an identifier and the row's name.

    Names of people who have one row stay as they are.

    Examples
    --------
    >>> persons_of(pl.Series([b"0123456789abcdef" + b"01234567"])).item()
    b'0123456789abcdef'
    """
    if names.dtype == pl.Binary:
        return names.bin.slice(0, PERSON_BYTES)
    if names.dtype == pl.String:
        return names.str.splitn(SEPARATOR, 2).struct.field("field_0").alias(names.name)
    return names
