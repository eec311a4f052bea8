"""The discernibility metric: each tuple costs as much as there are tuples it can't be told from."""

from __future__ import annotations

import numpy as np

from republish.anonymize.arrays import Ints


def discernibility(sizes: Ints) -> int:
    """The sum of the squares of the groups' sizes, int[G].

    Examples
    --------
    >>> discernibility(np.array([2, 3]))
    13

    References
    ----------
    Bayardo and Agrawal, Data privacy through optimal k-anonymization, ICDE 2005.
    """
    return int((sizes.astype(np.int64) ** 2).sum())
