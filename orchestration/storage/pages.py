"""Parquet files that polars may be given: one that states impossible sizes ends its process."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

AT_A_TIME = 1 << 16
"""Rows that are decoded at a time, and forgotten."""


def is_decodable(file: Path | BytesIO, columns: Sequence[str] | None = None) -> bool:
    """Whether every page of a Parquet file can be decoded, as a reader finds that looks before it trusts.

    A changed byte in the header of a page can have polars ask for more memory than there is, which is no
    exception but the end of the process.

    Parameters
    ----------
    file
        The file, or what is in it.
    columns
        Those that are to be read; None for all.
    """
    import pyarrow as pa  # noqa: PLC0415 - a contract is read without it
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        for _ in pq.ParquetFile(file).iter_batches(AT_A_TIME, columns=columns):
            pass
    except NotImplementedError:
        return True  # a type that polars knows and this reader doesn't
    except (pa.ArrowException, OSError, UnicodeError):
        return False
    return True
