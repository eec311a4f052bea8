"""The mixing function of splitmix64: numbers that differ in one bit become numbers that differ in about half.

Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from republish.anonymize.arrays import Ints, Words
from republish.anonymize.kernels.compiled import compiled

STEP = np.uint64(0x9E3779B97F4A7C15)
"""What a state moves on by between two numbers."""


def mixed(z: Words) -> Words:
    """Each number, mixed: uint64[N] to uint64[N]. No two numbers become one."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


mixed_number = cast(Callable[[Any], int], compiled()(mixed))
"""`mixed` of one number, for kernels, which have it compiled into themselves (see `stable_partition`)."""


def numbers_drawn(begin: int, end: int) -> Words:
    """The numbers of splitmix64 from one place to another, uint64[end - begin]: the same for ever."""
    return mixed((np.arange(begin, end, dtype=np.uint64) + np.uint64(1)) * STEP)


def rows_drawn(rows: int, most: int) -> Ints:
    """So many rows in a drawn order, or all if there are fewer: the same for ever, int64[most]."""
    drawn: Ints = np.argsort(numbers_drawn(0, rows))[:most]
    return drawn
