"""The published boxes that a person lies in: the loop behind every attack by quasi-identifiers."""

import numpy as np
from numba import prange

from anonymize.arrays import Floats, Ints, Words
from anonymize.kernels.compiled import compiled


@compiled(parallel=True)
def cover(
    points: Floats, cells: Ints, lows: Floats, highs: Floats, words: Words, offsets: Ints, listed: Ints
) -> tuple[Words, Ints, Ints]:
    """The union of the bitsets of all boxes that cover each point, and which boxes those are.

    Parameters
    ----------
    points : float64[p, d]
        One row of codes per point.
    cells : int64[p]
        The grid cell each point lies in.
    lows, highs : float64[b, d]
        Boxes, closed on both ends.
    words : uint64[b, w]
        One bitset per box.
    offsets, listed : int64[c + 1], int32[n]
        The boxes that may cover a point of cell `i` are `listed[offsets[i]:offsets[i + 1]]`.

    Returns
    -------
    union : uint64[p, w]
        Bitsets of the covering boxes, united.
    first : int32[p]
        The first covering box in the cell's list, -1 where none covers.
    covering : int32[p]
        How many boxes cover the point.
    """
    width = words.shape[1]
    union = np.zeros((len(points), width), dtype=np.uint64)
    first = np.full(len(points), -1, dtype=np.int32)
    covering = np.zeros(len(points), dtype=np.int32)
    for p in prange(len(points)):
        for at in range(offsets[cells[p]], offsets[cells[p] + 1]):
            box = listed[at]
            if _covers(lows, highs, box, points, p):
                if first[p] < 0:
                    first[p] = box
                covering[p] += 1
                for w in range(width):
                    union[p, w] |= words[box, w]
    return union, first, covering


@compiled()
def covering(
    points: Floats, cells: Ints, lows: Floats, highs: Floats, offsets: Ints, listed: Ints
) -> tuple[Ints, Ints]:
    """The boxes that cover each point; arguments as those of `cover`.

    Returns
    -------
    ends, boxes : int64[p + 1], int32[n]
        The boxes of point `i` are `boxes[ends[i]:ends[i + 1]]`.
    """
    ends = np.zeros(len(points) + 1, dtype=np.int64)
    for p in range(len(points)):
        for at in range(offsets[cells[p]], offsets[cells[p] + 1]):
            ends[p + 1] += _covers(lows, highs, listed[at], points, p)
    ends = np.cumsum(ends)
    boxes = np.empty(ends[-1], dtype=np.int32)
    found = 0
    for p in range(len(points)):
        for at in range(offsets[cells[p]], offsets[cells[p] + 1]):
            if _covers(lows, highs, listed[at], points, p):
                boxes[found] = listed[at]
                found += 1
    return ends, boxes


@compiled(inline="always")
def _covers(lows: Floats, highs: Floats, box: int, points: Floats, p: int) -> bool:
    """Whether a box covers a point."""
    for a in range(points.shape[1]):
        if points[p, a] < lows[box, a] or points[p, a] > highs[box, a]:
            return False
    return True


@compiled()
def list_boxes(
    from_row: Ints, to_row: Ints, from_column: Ints, to_column: Ints, columns: int, cells: int
) -> tuple[Ints, Ints]:
    """List the boxes that reach into each cell of a grid, from and to rows and columns, both ends included.

    Returns
    -------
    offsets, listed : int64[cells + 1], int32[n]
        The boxes of cell `i` are `listed[offsets[i]:offsets[i + 1]]`, in ascending order.
    """
    offsets = np.zeros(cells + 1, dtype=np.int64)
    for box in range(len(from_row)):
        for row in range(from_row[box], to_row[box] + 1):
            for column in range(from_column[box], to_column[box] + 1):
                offsets[row * columns + column + 1] += 1
    offsets = np.cumsum(offsets)
    listed = np.empty(offsets[-1], dtype=np.int32)
    at = offsets[:-1].copy()
    for box in range(len(from_row)):
        for row in range(from_row[box], to_row[box] + 1):
            for column in range(from_column[box], to_column[box] + 1):
                cell = row * columns + column
                listed[at[cell]] = box
                at[cell] += 1
    return offsets, listed
