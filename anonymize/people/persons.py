"""Whose a row is, by what it is called: where people have several rows, a row's name begins with its person.

This is all that an attack knows of names.
"""

from __future__ import annotations

import polars as pl

PERSON_BYTES = 16
"""The bytes of a pseudonym that are the person's."""
SEPARATOR = "\x1f"
"""Stands between an identifier and the name of a row where a text is to name both."""


def sorted_by_names(rows: pl.DataFrame, column: str) -> pl.DataFrame:
    """Rows in the order of the bytes of their names, of `PERSON_BYTES` or more.

    Polars sorts numbers of 16 bytes several times as fast as bytes.
    """
    name = pl.col(column)
    person = name.bin.slice(0, PERSON_BYTES).bin.reinterpret(dtype=pl.UInt128, endianness="big")
    is_of_persons = (rows[column].bin.size() == PERSON_BYTES).all()
    return rows.sort(person) if is_of_persons else rows.sort(person, name)


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
