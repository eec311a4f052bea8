"""Distances up to which two numbers count as equal, because they were rounded on the way.

Counts are whole numbers, which are compared exactly. These are for quotients, logarithms and sums of them.
numba compiles them into kernels and does not notice when they change here: then delete what it has cached.
"""

from __future__ import annotations

import numpy as np

from republish.anonymize.arrays import Floats, Ints

FEW_STEPS = 1e-12
"""Between numbers of the size of 1 after a few operations, such as quotients of counts; or between any two,
relative to one of them."""
MANY_STEPS = 1e-9
"""Between numbers of the size of 1 after as many operations as there are releases, people or rounds."""
SOLVER = 1e-6
"""Between a whole number and what a solver of linear programs takes for one: ten times HiGHS' tolerance."""


def whole_below(found: Floats) -> Ints:
    """Round what a solver found down to whole numbers, up to its tolerance."""
    whole: Ints = np.floor(found + SOLVER).astype(np.int64)
    return whole
