"""Several rows of one person: what tells them apart, and whose they are.

A row is known by the pseudonym of its person, and eight bytes of its own below it. So whatever is kept of a
row says whose it is, and everything about a person is found by the pseudonym that a person has anyway.
"""

from __future__ import annotations

import re

import polars as pl

from republish.anonymize.columns import IDENTIFIER, PSEUDONYM, ROW_NAME
from republish.anonymize.contract import Schema, Table
from republish.anonymize.people.persons import SEPARATOR, persons_of, sorted_by_names
from republish.anonymize.people.pseudonyms import pseudonyms

OWN_BYTES = 8
"""Bytes of a row's pseudonym that are its own. Of two rows of a person, 2^-64 is the chance to share them."""
NOTHING = "\x00"
"""Stands for a cell that has no value."""
PUBLIC_KEY = b"rows by their content"
"""Names of rows are hashes to be short, not to hide anything: an auditor computes the same ones."""


def has_several_rows(schema: Table) -> bool:
    """Whether a person may have several rows in a snapshot."""
    return isinstance(schema, Schema) and schema.rows == "several"


def counted_in(schema: Table) -> str:
    """What a snapshot's rows are counted in, in words: people, or the rows of people who have several."""
    return "rows" if has_several_rows(schema) else "people"


def different_people(rows: pl.DataFrame, schema: Table) -> int | None:
    """Count the people whom rows with a `pseudonym` are of; None where each person has one row."""
    return persons_of(rows[PSEUDONYM]).n_unique() if has_several_rows(schema) else None


def as_counted(words: str, schema: Table) -> str:
    """Words on people of whom rows are counted: on rows, where a person may have several.

    Every text on a count of rows goes through it, or says `counted_in`; one on persons does neither.
    """
    return of_rows(words) if has_several_rows(schema) else words


def of_rows(words: str) -> str:
    """Words on people, on rows.

    Examples
    --------
    >>> of_rows("12 people who left"), of_rows("people whose value changed")
    ('12 rows that left', 'rows whose value changed')
    """
    return re.sub(r"\bpeople( who\b)?", lambda found: "rows that" if found[1] else "rows", words)


def with_row_names(people: pl.DataFrame, schema: Table) -> pl.DataFrame:
    """A snapshot, under our own column names, with a name for each row; as it is where people have one row.

    Where no column tells rows apart, a row is named by what it says: a hash of all its cells, and of rows
    that say the same, a number. A row that says something else in a later snapshot is another row.
    """
    if not has_several_rows(schema):
        return people
    if ROW_NAME in people.columns:
        return people.with_columns(pl.col(ROW_NAME).cast(pl.String))
    text = pl.concat_str(pl.all().cast(pl.String).fill_null(NOTHING), separator=SEPARATOR)
    said = people.select(text=text)
    copy = pl.int_range(pl.len()).over("text").cast(pl.String)
    each = said.select(pl.concat_str("text", copy, separator=SEPARATOR)).to_series()
    return people.with_columns(pseudonyms(each, PUBLIC_KEY).bin.encode("hex").alias(ROW_NAME))


def with_persons(people: pl.DataFrame, key: bytes) -> pl.DataFrame:
    """People with the pseudonym of each under a key, in the order of pseudonyms."""
    named = people.with_columns(pseudonyms(people[IDENTIFIER], key).alias(PSEUDONYM))
    return sorted_by_names(named, PSEUDONYM)


def keyed(people: pl.DataFrame, schema: Table, key: bytes) -> pl.DataFrame:
    """A snapshot with the pseudonym of each row under a key, in the order of pseudonyms.

    People who have one row have a pseudonym of 16 bytes. The rows of others have their person's, and below it
    8 bytes of their own.
    """
    if not has_several_rows(schema):
        return with_persons(people, key)
    named = with_row_names(people, schema)
    persons = pseudonyms(named[IDENTIFIER], key)
    own = pseudonyms(named[ROW_NAME], key).bin.slice(0, OWN_BYTES)
    both = persons.bin.encode("hex") + own.bin.encode("hex")
    return sorted_by_names(named.with_columns(both.str.decode("hex").alias(PSEUDONYM)), PSEUDONYM)


def names_in_linkage(schema: Table) -> dict[str, str]:
    """The columns by which a linkage names a row, by ours: of its person, and its own."""
    names = {IDENTIFIER: schema.identifier}
    if isinstance(schema, Schema) and schema.rows == "several":
        names[ROW_NAME] = schema.row or ROW_NAME
    return names


def named_by_row(people: pl.DataFrame, schema: Table) -> pl.Series:
    """String[N]: the identifier of each person, and the name of the row where people have several."""
    identifier = people[IDENTIFIER].cast(pl.String)
    if not has_several_rows(schema):
        return identifier
    return identifier + SEPARATOR + people[ROW_NAME]
