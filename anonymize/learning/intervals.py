"""Intervals of groups on an attribute, and cells of them: where people of groups may be."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from republish.anonymize.arrays import Bools, Floats, Ints

LEAST_END = 0.001
"""An end of an interval is taken to have at least so large a share of the interval's mass: how many people of
a group are there hangs on ratios of masses, and very small ones are lost in rounding."""
MANY = 64
"""Of so many people of a group, each is multiplied; of more, logarithms of the gamma function are added."""


@dataclass(frozen=True)
class Cells:
    """The cells of an attribute, and what their neighbours say of places in them."""

    width: float | None
    """In codes; None where they differ."""
    start: Ints
    """int64[C]: the first code of each cell; `span` codes belong to it."""
    span: Ints
    is_rising: Bools
    """bool[C]: the cell above is fuller than the one below."""
    nearer: Floats
    """float64[C]: the part of the cell before a step in it, on its fuller side; 1 without a step."""
    filled: Floats
    """float64[C]: the part of the cell's people who are before the step."""
    uneven: Floats
    """float64[C]: how likely people of the cell are all in one quarter of it."""

    def moved(self, codes: Ints, of_copy: np.random.Generator, of_people: np.random.Generator) -> Ints:
        """Draw where in their cells people are, by chance that is a copy's and that is each person's."""
        last = len(self.start) - 1
        if self.width is None:
            of = np.searchsorted(self.start, codes, side="right") - 1
        else:
            of = np.clip((codes / self.width).astype(np.int64), 0, last)
        place = of_people.random(len(codes))
        quarters = of_copy.integers(4, size=last + 1)
        together = of_copy.random(last + 1) < self.uneven
        place = np.where(together[of], (quarters[of] + place) / 4, place)
        near, filled = self.nearer[of], self.filled[of]
        ahead = np.where(self.is_rising[of], 1 - place, place)
        beyond = near + (ahead - filled) * (1 - near) / np.maximum(1 - filled, 1e-12)
        ahead = np.where(ahead < filled, ahead * near / np.maximum(filled, 1e-12), beyond)
        place = np.where(near < 1, np.where(self.is_rising[of], 1 - ahead, ahead), place)
        found: Ints = self.start[of] + np.minimum((place * self.span[of]).astype(np.int64), self.span[of] - 1)
        return found


@dataclass(frozen=True)
class Intervals:
    """The intervals of all groups on an attribute, in codes from 0 on, and how people are spread over it."""

    low: Ints
    """int64[G]: the lowest code of each group's interval."""
    above: Ints
    """int64[G]: the lowest code above its low end, where somebody is."""
    upper: Ints
    """int64[G]: the lowest code of its high end, where somebody is."""
    high: Ints
    """int64[G]: its highest code."""
    is_free: Bools
    """bool[G]: nobody need be at its ends."""
    alike: Floats
    """float64[G]: how much likelier a place is for each person of the group who is there (Polya's urn)."""
    lacking: Ints
    """int64[G]: how many people of the group have no value."""
    start: Ints
    """int64[B]: the first code of each step of the density, `span` codes long."""
    span: Ints
    mass: Floats
    """float64[B]: the part of all people on each step."""
    cells: Cells | None = None


def weights_of_parts(upto: Floats, is_one: Bools, must: Bools, people: Ints, alike: Floats) -> Floats:
    """Weigh where a person of each group is: at the low end of its interval, inside, or at the high end.

    Somebody is at either end. With `l`, `m` and `h` for the masses of the three, a person at the low end is
    as likely as `l (1 - P(none of the others is at the high end))`, and so on.

    Parameters
    ----------
    upto
        float64[4, K]: the mass below each part of the interval, and below its end.
    is_one
        bool[K]: the interval is one code, which is its low end.
    must
        bool[K]: somebody must be at either end.
    people, alike
        [K]: as of `all_within`.

    Returns
    -------
    numpy.ndarray
        float64[3, K]: weights that are not scaled to add up to 1.
    """
    whole, tiny = upto[3] - upto[0], 1e-9
    low, inside = np.maximum(upto[1] - upto[0], LEAST_END * whole), np.maximum(upto[2] - upto[1], 0)
    high = np.where(is_one, 0, np.maximum(upto[3] - upto[2], LEAST_END * whole))
    shares = np.stack([inside + high, low + inside, inside]) / np.maximum(low + inside + high, 1e-300)
    others = np.zeros(shares.shape)
    others[:, must] = all_within(shares[:, must], people[must], alike[must])
    no_low, no_high, neither = others
    return np.stack(
        [
            low * (1 - no_high + tiny),
            inside * (1 - no_low - no_high + neither + tiny),
            high * (1 - no_low + tiny),
        ]
    )


def all_within(share: Floats, people: Ints, alike: Floats) -> Floats:
    """How likely all others of a group are within the share that the first one is in (Polya's urn).

    Parameters
    ----------
    share
        float64[…, K]: such parts, of K groups.
    people, alike
        [K]: the people of each group, and how much likelier a place is for each of them who is there.
    """
    found: Floats = np.ones(share.shape)
    for other in range(1, min(MANY, int(people.max(initial=0)))):
        found *= np.where(people > other, (share + other * alike) / (1 + other * alike), 1)
    many = people > MANY
    if many.any():
        within, each, number = share[..., many] / alike[many], 1 / alike[many], people[many]
        logarithm = _log_gamma(within + number) - _log_gamma(within + 1)
        found[..., many] = np.exp(logarithm - _log_gamma(each + number) + _log_gamma(each + 1))
    return found


def _log_gamma(x: Floats) -> Floats:
    """The logarithm of the gamma function of numbers above 0, to 12 digits (Stirling's series from 8 on)."""
    low = x[x < 8]
    high = np.where(x < 8, x + 8, x)
    series = 1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / high**2) / high**2) / high**2) / high**2
    found: Floats = (high - 0.5) * np.log(high) - high + math.log(2 * math.pi) / 2 + series / high
    found[x < 8] -= np.log(np.prod([low + step for step in range(8)], axis=0))
    return found
