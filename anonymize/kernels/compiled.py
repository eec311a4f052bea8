"""The decorator of kernels: numba compiles them, and a type checker still sees plain functions."""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

_MATRICES = "scipy.linalg.cython_blas"
"""The module that numba multiplies matrices with."""
Kernel = TypeVar("Kernel", bound=Callable[..., Any])

int64, uint64 = cast(Callable[[Any], int], np.int64), cast(Callable[[Any], int], np.uint64)
"""A number in 64 bits. In kernels it is numpy's, which says the width; to the type checker it is a number."""


def compiled(**options: Any) -> Callable[[Kernel], Kernel]:
    """Compile a function when it is first called, for good, and let other threads run meanwhile."""
    return cast(Callable[[Kernel], Kernel], njit(cache=True, nogil=True, **options))


def _import_without_matrices() -> None:
    """Import what numba imports at the first call, without scipy.linalg: it takes as long as all the rest.

    No kernel multiplies matrices. One that did could not be compiled, and the error would say why.
    """
    if _MATRICES in sys.modules:
        return
    sys.modules[_MATRICES] = None  # type: ignore[assignment] # as if it were not installed
    try:
        import_module("numba.np.arraymath")
    finally:
        del sys.modules[_MATRICES]


_import_without_matrices()
