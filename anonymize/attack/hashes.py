"""Numbers by content, the same in every version of every library: all auditors have one figure.

Polars' own hashes of text differ between its versions 2.0.0 and 2.1.0.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from republish.anonymize.arrays import Words
from republish.anonymize.kernels.siphash import siphash
from republish.anonymize.kernels.splitmix import STEP, mixed

NO_KEY = np.zeros(2, np.uint64)


def plain_hashes(names: pl.Series) -> Words:
    """A number for each name by its bytes, uint64[N]: SipHash-2-4 without a key, so no secret."""
    is_binary = names.dtype == pl.Binary
    texts = names.bin.encode("hex") if is_binary else names.cast(pl.String)
    joined = (texts.str.join("").item() or "").encode()
    sizes = texts.str.len_bytes().fill_null(0).to_numpy().astype(np.int64) // (2 if is_binary else 1)
    message = np.frombuffer(bytes.fromhex(joined.decode()) if is_binary else joined, np.uint8)
    return siphash(message, np.concatenate([[0], sizes.cumsum()]), NO_KEY)


def content_numbers(rows: pl.DataFrame) -> pl.Series:
    """Int64[N]: a number for each row by what is in it."""
    number = np.zeros(rows.height, np.uint64)
    for column in rows.get_columns():
        kind = pl.Float64 if column.dtype.is_float() else pl.Int64
        if not (column.dtype.is_float() or column.dtype.is_integer() or column.dtype.is_temporal()):
            bits = plain_hashes(column)
        else:
            bits = (column.cast(kind).fill_null(0).to_numpy() + 0).view(np.uint64)
        number = mixed((mixed(number) ^ bits) + STEP)
    return pl.Series("person", number.view(np.int64))
