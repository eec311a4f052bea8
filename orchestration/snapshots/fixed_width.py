"""Text files without separators: what stands where in a line is declared."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import BinaryIO

import polars as pl

from republish.anonymize.errors import SnapshotError
from republish.orchestration.snapshots.csv_text import blocks, open_end


class FixedWidthText:
    """A text without separators that is read once, from its begin to its end; as `CsvText` is."""

    header: list[str]
    """The names of all declared columns."""

    def __init__(
        self,
        file: BinaryIO,
        where: str,
        columns: Collection[str] | None,
        places: Mapping[str, tuple[int, int]],
        encoding: str,
    ):
        """Choose the columns.

        Parameters
        ----------
        columns
            Those to read, as far as they are declared; None for all.
        places
            Where each column begins in a line, from 0 on, and its letters.
        """
        self._where, self._blocks, self.header = where, blocks(file, encoding, where), [*places]
        self._places = {name: at for name, at in places.items() if columns is None or name in columns}
        self._lines, self._is_ended = 0, False

    def rows(self, most: int) -> Iterator[pl.DataFrame]:
        """The rows, at most so many at a time, all columns as text without the spaces around it.

        The first table has none. Null is what has spaces alone, or would stand behind the end of a line.

        Raises
        ------
        SnapshotError
            If it is not in the encoding, or has a tab, or an empty line that is followed by others.
        """
        yield self._table([])
        unread, waiting = b"", list[bytes]()
        for block in self._blocks:
            *lines, unread = (unread + block).split(b"\n")
            waiting += lines
            while _without_end(waiting) > most:
                yield self._table(waiting[:most])
                waiting = waiting[most:]
        self._is_ended = not unread
        waiting += [unread] if unread else []
        yield self._table(waiting[: _without_end(waiting)])

    def refuse_open_end(self) -> None:
        """Raise SnapshotError if the last line has no end: it may be cut off within its last column."""
        if not self._is_ended:
            raise open_end(self._where)

    def _table(self, lines: list[bytes]) -> pl.DataFrame:
        text = pl.Series(lines, dtype=pl.Binary).cast(pl.String)
        for is_odd, what in (
            (text.str.strip_chars() == "", "is empty: take it out, or deliver the file again"),
            (
                text.str.contains("\t", literal=True),
                "has a tab, of which nobody can say how wide it is: write spaces in its place",
            ),
        ):
            if is_odd.any():
                raise SnapshotError(f"{self._where}: line {self._lines + is_odd.arg_true()[0] + 1} {what}")
        self._lines += len(lines)
        cut = {name: text.str.slice(first, letters) for name, (first, letters) in self._places.items()}
        return pl.DataFrame(
            [part.str.strip_chars().replace("", None).alias(name) for name, part in cut.items()]
        )


def _without_end(lines: list[bytes]) -> int:
    """How many lines there are without empty ones at their end."""
    return next((at for at in range(len(lines), 0, -1) if lines[at - 1].strip()), 0)
