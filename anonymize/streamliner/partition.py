"""From bijections to groups: the minimal self-contained partition."""

from __future__ import annotations

import numpy as np

from anonymize.arrays import Ints
from anonymize.kernels.components import components


def minimal_partition(images: Ints) -> np.ndarray:
    """The groups of the minimal self-contained partition: identifiers are together if a bijection joins them.

    Parameters
    ----------
    images
        int32[N, l - 1]: the images of each identifier under its color's bijections.

    Returns
    -------
    int64[N]
        Groups 0, 1, …

    References
    ----------
    Liu and Wang, Privacy streamliner, CODASPY 2012, Definition 3, Table 9.
    """
    return components(images)
