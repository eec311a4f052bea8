"""How people are spread over an attribute, as the published intervals of all groups together show.

Interval ends are values of people, so that somebody is at either end, unless an interval was widened to cells
of `min_width`, or of a hierarchy. Between its ends, the people of a group are spread as all people of the
release are: this density is what fits all groups at once, found by expectation maximization from intervals
alone.

An attribute has codes 0, 1, … in its order. Arrays of intervals have one entry for each of K groups.

References
----------
Xiao and Tao, m-Invariance, SIGMOD 2007, Definition 3: intervals are the smallest that cover a group.
Turnbull, The Empirical Distribution Function with Arbitrarily Grouped, Censored and Truncated Data, Journal
of the Royal Statistical Society B 38, 1976: a density that agrees with the intervals which it is made of.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from republish.anonymize.arrays import Bools, Floats, Ints
from republish.anonymize.learning.intervals import Cells, Intervals, weights_of_parts

BINS = 128
"""The density of numbers and dates is a step function of so many steps; of fewer codes, of one for each. Each
label has a step of its own: labels beside each other are not alike."""
ATOM, FEWEST_ENDS = 0.005, 4
"""A code has a step of its own if so large a share of all interval ends are there, and so many."""
PRIOR = 0.5
"""So many people more are taken to be on each step."""
ROUNDS = 2
"""How often the density is improved. More rounds gain little, and lose where groups are wide."""
LEAST_LIKENESS = 0.001
"""People of a group are alike: a place on an attribute counts at least so many times more for each person of
the group who is there (Polya's urn)."""
WIDENED = 3
"""In releases of versions below 0.5, whose ends are not all on the grid, an interval of fewer cells than this
may have been widened to them."""
MOST_CELLS = 2_000_000
"""Of more cells of an attribute, none says anything: the density is the same all around them."""
STEPPED = 0.5
"""Such a part of the people of a cell between a full and an empty one is taken to begin or end at a step."""
ROUGH, ROUGHLY, UNLIKE = 1.5, 0.3, 0.5
"""The variance of where people of a cell are is so many times the square of how rough it is, and so many
times that of all cells of the attribute, on average; and how rough cells of labels are (chosen by how often
intervals of counts that divide cells have the truth in them)."""


@dataclass(frozen=True)
class Domain:
    """The codes that an attribute has, and the cells among them whose ends intervals are widened to."""

    codes: int
    is_ordered: bool = True
    """Whether codes near each other mean values near each other: not those of labels."""
    width: float | None = None
    """That of cells, in codes; the last cell of the domain has what is left over."""
    tolerance: int = 0
    """By how many codes rounding moves the end of a cell."""
    ends_at_cells: bool = False
    """Whether the package says that intervals end where cells do."""
    lines: tuple[int, ...] = ()
    """Where cells begin, and the number of codes, if they are not all of one width."""


def intervals_of(low: Ints, high: Ints, known: Ints, people: Ints, domain: Domain) -> Intervals:
    """Find where the people of each group may be on an attribute, and how all people are spread over it.

    Parameters
    ----------
    low, high
        int64[G]: the lowest and the highest code of each group's interval; any where nobody is known.
    known
        int64[G]: the people of each group who have a value.
    people
        int64[G]: all its people.
    domain
        The attribute.
    """
    there = np.flatnonzero(known)
    ends = _Ends.of(low[there], high[there], known[there], domain)
    density = _Density.at_first(ends, domain)
    for _ in range(ROUNDS):
        density = density.improved(ends, domain)

    def of_groups(some: np.ndarray) -> np.ndarray:
        whole = np.zeros(len(known), some.dtype)
        whole[there] = some
        return whole

    return Intervals(
        low=of_groups(ends.codes[0]),
        above=of_groups(ends.codes[1]),
        upper=of_groups(ends.codes[2]),
        high=of_groups(ends.codes[3] - 1),
        is_free=of_groups(ends.is_free),
        alike=np.maximum(of_groups(ends.alike), 1e-9),
        lacking=people - known,
        start=density.start[:-1],
        span=np.diff(density.start),
        mass=density.mass,
        cells=_cells(ends, density, domain) if ends.are_cells else None,
    )


def are_cells(low: Ints, high: Ints, domain: Domain) -> bool:
    """Whether all intervals of an attribute end where cells do, as its package says."""
    return domain.ends_at_cells and len(low) > 0 and bool(_is_on_grid(low, high, domain).all())


def is_widened(low: Ints, high: Ints, domain: Domain) -> Bools:
    """Which intervals end where cells do, so that nobody need be at their ends, bool[K]."""
    if domain.width is None:
        return np.full(len(low), are_cells(low, high, domain))
    narrow = high + 1 - low < WIDENED * domain.width
    return _is_on_grid(low, high, domain) & (narrow | are_cells(low, high, domain))


def _is_on_grid(low: Ints, high: Ints, domain: Domain) -> Bools:
    width = domain.width
    if domain.lines:
        of_lines: Bools = np.isin(low, domain.lines) & np.isin(high + 1, domain.lines)
        return of_lines
    if width is None:
        return np.zeros(len(low), bool)
    begins, ends = (
        abs(code - np.round(code / width) * width) <= domain.tolerance for code in (low, high + 1)
    )
    found: Bools = begins & (ends | (high == domain.codes - 1))
    return found


@dataclass(frozen=True)
class _Ends:
    """The intervals of K groups on an attribute, in three parts: the low end, inside, and the high end."""

    codes: Ints
    """int64[4, K]: the first code of each part, and that after the last one."""
    people: Ints
    """int64[K]: how many are in each interval."""
    is_free: Bools
    """bool[K]: nobody need be at its ends, or one person is at both."""
    alike: Floats
    """float64[K]: how much likelier a place is for each person of the group who is there (Polya's urn)."""
    is_widened: Bools
    are_cells: bool
    """Whether an end is a whole cell that somebody is in, of all intervals; else it is one code."""

    @classmethod
    def of(cls, low: Ints, high: Ints, people: Ints, domain: Domain) -> _Ends:
        celled, widened = are_cells(low, high, domain), is_widened(low, high, domain)
        first, last = np.ones(len(low), np.int64), np.ones(len(low), np.int64)
        if celled and domain.lines:
            span = np.diff(domain.lines)
            first, last = (span[np.searchsorted(domain.lines, one, "right") - 1] for one in (low, high))
        elif celled and domain.width is not None:
            cell = max(1, round(domain.width))
            left_over = round(domain.codes - max(0, domain.codes // domain.width - 1) * domain.width)
            first[:], last = cell, np.where(high == domain.codes - 1, max(1, left_over), cell)
        is_reached = (low + first <= high + 1 - last) & celled
        is_free = (low == high) | (people < 2) | (widened & ~is_reached)
        above, upper = np.where(is_free, low + 1, low + first), np.where(is_free, high, high + 1 - last)
        codes = np.stack([low, above, upper, high + 1]).astype(np.int64)
        return cls(codes, people, is_free, _alike(low, high, people, is_free, domain), widened, celled)


def _alike(low: Ints, high: Ints, people: Ints, is_free: Bools, domain: Domain) -> Floats:
    """By how much less people of a group differ than people of groups that are made by lot, float64[K].

    People of a group are taken to be in the middle of its interval, with a variance: somebody is at either
    end, and the others are in between.
    """
    if not len(low):
        return np.empty(0)
    middle = (low + high) / 2 / domain.codes
    variance = ((high - low) / domain.codes) ** 2 / 12 * np.where(is_free, 1, 1 + 4 / people)
    whole = variance.mean() + (middle.var() if np.ptp(middle) else 0)  # rounding is no difference
    within = (variance * people / np.maximum(1, people - 1)).mean() / whole if whole else 1.0
    found: Floats = np.maximum(LEAST_LIKENESS, (1 - within) / np.sqrt(people))
    return found


@dataclass(frozen=True)
class _Density:
    """How all people are spread over an attribute, on B steps."""

    start: Ints
    """int64[B + 1]: the first code of each step, and the number of codes."""
    mass: Floats
    """float64[B]: the part of all people on each step."""
    is_smooth: Bools
    """bool[B]: a step is like those beside it. It has codes in an order, and more than one."""

    @classmethod
    def at_first(cls, ends: _Ends, domain: Domain) -> _Density:
        """Give codes that are often an end their share of all ends, and spread the rest evenly.

        Many people share such codes, as they do 40 hours a week.
        """
        wide = -(-domain.codes // BINS) if domain.is_ordered else 1
        start = np.append(np.arange(0, domain.codes, wide), domain.codes)
        at_ends = ends.codes[:, ~ends.is_widened]
        codes, times = np.unique(np.concatenate([at_ends[0], at_ends[3] - 1]), return_counts=True)
        is_often = times >= max(FEWEST_ENDS, ATOM * times.sum()) if wide > 1 else np.zeros(len(times), bool)
        atoms, share = codes[is_often], times[is_often] / max(1, times.sum())
        start = np.unique(np.concatenate([start, atoms, atoms + 1]))
        is_atom = np.isin(start[:-1], atoms)
        even = np.where(is_atom, 0, np.diff(start))
        mass = (1 - share.sum()) * even / max(1, even.sum())
        mass[is_atom] = share
        return cls(start, mass, ~is_atom & (wide > 1))

    def upto(self, codes: Ints) -> Floats:
        """The part of all people who are below each code."""
        found: Floats = np.interp(codes, self.start, np.append(0, np.cumsum(self.mass)))
        return found

    def improved(self, ends: _Ends, domain: Domain) -> _Density:
        """The density again, of where the people of each group are by this one."""
        span = np.diff(self.start)
        people = PRIOR * BINS * span / domain.codes + self.people(ends, self.start)
        own = (people / span)[self.is_smooth]
        beside = np.pad(own, 1, mode="edge") if len(own) else np.zeros(2)
        people[self.is_smooth] = (beside[:-2] + 2 * own + beside[2:]) / 4 * span[self.is_smooth]
        return _Density(self.start, people / people.sum(), self.is_smooth)

    def people(self, ends: _Ends, start: Ints) -> Floats:
        """How many people are expected between each two of some codes, float64[len(start) - 1]."""
        upto, below = self.upto(ends.codes), self.upto(start)
        each = ends.people * _shares(upto, ends)
        step = np.searchsorted(start, ends.codes, side="right") - 1
        held, first, last, since, until = (
            one.ravel() for one in (each, step[:-1], step[1:], upto[:-1], upto[1:])
        )
        is_far, steps = (first < last) & (until > since), len(start)
        found: Floats = np.bincount(first[first == last], held[first == last], steps).astype(float)
        first, last, since, until = first[is_far], last[is_far], since[is_far], until[is_far]
        rate = held[is_far] / (until - since)
        found += np.bincount(first, rate * (below[first + 1] - since), steps)
        found += np.bincount(last, rate * (until - below[last]), steps)
        rates = np.bincount(first + 1, rate, steps) - np.bincount(last, rate, steps)
        found[:-1] += np.maximum(np.cumsum(rates[:-1]), 0) * np.diff(below)
        return found[:-1]


def _shares(upto: Floats, ends: _Ends) -> Floats:
    """How likely a person of each group is in each part of its interval, float64[3, K].

    Parameters
    ----------
    upto
        float64[4, K]: the part of all people below each part of the interval, and below its end.
    """
    is_one = ends.codes[0] + 1 == ends.codes[3]
    weights = weights_of_parts(upto, is_one, ~ends.is_free, ends.people, ends.alike)
    found: Floats = weights / np.maximum(weights.sum(axis=0), 1e-300)
    return found


def _cells(ends: _Ends, density: _Density, domain: Domain) -> Cells | None:
    """The cells of an attribute, and what neighbours say of where in a cell people are.

    In a cell between a fuller and an emptier one there may be a step: `nearer` is the part of the cell on its
    fuller side, if people are there as in the fuller cell, and beyond as in the emptier one. `jump` is how
    much of the difference does not go on in the cells beyond the neighbours. `STEPPED` of the people of a
    cell beside an empty one are taken to be so, and fewer beside a fuller one: `filled` is which part of the
    people is on the near side then. `rough` is how far the share of a part of the cell may be off: by a step
    or a slope, or by what the cell has more or less than both its neighbours. Nobody is beyond the domain.
    Labels have no neighbours.
    """
    start, width = np.array(domain.lines, np.int64), domain.width
    if width is not None:
        number = max(1, math.floor(domain.codes / width))
        if number > MOST_CELLS:
            return None
        start = np.append(np.round(np.arange(number) * width).astype(np.int64), domain.codes)
    number = len(start) - 1
    people, span = density.people(ends, start), np.maximum(1, np.diff(start))
    full = people / span
    lower, below, _, above, upper = (np.pad(full, 2)[at : at + number] for at in range(5))
    fewest, most = np.minimum(below, above), np.maximum(below, above)
    is_step = (fewest < full) & (full < most) & domain.is_ordered
    apart, own = np.where(is_step, most - fewest, 1), np.where(people > 0, full, 1)
    rise = np.where(is_step, above - below, 1)
    jump = np.where(is_step, 1 - np.clip((upper - above + below - lower) / rise, 0, 1), 0)
    sure = STEPPED * jump * (1 - fewest / np.maximum(most, 1e-9))
    nearer = np.where(is_step, (full - fewest) / apart, 1)
    filled = np.where(is_step, nearer * (1 - sure + sure * most / own), 1)
    stepped = (most - full) * nearer / own * (1 + 3 * jump) / 4
    uneven = np.maximum(0, np.maximum(1 - most / own, 1 - full / np.maximum(fewest, 1e-9)))
    rough = np.where(is_step, stepped, uneven) if domain.is_ordered else np.full(number, UNLIKE)
    usual = (rough**2 * people).sum() / max(people.sum(), 1e-300)
    return Cells(
        width and float(width),
        start=start[:-1],
        span=span,
        is_rising=above > below,
        nearer=nearer,
        filled=filled,
        uneven=np.where(people > 0, np.minimum(1, ROUGH * (rough * (1 - sure)) ** 2 + ROUGHLY * usual), 0),
    )
