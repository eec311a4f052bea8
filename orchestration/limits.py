"""How much is read before a file is refused. `--limit rows=100000000` raises a limit, or `REPUBLISH_LIMITS`.

A file of a few megabytes may unpack to more than fits into memory: it is refused before it is unpacked.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache

from republish.anonymize.errors import LimitError

VARIABLE = "REPUBLISH_LIMITS"
"""The variable that raises limits: `rows=100000000 columns=1000`. Child processes inherit it."""
MEGABYTE = 10**6
BYTES = 8
"""The least that an entry takes in memory: a number, or the place of a text."""


@dataclass(frozen=True)
class Limits:
    """The most that is read of one file."""

    rows: int = 20_000_000
    """Of a table."""
    columns: int = 500
    """Of a published table, or of a contract."""
    labels: int = 200_000
    """Of a category, or lines of a hierarchy."""
    megabytes: int = 8_000
    """Of a file, and of a Parquet file when it is unpacked."""
    text: int = 32
    """Megabytes of a contract, a hierarchy, a mapping or a file of JSON."""


NAMES = tuple(field.name for field in fields(Limits))


def limits() -> Limits:
    """The limits that hold in this process."""
    return _parsed(os.environ.get(VARIABLE, ""))


def raise_limits(given: list[str]) -> None:
    """Set limits, each as `name=number`, for this process and all that it starts.

    Raises
    ------
    LimitError
        If one is not written so, or there is no such limit.
    """
    os.environ[VARIABLE] = " ".join([os.environ.get(VARIABLE, ""), *given]).strip()
    limits()


@cache
def _parsed(words: str) -> Limits:
    given = {}
    for word in words.split():
        found = re.fullmatch(r"(\w+)=([\d_,]+)", word, re.ASCII)
        if found is None or found[1] not in NAMES or not (number := re.sub("[_,]", "", found[2])):
            usual = " ".join(f"{name}={number}" for name, number in asdict(Limits()).items())
            raise LimitError(f"{word} is no limit: write NAME=NUMBER with one of these (as usual): {usual}")
        given[found[1]] = int(number[:18])
    return Limits(**given)


def check(where: object, name: str, found: int) -> None:
    """Refuse what has more than it may have.

    Parameters
    ----------
    where
        The file, or another word a reader finds it by.
    name
        The limit.
    found
        How many rows, columns, labels or bytes there are.

    Raises
    ------
    LimitError
        Saying how to raise the limit.
    """
    most = getattr(limits(), name)
    unit = MEGABYTE if name in ("megabytes", "text") else 1
    if found <= most * unit:
        return
    counted = -(-found // unit)
    what = "megabytes" if unit > 1 else name
    raise LimitError(
        f"{where}: has {counted:,} {what}, and {most:,} are read at most. If it is to be so large, add"
        f" --limit {name}={counted}"
    )


@dataclass(frozen=True)
class Footer:
    """What a Parquet file states at its end."""

    columns: int
    rows: int
    groups: Sequence[tuple[int, int]]
    """Of each row group: its rows, and the bytes that it takes when it is unpacked."""


def check_parquet(
    footers: Sequence[Footer], where: object, columns: int | None = None, *, by_group: bool = False
) -> None:
    """Refuse a Parquet table that has too many rows or columns, or that is too large when it is unpacked.

    Parameters
    ----------
    footers
        The footers of its files. A file that is not Parquet has none: whoever reads it refuses it.
    where
        As in `check`.
    columns
        How many of its columns are to be read; None for all.
    by_group
        Whether its rows are never in memory together, but those of a row group may be: each group is checked.

    Raises
    ------
    LimitError
        Saying how to raise the limit.
    """
    groups = [group for footer in footers for group in footer.groups]
    if columns is None:
        columns = max((footer.columns for footer in footers), default=0)
        check(where, "columns", columns)
    stated = sum(footer.rows for footer in footers)
    together = [(where, max(stated, sum(rows for rows, _ in groups)), sum(size for _, size in groups))]
    if by_group:
        together = [(f"{where}, row group {number}", *group) for number, group in enumerate(groups, 1)]
    for what, rows, size in together:
        check(what, "rows", rows)
        check(what, "megabytes", max(rows * columns * BYTES, size))
