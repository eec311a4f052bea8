"""Content of a Parquet file beyond its table: metadata, values that no row has, bytes between pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from republish.anonymize.errors import HomeError, PublishedFolderError
from republish.orchestration.storage.manifest import DATA_PACKAGE
from republish.orchestration.storage.pages import is_decodable
from republish.orchestration.storage.parts import name_in, table_files, table_of
from republish.orchestration.storage.store import encode_table, read_json, read_table

TYPES = {pl.Int64(), pl.Float64(), pl.String(), pl.Date()}
"""The types of published columns. Others, an Enum say, may name values that no row has."""
WRITER = re.compile(r"Polars \(python\) version \d+(\.\d+)* \(build [0-9a-f]{40}\)")
OUR_KEYS, FOREIGN_KEYS = {b"ARROW:schema"}, {b"ARROW:schema", b"pandas"}
FIELD_KEYS = {b"PARQUET:field_id"}


def check_tables(folder: Path, stated: Mapping[str, Any]) -> bool:
    """Whether each byte of a release's tables was compared with what its rows are written as.

    Raises PublishedFolderError if a table has more in it than its rows, or columns that `datapackage.json`
    does not name.
    """
    described = (read_json(folder / DATA_PACKAGE) or {}).get("resources")
    is_compared = True
    for name in filter(table_of, stated["files"]):
        try:
            more, is_whole = hidden_in_our(folder / name)
            if more is None and described is not None:
                more = _other_columns(folder, name, described)
        except (HomeError, pa.ArrowException, UnicodeError):
            raise PublishedFolderError(f"{folder / name}: is no Parquet file that can be read") from None
        if more is not None:
            raise PublishedFolderError(f"{folder / name}: {more}")
        is_compared &= is_whole
    return is_compared


def _other_columns(folder: Path, name: str, described: Any) -> str | None:
    """A sentence if a table has other columns than are described, or none are; else None."""
    files = [name_in(folder, file) for file in table_files(folder, str(table_of(name)))]
    path = files if "/" in name else name
    try:
        (fields,) = (one["schema"]["fields"] for one in described if one.get("path") == path)
        is_described = [field["name"] for field in fields] == pq.read_schema(folder / name).names
    except (AttributeError, KeyError, TypeError, ValueError):
        is_described = False
    return None if is_described else f"has other columns than {DATA_PACKAGE} describes"


def hidden_in_our(file: Path) -> tuple[str | None, bool]:
    """Look for content beyond the rows in a table that republish wrote; and say whether all was looked at.

    What this version would write of the same rows has to be the same bytes: nothing is left to hide in. Files
    of another version of polars may differ from that; of these, only metadata and values are looked at.

    Returns
    -------
    tuple
        Words for a message, or None if nothing was found; and False if bytes could not be compared.

    Raises
    ------
    HomeError
        If the file can't be read.
    """
    if not is_decodable(file):
        raise HomeError(f"{file}: is no Parquet file that can be read")
    table = read_table(file)
    if other := [dtype for dtype in table.dtypes if dtype not in TYPES]:
        return f"has a column of type {other[0].base_type()}, which no release has", True
    again = BytesIO()
    encode_table(table, again)
    if file.read_bytes() == again.getvalue():
        return None, True
    writer = pq.read_metadata(file).created_by or ""
    if writer == pq.read_metadata(again).created_by or not WRITER.fullmatch(writer):
        return "has more in it than its rows: republish would write other bytes", True
    return hidden_in_foreign(file, OUR_KEYS), False


def hidden_in_foreign(file: Path, keys: set[bytes] = FOREIGN_KEYS) -> str | None:
    """Look for metadata beyond columns, and values that no row has, in another writer's file.

    `keys` is what metadata may be about.

    Returns
    -------
    str or None
        Words for a message; None if nothing was found.
    """
    metadata, schema = pq.read_metadata(file).metadata or {}, pq.read_schema(file)
    if more := metadata.keys() - keys:
        return f"has metadata {min(more).decode(errors='replace')}, which says more than its rows"
    if any((field.metadata or {}).keys() - FIELD_KEYS for field in _fields(schema)):
        return "has metadata of a column, which says more than its rows"
    texts = [field.name for field in schema if pa.types.is_string(_plain(field.type))]
    table = pq.ParquetFile(file, read_dictionary=texts).read(columns=texts)
    unused = (name for name, one in zip(table.column_names, table.columns, strict=True) if _unused(one))
    return next((f"has values in the dictionary of column {name} that no row has" for name in unused), None)


def _fields(schema: pa.Schema | pa.DataType) -> list[pa.Field]:
    """The columns of a schema, and those that are nested in them."""
    fields = [
        schema.field(at) for at in range(len(schema) if isinstance(schema, pa.Schema) else schema.num_fields)
    ]
    return [*fields, *(inner for field in fields for inner in _fields(field.type))]


def _plain(dtype: pa.DataType) -> pa.DataType:
    """The type of a column's values, of texts the same however they are kept."""
    if pa.types.is_dictionary(dtype):
        dtype = dtype.value_type
    is_text = pa.types.is_large_string(dtype) or pa.types.is_string_view(dtype)
    return pa.string() if is_text else dtype


def _unused(column: pa.ChunkedArray) -> bool:
    """Whether a part of a column has a dictionary with values that none of its rows has."""
    return pa.types.is_dictionary(column.type) and any(
        len(chunk.indices.unique().drop_null()) < len(chunk.dictionary) for chunk in column.chunks
    )
