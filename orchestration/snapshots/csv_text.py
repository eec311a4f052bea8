"""CSV texts: read a part at a time and strictly, or not at all.

A text that readers disagree about is refused: a reader that guesses reads fewer people than there are.
"""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Collection, Iterator
from typing import BinaryIO

import numpy as np
import polars as pl

from republish.anonymize.errors import SnapshotError
from republish.anonymize.kernels import csv_records as csv

BLOCK = 1 << 23
"""Bytes that are read at a time."""
LONGEST = 1 << 28
"""Bytes of a record, of which more are never in memory: a quotation that nothing ends goes on to the end."""
SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}


class CsvText:
    """A CSV text that is read once, from its begin to its end."""

    header: list[str]
    """The names of all its columns."""

    def __init__(
        self, file: BinaryIO, where: str, columns: Collection[str] | None, separator: str, encoding: str
    ):
        """Read the header.

        Parameters
        ----------
        columns
            Those to read, as far as they are there; None for all. The others are checked, too.

        Raises
        ------
        SnapshotError
            If there is no header, or it can't be read in one way only.
        """
        self._where, self._separator, self.header = where, separator, []
        self._blocks, self._is_whole = blocks(file, encoding, where), False
        self._unread, self._width, self._lines, self._is_ended = b"", 0, 0, False
        content, records = self._take(1)
        first = pl.read_csv(
            content, separator=separator, infer_schema=False, has_header=False, raise_if_empty=False
        )
        named = [name or "" for name in first.row(0)] if first.height else [""] * self._width
        _refuse_other_separator(named, columns or (), where)
        if named == [""]:
            raise SnapshotError(
                f"{where}: begins with an empty line, and must begin with the names of the columns"
            )
        self.header = named if records else []
        self._chosen = positions(self.header, columns)
        often = Counter(self.header)
        if often[""] * 2 > len(named):
            raise SnapshotError(
                f"{where}: {often['']} of the {len(named)} columns have no name in the first line: if that is"
                " a title, take it out in the source"
            )
        if twice := [self.header[at] for at in self._chosen if often[self.header[at]] > 1]:
            raise SnapshotError(
                f"{where}: the column {twice[0]} is in the header twice; rename one in the source"
            )

    def rows(self, most: int) -> Iterator[pl.DataFrame]:
        """The rows, at most so many at a time, all columns as text; the first table has none.

        Raises SnapshotError if it is not in the encoding, or can't be read in one way only: with line and
        column, and without what is written there.
        """
        yield self._table(b"", 0)
        while True:
            content, records = self._take(most)
            if not records:
                return
            yield self._table(content, records)

    def refuse_open_end(self) -> None:
        """Raise SnapshotError if the last line has no end: it may be cut off within its last field."""
        if not self._is_ended:
            raise open_end(self._where)

    def _table(self, content: bytes, records: int) -> pl.DataFrame:
        # Under their positions: polars gives some names, those with a quotation mark say, another form.
        numbers = self._separator.join(f'"{at}"' for at in range(len(self.header))).encode()
        rows = pl.read_csv(
            numbers + b"\n" + content, separator=self._separator, infer_schema=False, columns=self._chosen
        )
        if self._chosen and rows.height != records:
            raise SnapshotError(
                f"{self._where}: has {records:,} records, and only {rows.height:,} can be read; deliver it as"
                " Parquet"
            )
        return rows.rename({str(at): self.header[at] for at in self._chosen})

    def _take(self, most: int) -> tuple[bytes, int]:
        """The next records, at most so many, and how many they are."""
        taken, records = [], 0
        while True:
            found, width, end, fault, at, field = csv.csv_records(
                np.frombuffer(self._unread, np.uint8),
                ord(self._separator),
                self._width,
                most - records,
                self._is_whole,
            )
            self._width = width
            if fault == csv.FINE and not found and len(self._unread) > LONGEST:
                fault, at = csv.TOO_LONG, 0
            if fault == csv.OTHER_WIDTH and self._width > 1 and self._only_empty_lines_follow(at):
                self._unread = self._unread[:at]  # they say nothing of anybody
                continue
            if fault != csv.FINE:
                raise self._refusal(fault, at, field)
            taken.append(self._unread[:end])
            self._unread = self._unread[end:]
            self._lines += taken[-1].count(b"\n")
            records += found
            if records == most or self._is_whole:
                return b"".join(taken), records
            self._read_more()

    def _only_empty_lines_follow(self, at: int) -> bool:
        """Whether nothing but line ends comes from a place on, to the end of the text."""
        while not self._is_whole and not self._unread[at:].strip(b"\r\n"):
            self._read_more()
        return not self._unread[at:].replace(b"\r\n", b"\n").strip(b"\n")

    def _read_more(self) -> None:
        more = next(self._blocks, None)
        self._is_whole = more is None
        self._is_ended = more.endswith(b"\n") if more else self._is_ended
        self._unread += more or b""

    def _refusal(self, fault: int, at: int, field: int) -> SnapshotError:
        line = self._lines + self._unread.count(b"\n", 0, at) + 1
        column = f" (column {self.header[field]})" if field < len(self.header) else ""
        is_empty = self._unread[at : at + 1] in (b"\n", b"\r")
        fields = "nothing in it" if is_empty else f"{field} field{'s' * (field != 1)}"
        mark = 'a quotation mark in a field belongs in quotes and is written twice, as in "5\'11"""'
        said = {
            csv.BARE_QUOTE: f"line {line}{column} has a quotation mark in a field that is not quoted; {mark}",
            csv.AFTER_QUOTE: f"line {line}{column} goes on after the end of a quoted field; {mark}",
            csv.NEVER_CLOSED: f"line {line}{column} begins a quoted field that nothing ends; {mark}, and a"
            " file that was cut off is to be delivered again",
            csv.TOO_LONG: f"line {line} begins a record of more than {LONGEST >> 20} MiB; a quotation mark in"
            " it may be meant as none, else deliver it as Parquet",
            csv.LONE_RETURN: f"line {line}{column} has a carriage return (CR) and no line feed after it; save"
            " it with line ends LF or CR LF",
            csv.OTHER_WIDTH: f"line {line} has {fields}, and the header has {self._width}; a separator in a"
            " field belongs in quotes, and a file that was cut off is to be delivered again",
        }
        return SnapshotError(f"{self._where}: {said[fault]}")


def open_end(where: str) -> SnapshotError:
    """The error of a text whose last line may have been cut off."""
    return SnapshotError(
        f"{where}: its last line has no line end, as in a file that is still being written. Wait until it is"
        " complete; if the program that writes it never ends the last line, say so: source.final_newline:"
        " false"
    )


def blocks(file: BinaryIO, encoding: str, where: str) -> Iterator[bytes]:
    """A text in UTF-8, a block at a time, without the mark that some programs put first."""
    is_utf_8 = codecs.lookup(encoding).name == "utf-8"
    decoder, begin, is_first = codecs.getincrementaldecoder(encoding)(), b"", True
    while True:
        block = file.read(BLOCK)
        begin = begin or block[:2]
        try:
            text = decoder.decode(block, final=not block).encode()
        except UnicodeError:
            likely = "utf-16" if begin in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "latin-1"
            reason = (
                f"is not written in UTF-8, and may be {likely}; say so (encoding: {likely}), or deliver it"
                " in UTF-8"
                if is_utf_8
                else f"is not written in {encoding}; correct encoding"
            )
            raise SnapshotError(f"{where}: {reason}") from None
        yield text.removeprefix(codecs.BOM_UTF8) if is_utf_8 and is_first else text
        if not block:
            return
        is_first = is_first and not text


def _refuse_other_separator(header: list[str], wanted: Collection[str], where: str) -> None:
    """Raise SnapshotError if another separator would find the columns."""
    for separator, name in SEPARATORS.items():
        found = {part.strip().strip('"') for part in separator.join(header).split(separator)}
        if len(header) == 1 and len(found & set(wanted)) > 1:
            raise SnapshotError(
                f"{where}: is separated by {name}; say so (separator: {separator!r}) if all files"
                " are; else write this one as the others are"
            )


def positions(present: list[str], columns: Collection[str] | None) -> list[int]:
    """Where the wanted columns are. Polars would read some names as patterns, never a position."""
    return [at for at, name in enumerate(present) if columns is None or name in columns]
