"""Regions: people whose quasi-identifiers are near one another, found without their values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anonymize.arrays import Bools, Floats, Ints

EACH = 40
"""People of each value that a region is to have, on average."""
DEEPEST = 3
"""Cuts at most. More of them gain nothing, and leave more people to groups that span several regions."""


class Regions(NamedTuple):
    """Where the N people of T(n) live."""

    of_person: Ints
    """int[N]: 0 … number - 1. People who share all but the last k binary digits live in one region of those
    that k cuts fewer would have made."""
    number: int
    """A power of two; 1 where people are too few to be told apart by where they live."""

    def count_by(self, kind: Ints, kinds: int, of: np.ndarray | slice = slice(None)) -> Ints:
        """int64[kinds, regions]: people of each kind by region, of some rows or of everybody.

        Parameters
        ----------
        kind
            int[n]: 0 … kinds - 1, of each person in question.
        kinds
            How many kinds there are: of values, of buckets.
        of
            Which of the N people are in question, as an index of n rows.
        """
        at = kind * self.number + self.of_person[of]
        return np.bincount(at, minlength=kinds * self.number).reshape(kinds, self.number)


def find_regions(shares: Floats, values: Ints, m: int) -> Regions:
    """Divide people into regions of about as many people each.

    Parameters
    ----------
    shares
        float64[N, d]: quasi-identifiers normalised to [0, 1].
    values
        int[V]: how many people have each sensitive value. Nothing but how many values there are, and people
        of each on average, has an influence.
    m
        Privacy parameter: what a region has of a value counts where m values or more are there.
    """
    each = values.sum() / max(np.count_nonzero(values), m)
    depth = int(np.clip(np.log2(max(each, 1) / EACH), 0, DEEPEST))
    return Regions(cut(shares, depth), 1 << depth)


def cut(shares: Floats, depth: int) -> np.ndarray:
    """The region of every person: a leaf of a kd-tree that cuts the widest attribute in the middle.

    Parameters
    ----------
    shares
        float64[N, d]: quasi-identifiers normalised to [0, 1].
    depth
        Cuts from the root to a leaf; there are 2 ** depth regions, of which some may be empty.

    Returns
    -------
    int64[N]
        Regions 0 … 2 ** depth - 1. Those that share all but the last k binary digits form the node that
        lies k cuts above them.

    Notes
    -----
    People with the same quasi-identifiers are in the same region. The width is the standard deviation.
    """
    region = np.zeros(len(shares), np.int64)
    nodes = [np.arange(len(shares))]
    for _ in range(depth):
        halves = []
        for rows in nodes:
            right = _beyond_the_middle(shares[rows])
            region[rows] = 2 * region[rows] + right
            halves += [rows[~right], rows[right]]
        nodes = halves
    return region


def _beyond_the_middle(shares: np.ndarray) -> Bools:
    """bool[N]: who lies beyond the middle of the widest attribute; nobody where all lie at one point."""
    if not len(shares) or not (spread := shares.std(axis=0)).any():
        return np.zeros(len(shares), bool)
    along: Floats = shares[:, int(np.argmax(spread))]
    middle: float = np.partition(along, len(along) // 2)[len(along) // 2]
    above: Bools = along > middle
    from_it: Bools = along >= middle
    nearer = abs(above.mean() - 0.5) <= abs(from_it.mean() - 0.5)
    return above if (nearer and above.any()) or from_it.all() else from_it
