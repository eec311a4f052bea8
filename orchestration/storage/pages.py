"""Parquet files that polars may be given: one that states impossible sizes ends its process."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

AT_A_TIME = 1 << 16
"""Rows that are decoded at a time, and forgotten."""


def is_decodable(
    file: Path | BytesIO, columns: Sequence[str] | None = None, rows: range | None = None
) -> bool:
    """Whether every page of a Parquet file can be decoded, as a reader finds that looks before it trusts.

    A changed byte in the header of a page can have polars ask for more memory than there is, which is no
    exception but the end of the process.

    Parameters
    ----------
    columns
        Those that are to be read; None for all.
    rows
        The rows that are to be read; None for all. The groups of rows that these are in are decoded as far as
        to the last of them.
    """
    try:
        whole, begin = pq.ParquetFile(file), 0
        for group in range(whole.num_row_groups):
            end = begin + whole.metadata.row_group(group).num_rows
            if rows is None or (begin < rows.stop and rows.start < end):
                _decode(whole, group, columns, end - begin if rows is None else rows.stop - begin)
            begin = end
    except NotImplementedError:
        return True  # a type that polars knows and this reader doesn't
    except (pa.ArrowException, OSError, UnicodeError):
        return False
    return True


def _decode(whole: Any, group: int, columns: Sequence[str] | None, most: int) -> None:
    """Decode the first rows of a group of rows."""
    decoded = 0
    for batch in whole.iter_batches(AT_A_TIME, row_groups=[group], columns=columns):
        decoded += batch.num_rows
        if decoded >= most:
            return
