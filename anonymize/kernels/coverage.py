"""The published boxes that a person lies in: the loop behind every attack by quasi-identifiers."""

import numpy as np

from republish.anonymize.arrays import Floats, Ints, Words
from republish.anonymize.kernels.compiled import compiled, int64, uint64

DE_BRUIJN = uint64(0x03F79D71B4CB0A89)
"""Shifted left by each of 0 to 63 places, it has another number in its highest six bits."""
PLACES = np.empty(64, np.int64)
for place in range(64):
    PLACES[((int(DE_BRUIJN) << place) & (2**64 - 1)) >> 58] = place


@compiled()
def cover(
    points: Floats, cells: Ints, lows: Floats, highs: Floats, reached: Words, sets: Words
) -> tuple[Words, Ints, Ints]:
    """The union of the bitsets of all boxes that cover each point, and which boxes those are.

    Sort points and boxes by the first attributes. A point takes less time the more cells it has in common
    with the point before.

    Parameters
    ----------
    points : float64[p, d]
        One row of codes per point: of the attributes whose cells have several codes.
    cells : int64[p, a]
        The cell of every attribute that each point lies in.
    lows, highs : float64[b, d]
        Boxes, closed on both ends; attributes as those of `points`.
    reached : uint64[a, c, n]
        The boxes that reach into each cell, as `reaching` lists them.
    sets : uint64[b, w]
        One bitset per box.

    Returns
    -------
    union : uint64[p, w]
        Bitsets of the covering boxes, united.
    first : int32[p]
        The first covering box, -1 where none covers.
    covering : int32[p]
        How many boxes cover the point.
    """
    width = sets.shape[1]
    everything = np.zeros(width, dtype=np.uint64)
    for box in range(len(sets)):
        everything |= sets[box]
    union = np.zeros((len(points), width), dtype=np.uint64)
    first = np.full(len(points), -1, dtype=np.int32)
    covering = np.zeros(len(points), dtype=np.int32)
    is_decided = points.shape[1] == 0
    words, at, many = _all_boxes(reached)
    for p in range(len(points)):
        _narrow(reached, cells, p, words, at, many)
        found, missing = 0, 1
        for i in range(many[-1]):
            near = words[-1, i]
            # Once nothing can be added to the union, boxes are only counted.
            while near and (missing or not is_decided):
                box, near = _next(near, at[-1, i])
                if is_decided or _covers(lows, highs, box, points, p):
                    if found == 0:
                        first[p] = box
                    found += 1
                    missing = 0
                    for w in range(width):
                        union[p, w] |= sets[box, w]
                        missing |= union[p, w] != everything[w]
            found += int64(_ones(near))
        covering[p] = found
    return union, first, covering


@compiled()
def covering(points: Floats, cells: Ints, lows: Floats, highs: Floats, reached: Words) -> tuple[Ints, Ints]:
    """The boxes that cover each point; arguments as those of `cover`.

    Returns
    -------
    ends, boxes : int64[p + 1], int32[n]
        The boxes of point `i` are `boxes[ends[i]:ends[i + 1]]`, in ascending order.
    """
    ends = np.zeros(len(points) + 1, dtype=np.int64)
    boxes = np.empty(len(points), dtype=np.int32)
    found = 0
    words, at, many = _all_boxes(reached)
    for p in range(len(points)):
        _narrow(reached, cells, p, words, at, many)
        for i in range(many[-1]):
            near = words[-1, i]
            while near:
                box, near = _next(near, at[-1, i])
                if _covers(lows, highs, box, points, p):
                    if found == len(boxes):
                        boxes = np.concatenate((boxes, np.empty_like(boxes)))
                    boxes[found] = box
                    found += 1
        ends[p + 1] = found
    return ends, boxes[:found]


@compiled()
def reaching(begin: Ints, to: Ints, cells: int) -> Words:
    """The boxes that reach into each cell of each attribute: uint64[d, cells, n], 64 boxes to a word.

    A box reaches from cell `begin` to cell `to` of each attribute (int64[b, d]), both included.
    """
    boxes, attributes = begin.shape
    reached = np.zeros((attributes, cells, (boxes + 63) // 64), dtype=np.uint64)
    for box in range(boxes):
        bit = uint64(1) << uint64(box % 64)
        for a in range(attributes):
            for cell in range(begin[box, a], to[box, a] + 1):
                reached[a, cell, box // 64] |= bit
    return reached


@compiled()
def _all_boxes(reached: Words) -> tuple[Words, Ints, Ints]:
    """Where `_narrow` keeps the boxes near a point by the first 0, 1, … attributes: at first all, by none."""
    attributes, _, count = reached.shape
    words = np.empty((attributes + 1, count), dtype=np.uint64)
    words[0] = ~uint64(0)
    at = np.empty((attributes + 1, count), dtype=np.int64)
    at[0] = np.arange(count)
    many = np.zeros(attributes + 1, dtype=np.int64)
    many[0] = count
    return words, at, many


@compiled()
def _narrow(reached: Words, cells: Ints, p: int, words: Words, at: Ints, many: Ints) -> None:
    """Find the boxes that reach into a point's cells: row `a` has those of the first `a` attributes.

    Of each row of `words`, the first `many[a]` are filled, none of them is empty, and `at` has their places.
    Rows that are the same for the point before are kept.
    """
    attributes, start = cells.shape[1], 0
    if p > 0:
        while start < attributes and cells[p, start] == cells[p - 1, start]:
            start += 1
    for a in range(start, attributes):
        cell, found = cells[p, a], 0
        for i in range(many[a]):
            word = words[a, i] & reached[a, cell, at[a, i]]
            words[a + 1, found] = word
            at[a + 1, found] = at[a, i]
            found += word != 0
        many[a + 1] = found


@compiled(inline="always")
def _next(near: int, word: int) -> tuple[int, int]:
    """The first box of a word that is not empty, and the word without it."""
    lowest = near & (~near + uint64(1))
    return word * 64 + PLACES[(lowest * DE_BRUIJN) >> uint64(58)], near ^ lowest


@compiled(inline="always")
def _ones(bits: int) -> int:
    """How many bits of a word are set."""
    bits -= (bits >> uint64(1)) & uint64(0x5555555555555555)
    bits = (bits & uint64(0x3333333333333333)) + ((bits >> uint64(2)) & uint64(0x3333333333333333))
    bits = (bits + (bits >> uint64(4))) & uint64(0x0F0F0F0F0F0F0F0F)
    return (bits * uint64(0x0101010101010101)) >> uint64(56)


@compiled(inline="always")
def _covers(lows: Floats, highs: Floats, box: int, points: Floats, p: int) -> bool:
    """Whether a box covers a point."""
    for a in range(points.shape[1]):
        if points[p, a] < lows[box, a] or points[p, a] > highs[box, a]:
            return False
    return True
