"""Numbers of which a release has the bins: drawn within these, as their neighbours say that numbers lie."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from republish.anonymize.arrays import Floats, Ints

OFF_TYPICAL = 0.1
"""The standard deviation of how far the mean of a bin's numbers is from what neighbours say, in widths of the
bin: it is by one lot of a copy, in all bins alike."""
STEEPEST, FLAT = 50.0, 1e-3
"""The logarithm of the density rises by so much in a bin at most; by less than `FLAT`, it is even."""
FINE = 1000
"""Numbers are drawn to about a part of so many of their bin."""


@dataclass(frozen=True)
class Bins:
    """The bins of a sensitive column, from the lowest one up."""

    edges: Floats
    """float64[B + 1]"""
    steep: Floats
    """float64[B]: by how much the logarithm of the density of numbers rises within each bin."""

    @classmethod
    def of(cls, edges: Sequence[float], people: Ints | Floats) -> Bins:
        """Bins between such edges, which have so many people each.

        The density of numbers in a bin rises or falls by as much as from the bin below to the one above.
        """
        ends = np.asarray(edges, float)
        width, middle = np.diff(ends), (ends[1:] + ends[:-1]) / 2
        density = np.log(np.maximum(people, 0.5) / width)
        slope = np.empty(len(width))
        slope[1:-1] = (density[2:] - density[:-2]) / (middle[2:] - middle[:-2])
        for at, (low, high) in ((0, (0, 1)), (-1, (-2, -1))):
            slope[at] = (density[high] - density[low]) / (middle[high] - middle[low])
        return cls(ends, np.clip(width * slope, -STEEPEST, STEEPEST))

    def drawn(self, bins: Ints, random: np.random.Generator) -> Floats:
        """Draw a number in each of some bins, float64[N]; NaN where the bin is -1."""
        # A density that rises by s moves the mean of a bin by s / 12 of its width.
        off = 12 * OFF_TYPICAL * random.normal()
        steep = np.clip(self.steep + off, -STEEPEST, STEEPEST)[bins]
        chance = random.random(len(bins))
        is_flat = np.abs(steep) < FLAT
        steep = np.where(is_flat, 1, steep)
        place = np.where(is_flat, chance, np.log1p(chance * np.expm1(steep)) / steep)
        low, high = self.edges[:-1][bins], self.edges[1:][bins]
        step = min(1.0, 10.0 ** math.floor(math.log10(np.diff(self.edges).min() / FINE)))
        found = np.clip(np.round((low + place * (high - low)) / step) * step, low, np.nextafter(high, low))
        return np.where(bins < 0, np.nan, found)
