"""The kinds of arrays there are. A docstring says how wide their numbers are, and the shape."""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.integer]
Words = NDArray[np.unsignedinteger]
"""Bits, or numbers that are mixed."""
Floats = NDArray[np.floating]
Bools = NDArray[np.bool_]
