"""The decorator of kernels: numba compiles them, and a type checker still sees plain functions."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

int64, uint64 = cast(Callable[[Any], int], np.int64), cast(Callable[[Any], int], np.uint64)
"""A number in 64 bits. In kernels it is numpy's, which says the width; to the type checker it is a number."""


def compiled(**options: Any) -> Callable[[Kernel], Kernel]:
    """Compile a function when it is first called, for good, and let other threads run meanwhile."""
    return cast(Callable[[Kernel], Kernel], njit(cache=True, nogil=True, **options))
