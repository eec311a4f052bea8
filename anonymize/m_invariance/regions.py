"""Regions: people whose quasi-identifiers are near one another, found without their values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from republish.anonymize.arrays import Floats, Ints
from republish.anonymize.kernels.halves import halves
from republish.anonymize.kernels.read_only import read_only

EACH = 40
"""People of each value that a region is to have, on average."""
DEEPEST = 3
"""Cuts at most. More of them gain nothing, and leave more people to groups that span several regions."""


class Regions(NamedTuple):
    """The homes of the N people of T(n)."""

    of_person: Ints
    """int[N]: 0 … number - 1. People who share all but the last k binary digits live in one region of those
    that k cuts fewer would have made."""
    number: int
    """A power of two; 1 where people are too few to be told apart by where they live."""

    def count_by(self, kind: Ints, kinds: int, of: np.ndarray | slice = slice(None)) -> Ints:
        """int64[kinds, regions]: people by kind and region.

        `kind`, int[n], is 0 … kinds - 1 for each person in question: `of` says which of the N people these
        are.
        """
        at = kind * self.number + self.of_person[of]
        return np.bincount(at, minlength=kinds * self.number).reshape(kinds, self.number)


def find_regions(shares: Floats, values: Ints, m: int) -> Regions:
    """Divide people into regions of about as many people each.

    Quasi-identifiers, float64[N, d], are normalised to [0, 1]. Of the people with each sensitive value,
    int[V], nothing has an influence but how many values there are, and people of each on average. A region
    has a value only if m values or more are there.
    """
    each = values.sum() / max(np.count_nonzero(values), m)
    depth = int(np.clip(np.log2(max(each, 1) / EACH), 0, DEEPEST))
    return Regions(cut(shares, depth), 1 << depth)


def cut(shares: Floats, depth: int) -> Ints:
    """Find the region of every person: a leaf of a kd-tree that cuts the widest attribute in the middle.

    Regions are 0 … 2 ** depth - 1, of which some may be empty. Those that share all but the last k binary
    digits form the node that lies k cuts above them. People with the same quasi-identifiers, float64[N, d]
    normalised to [0, 1], are in the same region. The width is the standard deviation.
    """
    return halves(read_only(np.ascontiguousarray(shares.T)), depth)
