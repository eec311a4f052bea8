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
from republish.anonymize.learning.intervals import Intervals, weights_of_parts
from republish.anonymize.threads import in_order

EVENLY, IN_LINE, JOINTLY, BY_RANK = 2.0, 1.5, 3.0, 1.2
"""How far a lot of a copy, which is normal, moves people: towards being spread evenly, towards being in line
on all attributes, and towards places that go together in other groups. Where people of a group have about the
same weighted rank, a place on one attribute excludes many on another: lots move the last two `BY_RANK` times
as far (benchmarks/measures/estimates.py, as all constants here)."""
CROWDED, ALONE, ALIKE, NEAR = 0.5, 0.75, 0.07, 0.05
"""People of a group crowd inside of its intervals: two of them are near each other by chance `CROWDED *
(ALONE + ALIKE * k) / (k - 1)`, k being how many they are. `NEAR` is how near, in parts of the interval."""
LEAST = 0.02
"""A lot leaves each step of a density such a part of its mass."""
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
PAIRINGS, REDRAWN = 4, 2
"""So many ways to pair the places of a group are drawn, and each person's places so many times more. A lot of
the copy says how often the likeliest ones are taken, or the unlikeliest."""
ENOUGH = 20_000
"""So many groups are compared with each other: more say hardly more."""
AT_HAND = 2**14
"""People are drawn so many at a time: what is reckoned of them stays in the processor's cache."""
PARTS = 2**16
"""The mass of a density has so many parts."""
MISSING = -1
"""The code of a value that is missing."""


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
    is_ordered: tuple[bool, ...]
    """Whether codes of an attribute that are near each other mean values that are: not those of labels."""
    intervals: tuple[Intervals, ...] = ()
    """The attributes; none if quasi-identifiers are published exactly."""
    rows: Ints | None = None
    """int64[R, A]: the codes of each published row, where they are exact; -1 is missing."""
    group_of_row: Ints | None = None
    """int64[R]"""
    by_rank: bool = False
    """Whether people of a group have about the same weighted rank."""

    @cached_property
    def owner(self) -> Ints:
        """int64[N]: the group of each person."""
        return np.repeat(np.arange(len(self.people)), self.people)

    @cached_property
    def blocks(self) -> list[_Block]:
        """All groups, in blocks of about `AT_HAND` people."""
        begins = np.cumsum(self.people) - self.people
        firsts = [0, *(np.flatnonzero(np.diff(begins // AT_HAND)) + 1).tolist()]
        ends = [*firsts[1:], len(begins)]
        return [
            _Block.of(self.people, slice(first, end), int(begins[first]))
            for first, end in zip(firsts, ends, strict=True)
        ]


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
    if not groups.people.sum():
        nobody = Copy(np.empty((0, len(groups.is_ordered)), np.int64), np.empty(0, np.int64))
        yield from itertools.repeat(nobody, number)
        return
    lots = [_Lots.of(seed, copy) for copy in range(number)]
    ends = [_Ends.of(one, groups.people) for one in groups.intervals]
    together = _Together.of(groups, ends, np.random.default_rng([seed, 0, 3])) if ends else None

    def people(own: _Lots) -> tuple[Ints, Ints, Ints]:
        codes = (
            _rows_by_lot(groups, own.of_people) if together is None else _places(groups, ends, together, own)
        )
        return codes, *_values_of_people(groups, own)

    def dealt(own: _Lots, codes: Ints, holder: Ints, value: Ints) -> Copy:
        return Copy(codes, _dealt(groups, codes, holder, value, strengths, own))

    first = people(lots[0])
    strengths = _strengths(groups, *first)
    yield dealt(lots[0], *first)
    yield from in_order(lambda own: dealt(own, *people(own)), lots[1:])


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


def _places(groups: PublishedGroups, ends: Sequence[_Ends], together: _Together, lots: _Lots) -> Ints:
    """Draw everybody's codes, int64[N, A]."""
    random = lots.of_people
    evenly, in_line, jointly = lots.moves * (EVENLY, IN_LINE, JOINTLY)
    if groups.by_rank:
        in_line, jointly = BY_RANK * in_line, BY_RANK * jointly
    spreads = [_Spread.of(one, evenly) for one in ends]
    codes = np.empty((len(ends), int(groups.people.sum())), np.int64)
    for block in groups.blocks:
        here = [_SpreadHere.of(one, block) for one in spreads]
        codes[:, block.begin : block.begin + len(block.owner)] = (
            _placed_together(block, here, together, in_line, jointly, random)
            if together.more
            else _placed(block, here, in_line, random)
        )
    for own, one in zip(codes, groups.intervals, strict=True):
        if one.cells is not None:
            there = own != MISSING
            own[there] = one.cells.moved(own[there], lots.of_copy, lots.of_people)
    return codes.T


def _placed(
    block: _Block, here: Sequence[_SpreadHere], in_line: float, random: np.random.Generator
) -> list[Ints]:
    """Draw the codes of people, int64[A][N], whatever other groups say of how columns go together."""
    places = [one.places(random) for one in here]
    return [
        own.take(slot) for own, slot in zip(places, _paired(block, len(here), in_line, random), strict=True)
    ]


def _placed_together(
    block: _Block,
    here: Sequence[_SpreadHere],
    together: _Together,
    in_line: float,
    jointly: float,
    random: np.random.Generator,
) -> list[Ints]:
    """Draw the codes of people, int64[A][N], who are rather where people of other groups are together.

    Or rather elsewhere, if `jointly` is below nought: first, how the places of each group are paired, and
    then on one attribute after the other where each person is.
    """
    attributes = range(len(here))
    places = [one.places(random) for one in here]
    kinds = [together.classes(at, places[at]) for at in attributes]
    slots = _paired(block, len(here), in_line, random)
    most = block.sums(together.score(_taken(kinds, slots)))
    is_asked = random.random(len(block.people)) < abs(jointly)
    for _ in range(PAIRINGS - 1):
        others = _paired(block, len(here), in_line, random)
        score = block.sums(together.score(_taken(kinds, others)))
        is_taken = is_asked & (score > most if jointly > 0 else score < most)
        most = np.where(is_taken, score, most)
        taken = is_taken.take(block.owner)
        slots = [np.where(taken, other, slot) for other, slot in zip(others, slots, strict=True)]
    codes, own = _taken(places, slots), _taken(kinds, slots)
    asked = random.random(len(block.owner)) < abs(jointly)
    for at in itertools.chain(*itertools.repeat(attributes, REDRAWN)):
        code = here[at].places(random).take(slots[at])
        kind = together.classes(at, code)
        gain = together.score_of(at, kind, own) - together.score_of(at, own[at], own)
        taken = asked & (gain > 0 if jointly > 0 else gain < 0)
        codes[at] = np.where(taken, code, codes[at])
        own[at] = np.where(taken, kind, own[at])
    return codes


def _taken(columns: Sequence[Ints], slots: Sequence[Ints]) -> list[Ints]:
    """What people have who take so many'th places, int64[A][N]."""
    return [own.take(slot) for own, slot in zip(columns, slots, strict=True)]


def _paired(block: _Block, attributes: int, in_line: float, random: np.random.Generator) -> list[Ints]:
    """Which of its group's places each person takes, int64[A][N]: by lot, but for those in line.

    Where `in_line` is below nought, high places on every other attribute go with low ones on the rest.
    """
    alike, people = min(0.99, abs(in_line)), len(block.owner)
    apart = math.sqrt(1 - alike**2)
    rank = alike * random.random(people)
    return [
        block.order((alike - rank if in_line < 0 and at % 2 else rank) + apart * random.random(people), 2.0)
        for at in range(attributes)
    ]


@dataclass(frozen=True)
class _Block:
    """Some groups: so few that the processor has them at hand."""

    here: slice
    """Which ones; `begin` is the first person of groups that come one after the other."""
    begin: int
    people: Ints
    """int64[G]: how many people each group of the block has."""
    owner: Ints
    """int64[N]: the group of each person, counted from the first one of the block."""
    begins: Ints
    """int64[G]: the first person of each group, counted from the first one of the block."""

    @classmethod
    def of(cls, people: Ints, here: slice, begin: int = 0) -> _Block:
        """The block of some of the groups that have so many people each."""
        own = people[here]
        return cls(here, begin, own, np.repeat(np.arange(len(own)), own), np.cumsum(own) - own)

    def sums(self, figures: Floats) -> Floats:
        """Add up what each person has by group, float64[G]."""
        found: Floats = np.add.reduceat(figures, self.begins)
        return found

    def order(self, key: Floats, most: float) -> Ints:
        """The order by group, and within one by a key from 0 to below `most`, int64[N]."""
        # Group, key and place are one number: numbers are sorted faster than an order is found.
        place = len(self.owner).bit_length()
        bits = 62 - place - len(self.people).bit_length()
        found: Ints = (self.owner << bits) + (key * (2**bits / most)).astype(np.int64)
        found = (found << place) + np.arange(len(found))
        found.sort()
        found &= (1 << place) - 1
        return found

    @cached_property
    def crowds(self) -> Floats:
        """How likely people of each group are near others of theirs on an attribute, float64[N]."""
        found = np.minimum(1, CROWDED * (ALONE + ALIKE * self.people) / np.maximum(1, self.people - 1))
        return np.maximum(np.sqrt(found), 1e-9).take(self.owner)


@dataclass(frozen=True)
class _Ends:
    """Where the parts of each interval begin and end: low end, inside, high end."""

    intervals: Intervals
    known: Ints
    """int64[G]: how many people of each group have a value."""
    codes: Ints
    """int64[E]: the codes where a part begins or ends."""
    place: Ints
    """int64[4, G]: where among these each part of an interval begins, and where its last one ends."""

    @classmethod
    def of(cls, one: Intervals, people: Ints) -> _Ends:
        """The ends of intervals of groups of so many people."""
        every = np.stack([one.low, one.above, one.upper, one.high + 1])
        codes, place = np.unique(every, return_inverse=True)
        return cls(one, people - one.lacking, codes, place.reshape(every.shape))


@dataclass(frozen=True)
class _Spread:
    """How people of each group are spread over an attribute in a copy.

    All people of the release are so many parts of mass, each of which is in one step of the density.
    """

    ends: _Ends
    step: Ints
    """int64[parts + 1]: the step that a part of the mass is in; after the last one, the same once more."""
    base: Floats
    """float64[B]: a place p in mass, in a step, is the code `base + slope * p`."""
    slope: Floats
    parts: Floats
    """float64[4, G]: the mass before each part of an interval (low end, inside, high end), and after it."""
    shares: Floats
    """float64[3, G]: how likely a person is in each part, as of `_shares`."""

    @classmethod
    def of(cls, ends: _Ends, evenly: float) -> _Spread:
        """The spread if people are moved `evenly` as far towards being spread evenly."""
        one = ends.intervals
        even = one.span / one.span.sum()
        mass = np.maximum(LEAST * one.mass, one.mass + evenly * (even - one.mass))
        parts = np.maximum(1, np.rint(mass / mass.sum() * PARTS)).astype(np.int64)
        upto = np.append(0, np.cumsum(parts))
        step = np.append(np.repeat(np.arange(len(parts)), parts), len(parts) - 1)
        codes = np.append(one.start, one.start[-1] + one.span[-1])
        mass_before = np.interp(ends.codes, codes, upto).take(ends.place)
        slope = one.span / parts
        shares = _shares(one, mass_before, ends.known)
        return cls(ends, step, one.start - upto[:-1] * slope, slope, mass_before, shares)


@dataclass(frozen=True)
class _SpreadHere:
    """How people of the groups of a block are spread over an attribute, part by part and group by group."""

    block: _Block
    spread: _Spread
    inside_from: Floats
    """float64[N]: where a number drawn from 0 to 1 is above this, the person is not at the low end of the
    interval; and where it is above `high_from`, at the high end."""
    high_from: Floats
    before: Floats
    """float64[3 * G]: the mass before each part of the groups' intervals, and that in it."""
    within: Floats
    lowest: Ints
    """int64[3 * G]: the lowest code of each part, and the highest one."""
    highest: Ints
    group: Ints
    """int64[N]: the group of each person as a number, to which a code and one can be added."""
    is_missing: Bools | None
    """bool[N]: who has no value; None if everybody has one."""

    @classmethod
    def of(cls, spread: _Spread, block: _Block) -> _SpreadHere:
        """The spread of a copy over the intervals of some groups."""
        here, one = block.here, spread.ends.intervals
        before = spread.parts[:, here]
        codes = np.stack([one.low[here], one.above[here], one.upper[here], one.high[here] + 1])
        upto = np.cumsum(spread.shares[:2, here], axis=0)
        inside_from, high_from = (own.take(block.owner) for own in upto)
        lacking, known = one.lacking[here], spread.ends.known[here]
        must = ~one.is_free[here] & (known > 1)
        first = (block.begins + lacking)[must]
        inside_from[first], high_from[first] = 1, 1
        last = (block.begins + block.people - 1)[must]
        inside_from[last], high_from[last] = -1, -1
        beyond = int(one.start[-1] + one.span[-1]) + 1  # a group and a code are one number
        first_known = (block.begins + lacking).take(block.owner)
        return cls(
            block,
            spread,
            inside_from,
            high_from,
            before[:3].ravel(),
            np.diff(before, axis=0).ravel(),
            codes[:3].ravel(),
            np.maximum(codes[:3], codes[1:] - 1).ravel(),
            block.owner * beyond - MISSING,
            np.arange(len(block.owner)) < first_known if lacking.any() else None,
        )

    def places(self, random: np.random.Generator) -> Ints:
        """Draw the places of all people, int64[N]: in order by group, missing ones first."""
        block, spread, people = self.block, self.spread, len(self.block.owner)
        chance, place = random.random(people), random.random(people)
        part = (chance > self.inside_from).astype(np.int64)
        part += chance > self.high_from
        part *= len(block.people)
        part += block.owner
        beside = random.random(len(block.people)).take(block.owner) + NEAR * (
            math.sqrt(12) * (place / block.crowds - 0.5)
        )
        alone = (place - block.crowds) / np.maximum(1 - block.crowds, 1e-9)
        place = np.clip(np.where(place < block.crowds, beside, alone), 0, 1 - 1e-9)
        place *= self.within.take(part)
        place += self.before.take(part)
        step = spread.step.take(place.astype(np.int64))
        place *= spread.slope.take(step)
        place += spread.base.take(step)
        code = np.minimum(np.maximum(place.astype(np.int64), self.lowest.take(part)), self.highest.take(part))
        if self.is_missing is not None:
            code[self.is_missing] = MISSING
        code += self.group
        code.sort()
        code -= self.group
        return code


def _shares(one: Intervals, ends: Floats, people: Ints) -> Floats:
    """How likely a person is at the low end, inside, or at the high end, float64[3, G].

    It is so of people beside the one who is at the low and the one who is at the high end for certain.
    """
    must = ~one.is_free & (people > 1)
    weights = weights_of_parts(ends, one.low == one.high, must, people, one.alike)
    weights = people * weights / np.maximum(weights.sum(axis=0), 1e-300)
    weights[0] -= must
    weights[2] -= must
    weights = np.maximum(weights, 0)
    weights[1] += weights.sum(axis=0) <= 0
    found: Floats = weights / weights.sum(axis=0)
    return found


@dataclass(frozen=True)
class _Together:
    """How columns go with each other: by how much more often two places come together than by lot."""

    more: dict[tuple[int, int], Floats]
    """The logarithms of this, float64[CLASSES * CLASSES], by two attributes."""
    kind: Sequence[Ints]
    """int64[…]: the class of codes of each attribute, by how far up they are."""
    shift: Sequence[int]
    """So many bits of a code are passed over by `kind`."""

    @classmethod
    def of(cls, groups: PublishedGroups, ends: Sequence[_Ends], random: np.random.Generator) -> _Together:
        """Compare groups with each other, by expectation maximization over pairings drawn by lot."""
        block = _Block.of(groups.people, slice(0, None, max(1, len(groups.people) // ENOUGH)))
        here = [_SpreadHere.of(_Spread.of(one, 0), block) for one in ends]
        classes = [_classes(one.spread.ends.intervals, one.places(random)) for one in here]
        found = cls({}, [kind for kind, _ in classes], [shift for _, shift in classes])
        drawn = [found.classes_of(_placed(block, here, 0, random)) for _ in range(PAIRINGS)]
        for _ in range(2):
            weights = np.stack([block.sums(found.score(kinds)) for kinds in drawn])
            weights = np.exp(weights - weights.max(axis=0))
            weights /= weights.sum(axis=0)
            more = {}
            for first, second in itertools.combinations(range(len(ends)), 2):
                seen = np.zeros((CLASSES, CLASSES))
                for kinds, weight in zip(drawn, weights, strict=True):
                    cells = kinds[first] * CLASSES + kinds[second]
                    seen += np.bincount(cells, weight.take(block.owner), CLASSES**2).reshape(seen.shape)
                alone = np.outer(seen.sum(axis=1), seen.sum(axis=0)) / max(1.0, seen.sum())
                more[first, second] = np.log((seen + FEW) / (alone + FEW)).ravel()
            found = cls(more, found.kind, found.shift)
        return found

    def classes(self, at: int, codes: Ints) -> Ints:
        """The class of each code of an attribute, int64[N]."""
        return self.kind[at].take((codes - MISSING) >> self.shift[at])

    def classes_of(self, codes: Sequence[Ints]) -> list[Ints]:
        """The classes of codes of all attributes, int64[A][N]."""
        return [self.classes(at, own) for at, own in enumerate(codes)]

    def score(self, kinds: Sequence[Ints]) -> Floats:
        """How likely the classes of each person go together, float64[N], as a logarithm."""
        total = np.zeros(len(kinds[0]))
        for (first, second), more in self.more.items():
            total += more.take(kinds[first] * CLASSES + kinds[second])
        return total

    def score_of(self, at: int, own: Ints, kinds: Sequence[Ints]) -> Floats:
        """The same of the classes on one attribute, `own`, with those on all others."""
        total = np.zeros(len(own))
        for (first, second), more in self.more.items():
            if at == first:
                total += more.take(own * CLASSES + kinds[second])
            elif at == second:
                total += more.take(kinds[first] * CLASSES + own)
        return total


def _classes(one: Intervals, codes: Ints) -> tuple[Ints, int]:
    """`CLASSES` classes of an attribute's codes, of as many people each where that can be."""
    above = int(one.start[-1] + one.span[-1]) + 1
    shift = max(0, above.bit_length() - 16)
    edges = np.unique(np.quantile(codes, np.arange(1, CLASSES) / CLASSES, method="nearest"))
    every = (np.arange((above >> shift) + 1) << shift) + MISSING
    return np.searchsorted(edges, every, side="right"), shift


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
        for column in _looks(own, is_ordered=groups.is_ordered[at]):
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
        if groups.is_ordered[at]:
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


def _ranks(codes: Ints) -> Floats:
    """Where each of some codes is among them all, from 0 to 1, float64[N]; equal ones are at one place."""
    place = codes - codes.min(initial=0)
    if place.max(initial=0) > 4 * len(codes):  # too many to be counted one by one
        _, place = np.unique(codes, return_inverse=True)
    counts = np.bincount(place)
    found: Floats = ((np.cumsum(counts) - counts / 2) / max(1, len(codes))).take(place)
    return found


def _order(group: Ints, key: Floats) -> Ints:
    """The order by group, and within one by a key that has no ties."""
    low, high = (float(end) for end in (key.min(initial=np.inf), key.max(initial=-np.inf)))
    # A group and the part of the way to the next one are a number: to sort these is faster than by two keys.
    found: Ints = np.argsort(group + (key - low) / max((high - low) * (1 + 1e-9), 1e-300))
    return found
