"""From bijections to groups: the minimal self-contained partition."""

from __future__ import annotations

import numpy as np
import scipy

from republish.anonymize.arrays import Ints


def minimal_partition(images: Ints) -> Ints:
    """The groups of the minimal self-contained partition: identifiers are together if a bijection joins them.

    `images`, int32[N, l - 1], are those of each identifier under its color's bijections. Groups, int64[N],
    are numbered in the order of their first identifiers.

    References
    ----------
    Liu and Wang, Privacy streamliner, CODASPY 2012, Definition 3, Table 9.
    """
    size, degree = images.shape
    ends = np.arange(size + 1) * degree
    joined = scipy.sparse.csr_array((np.ones(images.size, bool), images.ravel(), ends), shape=(size, size))
    return np.asarray(scipy.sparse.csgraph.connected_components(joined, directed=False)[1], np.int64)
