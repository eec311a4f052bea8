"""The mixing function of splitmix64: numbers that differ in one bit become numbers that differ in about half.

Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numba import njit

from republish.anonymize.arrays import Words

STEP = np.uint64(0x9E3779B97F4A7C15)
"""What a state moves on by between two numbers."""


def mixed(z: Words) -> Words:
    """Each number, mixed: uint64[N] to uint64[N]. No two numbers become one."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


mixed_number = cast(Callable[[Any], int], njit(mixed))
"""The same of one number, for kernels, which have it compiled into themselves (see `stable_partition`)."""
