"""Arrays of one type: numba compiles a kernel for those that may be written to, and again for the others."""

import numpy as np


def read_only(array: np.ndarray) -> np.ndarray:
    """A view of an array that nothing is written to: what polars shares is such, what was computed is not."""
    view = array.view()
    view.setflags(write=False)
    return view
