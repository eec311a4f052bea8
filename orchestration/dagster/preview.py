"""The first published rows as the UI shows them, with what is true of whom in them."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from republish.anonymize.contract import Product
from republish.anonymize.errors import as_data
from republish.anonymize.formats.format import RELEASE, PublishedColumn
from republish.anonymize.principles import principle_of
from republish.orchestration.dagster.names import COUNTERFEITS
from republish.orchestration.storage.parts import scan_parts, table_files

ROWS = 10
"""The number of rows of each table."""


def preview(contract: Product, folder: Path) -> str:
    """The first rows of a published folder's tables, in Markdown, and what each of their columns says.

    Nothing is read but what is published: rows of a candidate may never be.
    """
    release_format = principle_of(contract).format(contract)
    tables = [one for one in release_format.columns(contract).items() if one[0] != COUNTERFEITS]
    return "\n\n".join([release_format.row, *(part for one in tables for part in _table(folder, *one))])


def _table(folder: Path, name: str, columns: list[PublishedColumn]) -> Iterator[str]:
    rows = scan_parts(table_files(folder, name)).head(ROWS).collect()
    head = [f"| {' | '.join(map(_entry, rows.columns))} |", f"|{' --- |' * rows.width}"]
    yield f"**{name}**, the first rows of the published table:"
    yield "\n".join([*head, *(f"| {' | '.join(map(_entry, row))} |" for row in rows.iter_rows())])
    yield "\n".join(
        f"- {_entry(one.name)}: {_entry(one.description)}" for one in columns if one.name != RELEASE
    )


def _entry(value: Any) -> str:
    """A value in one line, which is no markup."""
    text = escape(as_data("" if value is None else str(value)))
    return "".join(f"\\{letter}" if letter in "\\`*_[]|~#" else letter for letter in text)
