"""How large a spreadsheet is, found out before it is unpacked.

What reads a sheet makes a table that reaches from its first cell to its last one, whatever is in between: a
small file may need more memory than there is.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from html import unescape
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

WORKBOOK, RELATIONS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
COLUMN = re.compile(rb"""\sr=["']([A-Za-z]{1,7})\d""")
CELL = re.compile(rb"""\sr=["']([A-Za-z]{1,7})(\d{1,18})["']""")
"""A cell's place: letters for its column, then the number of its row."""
SHEET = re.compile(rb"<(?:\w+:)?sheet\s[^>]*>")
ATTRIBUTE = re.compile(rb"""[\s:](\w+)=["']([^"']*)""")
LONGEST = 40
"""Bytes that a cell's place has at most."""
OF_A_CELL = 32
"""Bytes that a cell takes in memory, be it empty."""
AT_A_TIME = 1 << 20
"""Bytes of a sheet."""


@dataclass(frozen=True)
class Size:
    """The size of a table that is not read yet."""

    rows: int
    columns: int
    unpacked: int = 0
    """Bytes, as far as anything is known of them."""


@dataclass(frozen=True)
class Sheet:
    """Which sheet of a workbook is read."""

    name: str | None = None
    """None for the first one."""
    header_row: int | None = None
    """The row of the headings, counted from 1; None for the first that has anything."""


FIRST_SHEET = Sheet()


def sheet_size(source: Path | bytes, name: str | None = None) -> Size:
    """The size of a workbook's sheet of a name (None: of its first), with its headings, and of all unpacked.

    Raises BadZipFile, KeyError or another error of `zipfile` if it is no workbook.
    """
    with ZipFile(source if isinstance(source, Path) else BytesIO(source)) as book:
        unpacked = sum(one.file_size for one in book.infolist())
        columns, rows = set[bytes](), 0
        for file in files_of_sheet(book, name):
            with book.open(file) as sheet:
                before = b""
                while part := sheet.read(AT_A_TIME):
                    text = before + part
                    columns.update(COLUMN.findall(text))
                    rows, before = max(rows, _last_row(text)), part[-LONGEST:]
    width = max(map(number_of_column, columns), default=0)
    return Size(rows, width, max(unpacked, rows * width * OF_A_CELL))


def files_of_sheet(book: ZipFile, name: str | None = None) -> list[str]:
    """The file of a workbook's sheet of a name (None: of its first); of all sheets, if it is not found."""
    sheets = [dict(ATTRIBUTE.findall(sheet)) for sheet in SHEET.findall(book.read(WORKBOOK))]
    named = [one for one in sheets if name in (None, unescape(one.get(b"name", b"").decode()))]
    for relation in re.findall(rb"<(?:\w+:)?Relationship\s[^>]*>", book.read(RELATIONS)):
        said = dict(ATTRIBUTE.findall(relation))
        if named and said.get(b"Id") == named[0].get(b"id"):
            file = posixpath.join("/xl", said.get(b"Target", b"").decode()).lstrip("/")
            if file in book.namelist():
                return [file]
    return [file for file in book.namelist() if file.startswith("xl/worksheets/") and file.endswith(".xml")]


def _last_row(text: bytes) -> int:
    """The row of the last cell in a part of a sheet: cells stand there by row. 0 if there is none."""
    at = len(text)
    while (at := text.rfind(b"r=", 0, at)) > 0:
        if (cell := CELL.match(text, at - 1)) is not None:
            return int(cell[2])
    return 0


def number_of_column(letters: bytes) -> int:
    """The number of a column: A is 1, Z is 26, AA is 27."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - ord("A") + 1
    return number
