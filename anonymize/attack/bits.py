"""Sets of values as bits: a value is a position in the domain, and 64 positions are a word."""

from __future__ import annotations

import numpy as np

from republish.anonymize.arrays import Ints, Words


def place(position: Ints) -> tuple[Ints, Words]:
    """The word of each position, and its bit there."""
    return position // 64, np.uint64(1) << (position % 64).astype(np.uint64)


def bitsets(row: Ints, position: Ints, rows: int, size: int) -> Words:
    """uint64[rows, W]: the set of each row, of positions below `size`."""
    word, bit = place(position)
    bits = np.zeros((rows, max(1, -(-size // 64))), np.uint64)
    np.bitwise_or.at(bits, (row, word), bit)
    return bits
