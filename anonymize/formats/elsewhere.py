"""Tables of other tools: generalizations whose cells may leave out values between others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from republish.anonymize.columns import VALUE
from republish.anonymize.formats.format import PublishedColumn, Tables
from republish.anonymize.formats.generalization import GENERALIZATION, MICRODATA
from republish.anonymize.formats.published import Published

CLASS = "class_id"
"""The column that numbers classes: rows with the same number have cells that cover the same."""
PIECES = "pieces"
"""The table of all intervals that the cells of each class cover; it is there if one of them has gaps."""


def _columns(schema: Any) -> dict[str, list[PublishedColumn]]:
    columns = GENERALIZATION.columns(schema)
    number = PublishedColumn(CLASS, CLASS, "Int64", "the class; its rows have the same quasi-identifiers")
    ends = [
        column for column in columns[MICRODATA] if column.origin and column.ours.endswith(("_low", "_high"))
    ]
    return {
        **columns,
        MICRODATA: [*columns[MICRODATA], number],
        PIECES: [columns[MICRODATA][0], *ends, number],
    }


def _read(tables: Tables, schema: Any) -> Published:
    published = GENERALIZATION.read(tables, schema)
    if PIECES not in tables:
        return published
    pieces = {**tables, MICRODATA: tables[PIECES].with_columns(pl.lit(0).alias(VALUE))}
    return replace(published, boxes=GENERALIZATION.read(pieces, schema).boxes)


ELSEWHERE = replace(GENERALIZATION, columns=_columns, read=_read)
"""How a table of another tool is attacked. It is no format that a contract may name."""
