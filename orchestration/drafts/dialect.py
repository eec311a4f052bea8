"""How a text file of people is written: its letters and what is between its columns.

Tried is the reader that releases read files with. What another one finds, this one might refuse.

DuckDB 2.0 was tried on the same files. Its `sniff_csv` took `|` in texts for the separator of a file with
tabs, and left out the 200 rows before one that has a field too many. It chose one of two ways to read
03/04/1980, took 1.100 for a fraction and 12,5 for text, without a word. It reads no letters of Windows
(cp1252), and has to be told what else is not UTF-8. Its `SUMMARIZE` estimates: of 14,231 receipts, each
with another number, 14,610 different ones, so that no identifier can be told by it.
"""

from __future__ import annotations

import codecs
from pathlib import Path

from republish.anonymize.contract import CSV
from republish.anonymize.errors import SnapshotError
from republish.orchestration.snapshots.csv_text import SEPARATORS, CsvText
from republish.orchestration.snapshots.files import FAILURES, PACKED, check_file, opened_bytes

LOOKED_AT = 10_000
"""Rows by which a separator is judged; the whole file is read with it afterwards."""
BLOCK = 1 << 20
FALLBACK = ("cp1252", "latin-1")
"""Encodings of text that is none in UTF-8: that of Windows has all letters of the other one."""


def dialect_of(file: Path, where: str) -> dict[str, str]:
    """The keys `separator` and `encoding` of a contract's source, as far as they are not as usual.

    Nothing is said of a file that is no text.

    Raises
    ------
    SnapshotError
        If it is not there, or can be read with no separator.
    """
    check_file(file, where)
    if not file.name.endswith(CSV):
        return {}
    packed = PACKED.get(file.suffix)
    try:
        encoding = _encoding(file, packed)
        separator = _separator(file, where, packed, encoding)
    except FAILURES:
        raise SnapshotError(f"{where}: is no CSV file that can be read, or a part of one") from None
    said = {"separator": separator} if separator != usual_separator(file) else {}
    return said | ({"encoding": encoding} if encoding != "utf-8" else {})


def ends_its_last_line(file: Path) -> bool:
    """Whether a file has a line end after its last line, or is no text."""
    if not file.name.endswith(CSV):
        return True
    end = b""
    with opened_bytes(file, PACKED.get(file.suffix)) as content:
        while block := content.read(BLOCK):
            end = (end + block)[-2:]
    return end.rstrip(b"\0").endswith(b"\n")  # of utf-16, a letter's second byte may be the last one


def usual_separator(file: Path) -> str:
    """The separator of a text file whose contract says nothing of it."""
    return "\t" if ".tsv" in file.suffixes[-2:] else ","


def _encoding(file: Path, packed: str | None) -> str:
    with opened_bytes(file, packed) as content:
        begin = content.read(BLOCK)
    if begin.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in begin:
        return "utf-16-le" if begin[1:2] == b"\0" else "utf-16-be"
    return next((one for one in ("utf-8", *FALLBACK) if _can_be(file, packed, one)), "latin-1")


def _can_be(file: Path, packed: str | None, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with opened_bytes(file, packed) as content:
            while block := content.read(BLOCK):
                decoder.decode(block)
            decoder.decode(b"", final=True)
    except UnicodeError:
        return False
    return True


def _separator(file: Path, where: str, packed: str | None, encoding: str) -> str:
    """The separator that finds most columns, in each of the first rows as many."""
    found: dict[str, int] = {}
    faults: dict[int, SnapshotError] = {}
    for separator in SEPARATORS:
        width = 1
        try:
            with opened_bytes(file, packed) as content:
                text = CsvText(content, where, None, separator, encoding)
                width = len(text.header)
                rows = text.rows(LOOKED_AT)
                next(rows)
                next(rows, None)
            found[separator] = width
        except SnapshotError as fault:
            faults.setdefault(width, fault)
    most = max(found.values(), default=0)
    if faults and (most < 2 or max(faults) > most):
        raise faults[max(faults)]
    if most < 2:
        raise SnapshotError(f"{where}: has one column alone, whatever is taken for a separator")
    return max(found, key=lambda separator: found[separator])
