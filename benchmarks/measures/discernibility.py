"""The optimum of the discernibility metric."""

from __future__ import annotations

import numpy as np


def least_discernibility(counts: np.ndarray, l: int) -> int:
    """The smallest discernibility of any partition into l-diverse groups: no value has more than 1/l.

    Parameters
    ----------
    counts
        int[V]: tuples of each sensitive value; l-eligible.
    l
        At least 2.

    Returns
    -------
    int
        The optimum, not a bound: it is attained.

    Raises
    ------
    ValueError
        If the values are not l-eligible: there is no such partition.

    Notes ----- An l-diverse group has at least l tuples, so there are at most floor(N / l) groups, and
    squares add up to least if there are as many as can be and their sizes differ by at most one. Such a
    partition exists: put the tuples in a row, value after value, and give the i-th one to group i modulo
    floor(N / l). No value is more frequent than the number of groups, so each group has each value at most
    once.

    Examples
    --------
    >>> least_discernibility(np.array([2, 2, 1]), 2)
    13
    """
    tuples = int(counts.sum())
    if int(counts.max(initial=0)) * l > tuples:
        raise ValueError(f"{tuples} tuples, of which {counts.max()} share a value, are not {l}-eligible")
    if not tuples:
        return 0
    size, larger = divmod(tuples, tuples // l)
    return (tuples // l - larger) * size**2 + larger * (size + 1) ** 2
