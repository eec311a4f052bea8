"""Cells of a spreadsheet that look empty and are not: errors, and formulas without a result."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

from republish.anonymize.errors import SnapshotError
from republish.orchestration.snapshots.sheet_size import AT_A_TIME, COLUMN, files_of_sheet, number_of_column

ERROR = re.compile(
    rb"""<(?:\w+:)?c(?P<at>\s[^>]*\bt=["']e["'][^>]*)>"""
    rb"""(?:<(?:\w+:)?f\b[^>]*(?:/>|>[^<]*</(?:\w+:)?f>))?\s*<(?:\w+:)?v>(?P<error>[^<]*)<"""
)
"""A cell that has an error: of a formula, or written as one."""
UNCALCULATED = re.compile(
    rb"<(?:\w+:)?c(?P<at>\s[^>]*)>\s*<(?:\w+:)?f\b[^>]*(?:/>|>[^<]*</(?:\w+:)?f>)\s*"
    rb"(?:</(?:\w+:)?c>|<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</)"
)
"""A cell with a formula and nothing behind it."""
IS_TEXT = re.compile(rb"""\bt=["']str["']""")
"""The result is text, which may be empty."""
NOT_CALCULATED = "formulas that were never calculated"
END_OF_ROW = b"row>"

Cells = dict[int, Counter[str]]
"""By column, counted from 1: how many of its cells have which error, or no result."""


def odd_cells(source: Path | bytes, name: str | None = None) -> Cells:
    """The cells of a sheet (its `name`; None: the first) with an error, or a formula without a stored result.

    Raises BadZipFile, KeyError or another error of `zipfile` if it is no workbook.
    """
    found: Cells = {}
    with ZipFile(source if isinstance(source, Path) else BytesIO(source)) as book:
        for file in files_of_sheet(book, name):
            with book.open(file) as sheet:
                text = b""
                while part := sheet.read(AT_A_TIME):
                    text += part
                    end = text.rfind(END_OF_ROW) + len(END_OF_ROW)
                    if end >= len(END_OF_ROW):
                        _count(text[:end], found)
                        text = text[end:]
    return found


def _count(rows: bytes, found: Cells) -> None:
    odd: list[tuple[bytes, str]] = []
    if b't="e"' in rows or b"t='e'" in rows:
        odd += [(cell["at"], cell["error"].decode()) for cell in ERROR.finditer(rows)]
    if b"</f>" in rows or b":f>" in rows or b"<f " in rows:
        odd += [(cell["at"], NOT_CALCULATED) for cell in UNCALCULATED.finditer(rows)]
    for at, what in odd:
        place = COLUMN.search(at)
        if place is not None and not (what == NOT_CALCULATED and IS_TEXT.search(at)):
            found.setdefault(number_of_column(place[1]), Counter())[what] += 1


def refuse_odd_cells(
    cells: Cells, names: Sequence[tuple[int, str]], wanted: Collection[str] | None, rows: int, where: str
) -> None:
    """Raise SnapshotError if a column that is wanted has such cells: they are no missing values.

    `names` are the columns with their numbers; `rows` is how many rows the table has.
    """
    said = [
        f"{name}: {number:,} of {rows:,} rows are {what}"
        for at, name in names
        if wanted is None or name in wanted
        for what, number in cells.get(at, Counter[str]()).items()
    ]
    if said:
        raise SnapshotError(
            f"{where}: {'; '.join(said)}; correct errors in the workbook, and save it once in a program that"
            " calculates formulas"
        )
