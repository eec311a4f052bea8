"""Copies of a table of people: multiple imputations that differ from each other as far as a reader errs.

Each copy is a table that may be the publisher's: it has each published group's people and values. What is not
published is drawn anew for each copy, and so is how far the models err that it is drawn from:

- Where people are within intervals is drawn from how all people of the release are spread. A lot of the copy
  moves this towards people who are spread evenly, or away from them.
- Which place on one attribute goes with which on another one within a group is drawn by lot. Lots of the
  copy say how far a high place goes with other high places, or with low ones, and how far columns go with
  each other in a group as they do from group to group.
- Which tuples are counterfeits is one of the allocations that agree with the counterfeits of all groups.
- Who has which value within a group is drawn by ranks: people are in the order of a random function of their
  quasi-identifiers, and values in a random order, both with noise. Both orders are the same for all groups of
  a copy: so copies differ by how values may go with quasi-identifiers.

An estimate from all copies is the mean of the estimates from each, and its error follows from how much these
differ (`pooled`).

References
----------
Rubin, Multiple Imputation for Nonresponse in Surveys, 1987. Schenker and Welsh, Asymptotic Results for
Multiple Imputation, Annals of Statistics 16, 1988: the models that copies are drawn from err, too.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from republish.anonymize.arrays import Bools, Floats, Ints

EVENLY, IN_LINE, JOINTLY, BY_RANK = 2.0, 1.5, 3.0, 1.2
"""How far a lot of a copy, which is normal, moves people: towards being spread evenly, towards being in line
on all attributes, and towards places that go together in other groups. Where people of a group have about the
same weighted rank, a place on one attribute excludes many on another: lots move the last two `BY_RANK` times
as far (benchmarks/measures/copies.py, as all constants here)."""
CROWDED, ALONE, ALIKE, NEAR = 0.5, 0.75, 0.07, 0.05
"""People of a group crowd inside of its intervals: two of them are near each other by chance `CROWDED *
(ALONE + ALIKE * k) / (k - 1)`, k being how many they are. `NEAR` is how near, in parts of the interval."""
LEAST = 0.02
"""A lot leaves each step of a density such a part of its mass."""
LEAST_END = 0.001
"""An end of an interval has at least such a part of its mass: somebody is there."""
NOISE, NOISES = 0.12, 0.5
"""The noise of both orders by which values are dealt, in standard deviations of what is without noise: its
median, and the standard deviation of its logarithm from copy to copy."""
STEPS, REACH, SLOPE = 8, 2.0, 3.0
"""The function by which people are in order has so many steps on a number, as many people on each. Steps are
alike as far as this reaches, and rise or fall by `SLOPE` standard deviations from the middle to an end."""
FAINT = 0.2
"""An attribute with which values do not go by groups has such a part in the order of people."""
CLASSES, FEW = 16, 0.5
"""Two attributes are compared in so many classes of as many people each, and so many people more are taken to
be in each pair of classes."""
PAIRINGS, REDRAWN = 4, 4
"""So many ways to pair the places of a group are drawn, and each person's places so many times more. A lot of
the copy says how often the likeliest ones are taken, or the unlikeliest."""
MANY = 64
"""Of so many people of a group, each is multiplied; of more, logarithms of the gamma function are added."""
MISSING = -1
"""The code of a value that is missing."""


@dataclass(frozen=True)
class Cells:
    """The cells of `min_width` of an attribute, and what their neighbours say of places in them."""

    width: float
    """In codes."""
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

    def moved(self, codes: Ints, lots: _Lots) -> Ints:
        """Draw where in their cells people are."""
        last = len(self.start) - 1
        of = np.clip((codes / self.width).astype(np.int64), 0, last)
        place = lots.of_people.random(len(codes))
        quarters = lots.of_copy.integers(4, size=last + 1)
        together = lots.of_copy.random(last + 1) < self.uneven
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
    is_ordered: bool
    """Whether codes near each other mean values near each other: not those of labels."""
    cells: Cells | None = None


@dataclass(frozen=True)
class PublishedGroups:
    """What a release says of its groups: those that have people, in the order of their numbers."""

    people: Ints
    """int64[G]: how many people each group has."""
    size: Ints
    """int64[G]: how many tuples."""
    group: Ints
    """int64[H]: the group of each entry of values."""
    value: Ints
    """int64[H]: the place of the value in the domain."""
    tuples: Ints
    """int64[H]: how many tuples of the group have it."""
    kind: Ints
    """int64[H]: the column of `fakes` that says how likely these tuples are counterfeits."""
    fakes: Floats
    """float64[D, K]: the part of the tuples of a kind that are counterfeits in each of D allocations."""
    intervals: tuple[Intervals, ...] = ()
    """The attributes; none if quasi-identifiers are published exactly."""
    rows: Ints | None = None
    """int64[R, A]: the codes of each published row, where they are exact; -1 is missing."""
    group_of_row: Ints | None = None
    """int64[R]"""
    is_ordered: tuple[bool, ...] = ()
    """Of each attribute whose codes are exact, as of `Intervals`."""
    by_rank: bool = False
    """Whether people of a group have about the same weighted rank."""

    @cached_property
    def owner(self) -> Ints:
        """int64[N]: the group of each person."""
        return np.repeat(np.arange(len(self.people)), self.people)

    @cached_property
    def begins(self) -> Ints:
        """int64[G]: the first person of each group."""
        found: Ints = np.cumsum(self.people) - self.people
        return found


@dataclass(frozen=True)
class Copy:
    """A table of people as they may be, int64[N, …]."""

    codes: Ints
    """int64[N, A]: the quasi-identifiers of each person; -1 where one is missing."""
    value: Ints
    """int64[N]: the place of the person's value in the domain."""


def drawn_copies(groups: PublishedGroups, number: int, seed: int) -> Iterator[Copy]:
    """Draw so many copies, one after the other, each the same for the same seed.

    People come in the order of their groups, and within one by lot. Copies of several releases under one seed
    have the same lots wherever these are of the copy: what changes from release to release errs less.
    """
    together, strengths = None, None
    if not groups.people.sum():
        nobody = Copy(np.empty((0, len(_is_ordered(groups))), np.int64), np.empty(0, np.int64))
        yield from itertools.repeat(nobody, number)
        return
    for copy in range(number):
        lots = _Lots.of(seed, copy)
        if groups.rows is None:
            together = together or _Together.of(groups, lots.of_people)
            codes = _places(groups, together, lots)
        else:
            codes = _rows_by_lot(groups, lots.of_people)
        holder, value = _values_of_people(groups, lots)
        strengths = _strengths(groups, codes, holder, value) if strengths is None else strengths
        yield Copy(codes, _dealt(groups, codes, holder, value, strengths, lots))


def pooled(
    estimates: Sequence[float] | Floats, variances: Sequence[float] | Floats = ()
) -> tuple[float, float]:
    """Pool what each copy says into an estimate and its standard error, by Rubin's rules.

    The truth should be within two standard errors in 95 of 100 cases.

    Parameters
    ----------
    estimates
        What each copy says: a count, a mean, a coefficient.
    variances
        The squared standard errors that were computed on each copy; none for what is counted of everybody.

    References
    ----------
    Rubin, Multiple Imputation for Nonresponse in Surveys, 1987, section 3.1.
    """
    found = np.asarray(estimates, float)
    within = float(np.mean(variances)) if len(variances) else 0.0
    between = float(found.var(ddof=1)) if len(found) > 1 else 0.0
    return float(found.mean()), float(np.sqrt(within + (1 + 1 / len(found)) * between))


@dataclass(frozen=True)
class _Lots:
    """What chance decides: for a copy as a whole, and for each of its people."""

    moves: Floats
    """float64[3], normal: those of every second copy are those of the one before it with the other sign."""
    of_copy: np.random.Generator
    of_people: np.random.Generator

    @classmethod
    def of(cls, seed: int, copy: int) -> _Lots:
        turn, pair = 1 - 2 * (copy % 2), np.random.default_rng([seed, copy // 2, 2])
        return cls(
            turn * pair.normal(size=3), *(np.random.default_rng([seed, copy, whose]) for whose in range(2))
        )


# ---- where people are


def _rows_by_lot(groups: PublishedGroups, random: np.random.Generator) -> Ints:
    """The codes of as many of each group's rows as it has people, int64[N, A]."""
    assert groups.rows is not None
    assert groups.group_of_row is not None
    order = _order(groups.group_of_row, random.random(len(groups.group_of_row)))
    own = groups.group_of_row[order]
    begins = np.cumsum(groups.size) - groups.size
    found: Ints = groups.rows[order[np.arange(len(own)) - begins[own] < groups.people[own]]]
    return found


def _places(groups: PublishedGroups, together: _Together, lots: _Lots) -> Ints:
    """Draw everybody's codes, int64[N, A]."""
    random = lots.of_people
    evenly, in_line, jointly = lots.moves * (EVENLY, IN_LINE, JOINTLY)
    if groups.by_rank:
        in_line, jointly = BY_RANK * in_line, BY_RANK * jointly
    spreads = [_Spread.of(one, groups, evenly) for one in groups.intervals]
    places = [one.places(random) for one in spreads]
    slots = _paired(groups, in_line, random)
    if together.more:
        slots = _likelier_slots(groups, together, places, slots, in_line, jointly, random)
    codes = _taken(places, slots)
    if together.more:
        own = together.score(codes)
        is_asked = random.random(len(codes)) < abs(jointly)
        for _ in range(REDRAWN):
            others = _taken([one.places(random) for one in spreads], slots)
            score = together.score(others)
            is_taken = is_asked & (np.sign(jointly) * (score - own) > 0)
            own = np.where(is_taken, score, own)
            codes = np.where(is_taken[:, None], others, codes)
    for at, one in enumerate(groups.intervals):
        if one.cells is not None:
            there = codes[:, at] != MISSING
            codes[there, at] = one.cells.moved(codes[there, at], lots)
    return codes


def _likelier_slots(
    groups: PublishedGroups,
    together: _Together,
    places: Sequence[Ints],
    slots: Ints,
    in_line: float,
    jointly: float,
    random: np.random.Generator,
) -> Ints:
    """Pair the places of groups anew, where that is likelier; unlikelier, if `jointly` is below nought."""

    def score_of_groups(paired: Ints) -> Floats:
        scores = together.score(_taken(places, paired))
        return np.bincount(groups.owner, scores, len(groups.people)).astype(float)

    most = score_of_groups(slots)
    is_asked = random.random(len(groups.people)) < abs(jointly)
    for _ in range(PAIRINGS - 1):
        others = _paired(groups, in_line, random)
        score = score_of_groups(others)
        is_taken = is_asked & (np.sign(jointly) * (score - most) > 0)
        most = np.where(is_taken, score, most)
        slots = np.where(is_taken[groups.owner][:, None], others, slots)
    return slots


def _taken(places: Sequence[Ints], slots: Ints) -> Ints:
    """The codes of people who take so many'th places, int64[N, A]."""
    return np.stack([own[slot] for own, slot in zip(places, slots.T, strict=True)], axis=1)


def _paired(groups: PublishedGroups, in_line: float, random: np.random.Generator) -> Ints:
    """Which of its group's places each person takes, int64[N, A]: by lot, but for those in line.

    Where `in_line` is below nought, high places on every other attribute go with low ones on the rest.
    """
    alike, own = min(0.99, abs(in_line)), random.normal(size=len(groups.owner))
    found = np.empty((len(own), len(groups.intervals)), np.int64)
    for at in range(len(groups.intervals)):
        turned = -own if in_line < 0 and at % 2 else own
        key = alike * turned + np.sqrt(1 - alike**2) * random.normal(size=len(own))
        found[_order(groups.owner, key), at] = np.arange(len(own))
    return found


@dataclass(frozen=True)
class _Spread:
    """How people of each group are spread over an attribute in a copy."""

    intervals: Intervals
    groups: PublishedGroups
    upto: Floats
    """float64[B + 1]: the part of all people before each step of the density, and 1."""
    ends: Floats
    """float64[4, G]: the same before each part of an interval (low end, inside, high end), and after it."""
    shares: Floats
    """float64[3, G]: how likely a person is in each part, as of `_shares`."""

    @classmethod
    def of(cls, one: Intervals, groups: PublishedGroups, evenly: float) -> _Spread:
        """The spread if people are moved `evenly` as far towards being spread evenly."""
        even = one.span / one.span.sum()
        mass = np.maximum(LEAST * one.mass, one.mass + evenly * (even - one.mass))
        upto = np.append(0, np.cumsum(mass / mass.sum()))
        codes = np.append(one.start, one.start[-1] + one.span[-1])
        ends = np.stack([np.interp(at, codes, upto) for at in (one.low, one.above, one.upper, one.high + 1)])
        return cls(one, groups, upto, ends, _shares(one, ends, groups.people - one.lacking))

    def places(self, random: np.random.Generator) -> Ints:
        """Draw the places of all people, int64[N]: in order by group, missing ones first."""
        one, groups, owner, ends, upto = self.intervals, self.groups, self.groups.owner, self.ends, self.upto
        number = (groups.people - one.lacking)[owner]
        at = np.arange(len(owner)) - groups.begins[owner] - one.lacking[owner]
        must = ~one.is_free[owner] & (number > 1)
        part = (random.random(len(owner)) > np.cumsum(self.shares, axis=0)[:2, owner]).sum(axis=0)
        part = np.where(must & (at == 0), 0, np.where(must & (at == number - 1), 2, part))
        place = random.random(len(owner))
        crowd = np.minimum(1, CROWDED * (ALONE + ALIKE * groups.people) / np.maximum(1, groups.people - 1))
        is_near = random.random(len(owner)) < np.sqrt(crowd)[owner]
        near = random.random(len(groups.people))[owner] + NEAR * random.normal(size=len(owner))
        place = np.where(is_near, np.clip(near, 0, 1 - 1e-9), place)
        place = ends[part, owner] + place * (ends[part + 1, owner] - ends[part, owner])
        step = np.clip(np.searchsorted(upto, place, side="right") - 1, 0, len(one.start) - 1)
        width = np.maximum(upto[step + 1] - upto[step], 1e-300)
        code = one.start[step] + np.floor((place - upto[step]) / width * one.span[step])
        first = np.stack([one.low, one.above, one.upper])[part, owner]
        last = np.stack([one.above, one.upper, one.high + 1])[part, owner] - 1
        code = np.where(at < 0, MISSING, np.clip(code, first, np.maximum(first, last))).astype(np.int64)
        beyond = int(one.start[-1] + one.span[-1]) + 1  # a group and a code are one number
        found: Ints = np.sort(owner * beyond + code - MISSING) - owner * beyond + MISSING
        return found


def _shares(one: Intervals, ends: Floats, people: Ints) -> Floats:
    """How likely a person is at the low end, inside, or at the high end, float64[3, G].

    It is so of people beside the one who is at the low and the one who is at the high end for certain. With f
    for the density, l, m and h for its masses there, and k people of whom one is at either end: a person's
    probability of the low end is l (1 - P(none of the others is at the high end)), and so on.
    """
    whole = ends[3] - ends[0]
    low = np.maximum(ends[1] - ends[0], LEAST_END * whole)
    inside = np.maximum(ends[2] - ends[1], 0)
    high = np.where(one.low == one.high, 0, np.maximum(ends[3] - ends[2], LEAST_END * whole))
    total, tiny = np.maximum(low + inside + high, 1e-300), 1e-9
    must = ~one.is_free & (people > 1)
    no_low, no_high, neither = (
        np.where(must, _all_within(share / total, people, one.alike), 0)
        for share in (inside + high, low + inside, inside)
    )
    weights = np.stack(
        [
            low * (1 - no_high + tiny),
            inside * (1 - no_low - no_high + neither + tiny),
            high * (1 - no_low + tiny),
        ]
    )
    weights = people * weights / np.maximum(weights.sum(axis=0), 1e-300)
    weights[0] -= must
    weights[2] -= must
    weights = np.maximum(weights, 0)
    weights[1] += weights.sum(axis=0) <= 0
    found: Floats = weights / weights.sum(axis=0)
    return found


def _all_within(share: Floats, people: Ints, alike: Floats) -> Floats:
    """How likely all others of a group are within a share that the first one is in (Polya's urn)."""
    found: Floats = np.ones(len(share))
    for other in range(1, min(MANY, int(people.max(initial=0)))):
        step = (share + other * alike) / (1 + other * alike)
        found *= np.where(people > other, step, 1)
    for at in np.flatnonzero(people > MANY):
        within, each, number = float(share[at] / alike[at]), 1 / float(alike[at]), int(people[at])
        one = math.lgamma(within + number) - math.lgamma(within + 1)
        found[at] = math.exp(one + math.lgamma(each + 1) - math.lgamma(each + number))
    return found


@dataclass(frozen=True)
class _Together:
    """How columns go with each other: by how much more often two places come together than by lot."""

    more: dict[tuple[int, int], Floats]
    """The logarithms of this, float64[first classes, second classes], by two attributes."""
    edges: Sequence[Floats]
    """The lowest code of each class after the first one, of each attribute."""

    @classmethod
    def of(cls, groups: PublishedGroups, random: np.random.Generator) -> _Together:
        """Compare groups with each other, by expectation maximization over pairings drawn by lot."""
        spreads = [_Spread.of(one, groups, 0) for one in groups.intervals]
        places = [one.places(random) for one in spreads]
        edges = [
            np.unique(np.quantile(one, np.arange(1, CLASSES) / CLASSES, method="nearest")) for one in places
        ]
        drawn = [
            _taken([one.places(random) for one in spreads], _paired(groups, 0, random))
            for _ in range(PAIRINGS)
        ]
        nothing = cls({}, edges)
        kinds = [nothing.classes(codes) for codes in drawn]
        found, more = cls({}, edges), {}
        for _ in range(2):
            scores = [np.bincount(groups.owner, found.score(codes), len(groups.people)) for codes in drawn]
            weights = np.stack(scores)
            weights = np.exp(weights - weights.max(axis=0))
            weights /= weights.sum(axis=0)
            for first, second in itertools.combinations(range(len(edges)), 2):
                shape = (len(edges[first]) + 1, len(edges[second]) + 1)
                seen = np.zeros(shape)
                for own, weight in zip(kinds, weights, strict=True):
                    np.add.at(seen, (own[:, first], own[:, second]), weight[groups.owner])
                alone = np.outer(seen.sum(axis=1), seen.sum(axis=0)) / max(1.0, seen.sum())
                more[first, second] = np.log((seen + FEW) / (alone + FEW))
            found = cls(dict(more), edges)
        return found

    def classes(self, codes: Ints) -> Ints:
        """The class of each code, int64[N, A]."""
        columns = zip(self.edges, codes.T, strict=True)
        return np.stack([np.searchsorted(edges, own, side="right") for edges, own in columns], axis=1)

    def score(self, codes: Ints) -> Floats:
        """How likely the places of each person go together, float64[N], as a logarithm."""
        total = np.zeros(len(codes))
        own = self.classes(codes) if self.more else codes
        for (first, second), more in self.more.items():
            total += more[own[:, first], own[:, second]]
        return total


# ---- who has which value


def _values_of_people(groups: PublishedGroups, lots: _Lots) -> tuple[Ints, Ints]:
    """The group and the value of each tuple that is a person in an allocation of counterfeits, int64[N]."""
    entry = np.repeat(np.arange(len(groups.group)), groups.tuples)
    owner = groups.group[entry]
    if len(groups.fakes):
        fake = groups.fakes[lots.of_copy.integers(len(groups.fakes)), groups.kind[entry]]
        key = np.log(-np.log1p(-lots.of_people.random(len(entry))) + 1e-12)
        key += np.log((1 - fake + 1e-9) / np.maximum(fake, 1e-9))
        order = _order(owner, key)
        begins, forged = np.cumsum(groups.size) - groups.size, groups.size - groups.people
        entry = entry[order[np.arange(len(order)) - begins[owner] >= forged[owner]]]
    return groups.group[entry], groups.value[entry]


def _strengths(groups: PublishedGroups, codes: Ints, holder: Ints, value: Ints) -> Floats:
    """How far values go with each attribute as groups show it, float64[A]: parts that add up to 1.

    It is how much the means of values differ, over how much they would differ by lot.
    """
    carriers, people = np.bincount(value), groups.people
    found = np.ones(codes.shape[1])
    for at, own in enumerate(codes.T):
        for column in _looks(own, is_ordered=_is_ordered(groups)[at]):
            mean = np.bincount(groups.owner, column, len(people)) / people
            mean = mean - np.average(mean, weights=people)
            apart = np.average(mean**2, weights=people)
            if apart > 1e-9:
                sums = np.bincount(value, mean[holder], len(carriers))
                shown = (sums**2 / np.maximum(carriers, 1)).sum() / apart / max(1, (carriers > 0).sum() - 1)
                found[at] = max(found[at], shown)
    strengths: Floats = np.sqrt(np.maximum(found - 1, FAINT))
    strengths /= strengths.sum()
    return strengths


def _looks(codes: Ints, *, is_ordered: bool) -> list[Floats]:
    """Columns that say where people are: how far up and how far out, or who has a frequent label."""
    if is_ordered:
        rank = _ranks(codes)
        return [rank, np.abs(rank - 0.5)]
    labels, counts = np.unique(codes, return_counts=True)
    return [(codes == label).astype(float) for label in labels[np.argsort(-counts, kind="stable")][:6]]


def _dealt(
    groups: PublishedGroups, codes: Ints, holder: Ints, value: Ints, strengths: Floats, lots: _Lots
) -> Ints:
    """Deal the values of each group to its people by ranks, int64[N]."""
    reach = np.abs(np.subtract.outer(np.arange(STEPS), np.arange(STEPS))) / REACH
    root: Floats = np.linalg.cholesky(np.exp(-reach))
    score: Floats = np.zeros(len(codes))
    noise = float(NOISE * np.exp(NOISES * lots.of_copy.normal()))
    turns = lots.of_copy.normal(size=int(groups.value.max(initial=0)) + 1)
    for at, part in enumerate(strengths):
        if _is_ordered(groups)[at]:
            steps = root @ lots.of_copy.normal(size=STEPS)
            steps += SLOPE * lots.of_copy.normal() * np.linspace(-1, 1, STEPS)
            places = np.minimum((_ranks(codes[:, at]) * STEPS).astype(np.int64), STEPS - 1)
        else:
            steps = lots.of_copy.normal(size=int(codes[:, at].max(initial=0)) + 2)
            places = codes[:, at]
        score += np.sqrt(part) * lots.of_copy.normal() * steps[places]
    score /= max(float(score.std()), 1e-9)
    score += noise * lots.of_people.normal(size=len(score))
    turn = turns[value] + noise * lots.of_people.normal(size=len(value))
    found = np.empty(len(codes), np.int64)
    found[_order(groups.owner, score)] = value[_order(holder, turn)]
    return found


def _is_ordered(groups: PublishedGroups) -> tuple[bool, ...]:
    return groups.is_ordered or tuple(one.is_ordered for one in groups.intervals)


def _ranks(codes: Ints) -> Floats:
    """Where each of some codes is among them all, from 0 to 1, float64[N]; equal ones are at one place."""
    _, place, counts = np.unique(codes, return_inverse=True, return_counts=True)
    found: Floats = ((np.cumsum(counts) - counts / 2) / max(1, len(codes)))[place]
    return found


def _order(group: Ints, key: Floats) -> Ints:
    """The order by group, and within one by a key that has no ties."""
    low, high = (float(end) for end in (key.min(initial=np.inf), key.max(initial=-np.inf)))
    # A group and the part of the way to the next one are a number: to sort these is faster than by two keys.
    found: Ints = np.argsort(group + (key - low) / max((high - low) * (1 + 1e-9), 1e-300))
    return found
