"""The assignment problem, by the compiled module of scipy that solves it.

The package around it, scipy.optimize, takes as long to import as a tenth of a small release.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import cast

import scipy

from republish.anonymize.arrays import Floats, Ints


def assign_most(gain: Floats) -> tuple[Ints, Ints]:
    """The rows and columns, int64[min(R, C)] each, of the pairs that together gain most.

    No two pairs share a row or a column, and rows ascend. `gain`, float64[R, C], is that of each pair. This
    is `scipy.optimize.linear_sum_assignment`.

    Examples
    --------
    >>> import numpy as np
    >>> assign_most(np.array([[4.0, 1.0], [5.0, 3.0]]))[1].tolist()
    [0, 1]

    References
    ----------
    Crouse, On implementing 2D rectangular assignment algorithms, IEEE Transactions on Aerospace and
    Electronic Systems 52(4), 2016.
    """
    return _solver()(gain, maximize=True)


@cache
def _solver() -> Callable[..., tuple[Ints, Ints]]:
    found = PathFinder.find_spec("_lsap", [f"{folder}/optimize" for folder in scipy.__path__])
    if found is None or found.loader is None:  # a scipy that keeps it elsewhere
        return cast("Callable[..., tuple[Ints, Ints]]", scipy.optimize.linear_sum_assignment)
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return cast("Callable[..., tuple[Ints, Ints]]", module.linear_sum_assignment)
