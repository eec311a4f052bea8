"""Loops as numba compiles them. To import it takes a third of a second, so nothing does before it has to."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from numba import njit, typeof
from numba.extending import typeof_impl

from republish.anonymize.kernels.compiled import Loop

_MATRICES = "scipy.linalg.cython_blas"
"""The module that numba multiplies matrices with."""


def dispatcher(function: Callable[..., Any], **options: Any) -> Any:
    """A function that numba compiles when it is called; what it compiled is kept beside the source."""
    return njit(cache=True, nogil=True, **options)(function)


@typeof_impl.register(Loop)
def _(loop: Loop, _: object) -> Any:
    """The type of a loop that is called by another."""
    return typeof(loop.dispatcher)  # type: ignore[no-untyped-call]


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
