"""Associations of a value with quasi-identifiers, by groups with exact ones, corrected by simulated releases.

Groups do not say who has which value, and the way they are made hides a part of what goes with what. But a
reader can simulate a release: people are given values by a model, the public algorithm makes groups of them,
and what is learned of these groups is compared with what was true. What is learned of the published groups is
corrected by that. Releases of models that differ much show what can be told at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
import scipy.stats

from republish.anonymize.arrays import Bools, Floats, Ints
from republish.anonymize.contract import QuasiIdentifier
from republish.anonymize.learning.dealer import LEAST, Dealer, pairs_of
from republish.anonymize.learning.logit import Columns, fit_sums, log_probabilities

POWER = 8.0
"""How much what is learned counts within a group, in place of 1: there, the order of people follows that of
their values, so that small differences say much."""
SWEEPS = 40
"""How often the people of a group are paired, to swap their values: groups are small."""
APART, FIRST_SPREAD = 24, 2.0
"""So many releases are simulated of models that differ, by so many times the coefficients of the release."""
NEAR = (4, 4, 4, 16)
"""Releases that are simulated of what was found so far, each time corrected by what they show."""
STEEPER, MOST_STEP = 1.5, 2.0
"""What is seen grows faster than in proportion to what is true, about so many times, as groups show more of
strong associations than of weak ones; and a correction is at most so many times what releases are off by."""
SIMULATED = APART + sum(NEAR)
"""How many are simulated in all."""
FEWEST = 15
"""Of fewer models that differ, nothing is said."""
TOLD = 0.9
"""The part of the variance between models that differ that groups must show, and the part of the variance
between values that must not be error."""
NARROW = 0.08
"""Where half the width of intervals, as a correlation, is at most this, they are an answer even if values
differ by less. Chosen when all tables of the benchmark but the new ones had been seen."""
UNFORESEEN, MOST_MISFIT = 1.6, 2.0
"""Errors are so many times what simulated releases show, as no model is quite right, times a misfit above 1.
This says that something is wrong, not by how much: they grow by so much at most. The first was chosen on five
tables, the second when all but the new ones had been seen."""
MOST_LABELS = 12
"""Labels of a category that are compared with the most frequent one: the next most frequent."""
YEAR = 365.25


@dataclass(frozen=True)
class Groups:
    """A release with exact quasi-identifiers, as its readers have it."""

    codes: pl.DataFrame
    """`qi_0`, …: a row for each tuple, as codes."""
    group: Ints
    """int64[N]: the group of each, 0, 1, …."""
    held: pl.DataFrame
    """`group`, `at` (of the value among all V of them), `tuples`, `share` (of the group), sorted by group."""
    least: float = LEAST
    """The weight of a pair of a tuple and a value that seems impossible."""

    @cached_property
    def _dealer(self) -> Dealer:
        nobody = np.zeros((len(self.group), self.held["at"].to_numpy().max() + 1), bool)
        return Dealer(pairs_of(self.group, self.held, nobody), self.group, self.held, 1.0, self.least)

    def deal(self, logs: Floats, random: np.random.Generator) -> Ints:
        """Deal the values of each group to its tuples, int64[N], as likely as exp of the sum of their `logs`.

        `logs` are float64[N, V], by tuple and value.
        Two people of a group swap their values, or don't, by how likely the one and the other are (Metropolis
        et al., 1953, in Barker's form).
        """
        number = len(self.group)
        begins = np.flatnonzero(np.diff(np.sort(self.group), prepend=-1))
        place = np.arange(number) - np.repeat(begins, np.diff(begins, append=number))
        first = np.flatnonzero((place[:-1] % 2 == 0) & (place[1:] == place[:-1] + 1))
        value = np.empty(number, np.int64)
        value[np.lexsort((random.random(number), self.group))] = np.repeat(
            *self.held.select("at", "tuples").to_numpy().T
        )
        for _ in range(SWEEPS):
            order = np.lexsort((random.random(number), self.group))
            one, other = order[first], order[first + 1]
            kept, swapped = (
                logs[one, value[a]] + logs[other, value[b]] for a, b in ((one, other), (other, one))
            )
            swap = random.random(len(one)) < 1 / (1 + np.exp(np.clip(kept - swapped, -50, 50)))
            one, other = one[swap], other[swap]
            value[one], value[other] = value[other], value[one]
        return value

    def widths(self, columns: Floats) -> Floats:
        """The squares of how far people's columns, float64[N, F], are from their group's mean: float64[F]."""
        people = np.bincount(self.group)
        means = np.stack([np.bincount(self.group, one) / people for one in columns.T], axis=1)
        found: Floats = ((columns - means[self.group]) ** 2).sum(axis=0)
        return found

    def posterior(self, logs: Floats, power: float) -> Floats:
        """How likely each tuple has each value, by all dealings of its group, float64[N, V].

        `logs`, float64[N, V], are the logarithms of how likely that is by what was learned.
        """
        dealer, pairs, found = self._dealer, self._dealer.pairs, np.zeros(logs.shape)
        likely = power * logs[pairs.person, pairs.value]
        found[pairs.person, pairs.value] = dealer.posterior(dealer.messages(likely), likely)
        return found


@dataclass(frozen=True)
class Asked:
    """The columns whose associations with values are asked for, and what is said of each."""

    attributes: Sequence[tuple[str, QuasiIdentifier]]
    """Our name of each column, and its declaration."""
    labels: Sequence[Floats]
    """Of each category the codes of its most frequent labels, the first of which the others are compared
    with; of another column, none."""

    @classmethod
    def of(cls, codes: pl.DataFrame, attributes: Sequence[tuple[str, QuasiIdentifier]]) -> Asked:
        """Choose the labels that are frequent among people, `qi_0`, … as codes."""
        labels = []
        for column, attribute in attributes:
            some, people = np.unique(codes[column].to_numpy().astype(float), return_counts=True)
            frequent = some[np.argsort(-people, kind="stable")][: MOST_LABELS + 1]
            labels.append(frequent if attribute.kind == "category" else some[:0])
        return cls(attributes, labels)

    @property
    def figures(self) -> list[tuple[int, str, int | None, int | None]]:
        """What is asked: which column, in which measure, and which labels' codes are compared."""
        found: list[tuple[int, str, int | None, int | None]] = []
        for at, some in enumerate(self.labels):
            found += [(at, "difference", int(one), int(some[0])) for one in some[1:]]
            if self.attributes[at][1].kind != "category":
                found.append((at, "slope", None, None))
        return found + [(at, "mean", None, None) for at in self._numbers]

    @property
    def _numbers(self) -> list[int]:
        return [at for at, (_, one) in enumerate(self.attributes) if one.kind == "number"]

    def of_people(self, codes: pl.DataFrame, has: Floats) -> Floats:
        """The figures, float64[K, V], of people who have each value with a probability, float64[N, V].

        A value, 1 or 0, is regressed on all columns by least squares: slopes are per unit, of a date per
        year. Means are of the people who have the value.
        """
        # Centred columns keep digits that squares of dates would lose.
        columns = self._columns(codes)
        design = np.column_stack([np.ones(len(codes)), columns - columns.mean(axis=0)])
        slopes = np.linalg.lstsq(design.T @ design, np.einsum("nk,nv->kv", design, has), rcond=None)[0][1:]
        number = np.maximum(has.sum(axis=0), 1e-9)
        means = [np.einsum("n,nv->v", one, has) / number for one in self._averaged(codes)]
        return np.vstack([slopes, *means])

    def greatest(self, codes: pl.DataFrame, totals: Ints) -> Floats:
        """By how much figures, float64[K, V], differ for a value that is all that a column goes with.

        It is that of a correlation of 1, if so many people have each value, int64[V].
        """
        share = totals / totals.sum()
        deviation = np.sqrt(share * (1 - share))
        slopes = deviation / np.maximum(self._columns(codes).std(axis=0), 1e-9)[:, None]
        means = [one.std() * deviation / np.maximum(share, 1e-9) for one in self._averaged(codes)]
        return np.vstack([slopes, *means])

    def _columns(self, codes: pl.DataFrame) -> Floats:
        """What values are regressed on, float64[N, S]."""
        parts = [np.empty((len(codes), 0))]
        for (column, attribute), some in zip(self.attributes, self.labels, strict=True):
            code = codes[column].to_numpy().astype(float)
            if attribute.kind == "category":
                parts += [(code == one).astype(float) for one in some[1:]]
            else:
                parts.append(code / YEAR if attribute.kind == "date" else code)
        return np.column_stack(parts)

    def _averaged(self, codes: pl.DataFrame) -> list[Floats]:
        return [codes[self.attributes[at][0]].to_numpy().astype(float) for at in self._numbers]


@dataclass(frozen=True)
class Associations:
    """What was found, each float64[K, V], by what is asked and value."""

    found: Floats
    """Estimates of the figures."""
    half_width: Floats
    """Half the widths of their intervals at 95 %."""
    greatest: Floats
    """What figures can be (`Asked.greatest`)."""
    shown: Floats
    """The part of the variance between models that differ that groups of their releases show."""
    misfit: float
    """How far widths of groups are from those of simulated releases, over how far these are from each other:
    about 1 where simulated releases are like the published one."""
    releases: int
    """How many were simulated."""
    sums: Floats
    """float64[F, V]: sums of the model's columns over the people with each value."""
    errors: Floats
    """float64[S, F, V]: the error of these sums is the total of S such parts, each of them multiplied by a
    standard normal number of its own."""

    def told(self, many: Bools, narrow: float = NARROW) -> Bools:
        """Which figures can be told, bool[K, V], of values that many people have, bool[V].

        Those of all values must be shown on the whole, too, and differ by more than their errors, or these be
        small: then it is told how little goes with the column.
        """
        if not many.any():
            return np.zeros(self.found.shape, bool)
        shown = np.minimum(self.shown, np.median(self.shown, axis=1, keepdims=True)) >= TOLD
        error = (self.half_width[:, many] ** 2 / 4).mean(axis=1, keepdims=True)
        is_certain = error <= (1 - TOLD) * self.found[:, many].var(axis=1, keepdims=True)
        half = (self.half_width / self.greatest)[:, many]
        is_narrow = (half**2).mean(axis=1, keepdims=True) <= narrow**2
        told: Bools = shown & (is_certain | is_narrow) & many
        return told


Publish = Callable[[Ints, np.random.Generator], Groups | None]
"""Gives the people values, int64[P], and makes a first release of them; None where the algorithm refuses."""


def associations(
    release: Groups,
    is_person: Bools,
    region: Ints,
    totals: Ints,
    attributes: Sequence[tuple[str, QuasiIdentifier]],
    asked: Asked,
    publish: Publish,
    random: np.random.Generator,
    begin: Callable[[str], None] = lambda _part: None,
) -> Associations | None:
    """Estimate how values go with quasi-identifiers, or None if too few releases can be simulated.

    Parameters
    ----------
    is_person
        Which tuples of the release are people, bool[N]: P of them.
    region
        int64[P]: of people whom the algorithm takes as neighbours, the same. In simulated releases of what
        was found, a region has each value as often as in the release, as nearly as groups say. So the same
        values meet in groups, which says much of what groups hide. 0 everywhere where there are none.
    totals
        int64[V]: how many of them have each value.
    attributes
        All quasi-identifiers.
    publish
        The algorithm that made the release.
    begin
        Is told which release is simulated now, of `SIMULATED`.

    References
    ----------
    Gouriéroux, Monfort and Renault, Indirect Inference, 1993: a model is right when releases that are
    simulated from it look as the published one does, whatever is computed of both.
    """
    people = release.codes.filter(pl.Series(is_person))
    model = Columns.of(release.codes, attributes)
    columns, own = model.of_people(people), model.of_people(release.codes)
    seen, done = _Seen.of(release, model, asked, len(totals)), 0

    def simulated(odds: Floats, region: Ints | None) -> tuple[_Seen, Floats, Floats] | None:
        """What is seen of a release of people with such log odds, and their true figures and sums."""
        nonlocal done
        done += 1
        begin(f"simulated release {done}")
        drawn = _with_totals(odds, totals, random)
        if region is not None:
            there = release.deal(sharpened, random)[is_person]
            for at in (region == one for one in np.unique(region)):
                drawn[at] = _with_totals(odds[at], np.bincount(there[at], minlength=len(totals)), random)
        made = publish(drawn, random)
        if made is None:
            return None
        has = np.eye(len(totals))[drawn]
        return (
            _Seen.of(made, model, asked, len(totals)),
            asked.of_people(people, has),
            np.einsum("nf,nv->fv", columns, has),
        )

    middle = _centred(fit_sums(own, np.ones(len(own)), seen.sums))
    sharpened = POWER * np.einsum("nf,fv->nv", own, middle)
    spread = FIRST_SPREAD * np.sqrt((middle**2).mean(axis=1, keepdims=True))
    spread[0] = 0
    odds = (np.einsum("nf,fv->nv", columns, spread * random.normal(size=middle.shape)) for _ in range(APART))
    made = [one for one in (simulated(one, None) for one in odds) if one is not None]
    if len(made) < FEWEST:
        return None
    shown = _shown(np.array([one.figures for one, _, _ in made]), np.array([true for _, true, _ in made]))
    regions = region if region.any() else None
    for number in NEAR:
        odds = np.einsum("nf,fv->nv", columns, middle)
        near = [one for one in (simulated(odds, regions) for _ in range(number)) if one is not None]
        if len(near) < 2:
            return None
        misfit = _misfit(seen, [one for one, _, _ in near])
        of, true = np.array([one.sums for one, _, _ in near]), np.array([true for _, _, true in near])
        kept = _kept(_beyond_totals(of), _beyond_totals(true))
        sums, sum_errors = _corrected(seen.sums, of, true, kept, misfit)
        middle = _centred(fit_sums(own, np.ones(len(own)), sums, middle))
    of, true = np.array([one.figures[-1] for one, _, _ in near]), np.array([true for _, true, _ in near])
    found, errors = _corrected(seen.figures[-1], of, true, _kept(of, true), misfit)
    half = scipy.stats.t.ppf(0.975, len(near) - 1) * np.sqrt((errors**2).sum(axis=0))
    greatest = asked.greatest(people, totals)
    return Associations(found, half, greatest, shown, misfit, done, sums, sum_errors)


def _corrected(seen: Floats, of: Floats, true: Floats, kept: Floats, misfit: float) -> tuple[Floats, Floats]:
    """What would be true if it looked as what is seen, float64[K, V], and independent errors of this.

    `of` and `true`, float64[S, K, V], are what is seen in simulated releases, and what is true of them, of
    which a part is `kept`, float64[K, 1].
    The errors, float64[S, K, V], are one for each release, for how its bias differs from the mean.
    """
    off, number = of - true, len(of)
    bias = off.mean(axis=0)
    scale = UNFORESEEN * np.clip(misfit, 1, MOST_MISFIT) * np.sqrt((1 + 1 / number) / (number - 1)) / kept
    found = true.mean(axis=0) + (seen - of.mean(axis=0)) / np.clip(STEEPER * kept, 1 / MOST_STEP, 1)
    return found, scale * (off - bias)


def _beyond_totals(sums: Floats) -> Floats:
    """By how much sums of columns, float64[S, F, V], differ from those of values that go with nothing."""
    shares = sums[:, :1] / sums[:, :1].sum(axis=2, keepdims=True)
    found: Floats = sums - sums.sum(axis=2, keepdims=True) * shares
    return found


def _kept(of: Floats, true: Floats) -> Floats:
    """The part of the differences between values that simulated releases keep, float64[K, 1], at most 1."""
    of, true = of.mean(axis=0), true.mean(axis=0)
    of, true = of - of.mean(axis=1, keepdims=True), true - true.mean(axis=1, keepdims=True)
    squares = np.maximum((true**2).sum(axis=1, keepdims=True), 1e-30)
    found: Floats = np.clip((of * true).sum(axis=1, keepdims=True) / squares, 0.1, 1)
    return found


def _shown(of: Floats, true: Floats) -> Floats:
    """The part of the variance of true figures that what is seen explains, float64[K, V]."""
    of, true = of - of.mean(axis=0), true - true.mean(axis=0)
    of = of / np.maximum(of.std(axis=0), 1e-12)
    gram = np.einsum("sa...,sb...->...ab", of, of)
    inverse = np.linalg.pinv(gram, rcond=1e-6, hermitian=True)
    slopes = np.einsum("...ab,sb...,s...->...a", inverse, of, true)
    rest = true - np.einsum("...a,sa...->s...", slopes, of)
    freedom = (len(of) - 1) / (len(of) - 1 - of.shape[1])
    found: Floats = 1 - freedom * rest.var(axis=0) / np.maximum(true.var(axis=0), 1e-30)
    return found


@dataclass(frozen=True)
class _Seen:
    """What the groups of a release say of people, by what was learned of these groups alone."""

    figures: Floats
    """float64[3, K, V]: by the shares of groups, by what was learned, and by this sharpened."""
    sums: Floats
    """float64[F, V]: the sharpened ones of each column of the model."""
    widths: Floats
    """float64[F]: of each column, the squares of how far people are from the mean of their group, in all."""

    @classmethod
    def of(cls, groups: Groups, model: Columns, asked: Asked, values: int) -> _Seen:
        """Learn from the groups, sharpen what they say by it, and learn once more."""
        columns, coefficients = model.of_people(groups.codes), None
        by_group = has = groups.posterior(np.zeros((len(columns), values)), 1.0)
        for _ in range(2):
            sums = np.einsum("nf,nv->fv", columns, has)
            coefficients = fit_sums(columns, np.ones(len(columns)), sums, coefficients)
            logs = log_probabilities(columns, coefficients)
            has = groups.posterior(logs, POWER)
        return cls(
            np.array(
                [asked.of_people(groups.codes, one) for one in (by_group, groups.posterior(logs, 1.0), has)]
            ),
            np.einsum("nf,nv->fv", columns, has),
            groups.widths(columns),
        )


def _misfit(seen: _Seen, simulated: Sequence[_Seen]) -> float:
    """How far widths of groups are from simulated ones, in standard deviations of these: root mean square.

    Nothing makes them fit: corrections see sums alone. A person more or less who differs is no matter.
    """
    widths = np.array([one.widths for one in simulated])
    far = (seen.widths - widths.mean(axis=0)) / np.maximum(widths.std(axis=0, ddof=1), 1)
    return float(np.sqrt((far**2).sum() / max(len(far) - 1, 1)))


def _with_totals(odds: Floats, totals: Ints, random: np.random.Generator) -> Ints:
    """Draw a value for each person, int64[P], by log odds, so that as many as there are have each."""
    for _ in range(5):
        shares = _shares(odds)
        odds = odds + np.log((totals + 0.5) / (shares.sum(axis=0) + 0.5))
    shares = _shares(odds)
    drawn: Ints = _drawn(shares, random)
    while (over := np.bincount(drawn, minlength=len(totals)) - totals).any():
        leave = [
            random.choice(np.flatnonzero(drawn == at), over[at], replace=False)
            for at in np.flatnonzero(over > 0)
        ]
        moved = np.concatenate(leave)
        drawn[moved] = _drawn((shares[moved] + 1e-9) * np.maximum(-over, 0), random)
    return drawn


def _shares(odds: Floats) -> Floats:
    found: Floats = np.exp(odds - odds.max(axis=1, keepdims=True))
    found /= found.sum(axis=1, keepdims=True)
    return found


def _drawn(weight: Floats, random: np.random.Generator) -> Ints:
    upto = np.cumsum(weight, axis=1)
    found: Ints = (random.random((len(weight), 1)) * upto[:, -1:] >= upto[:, :-1]).sum(axis=1)
    return found


def _centred(coefficients: Floats) -> Floats:
    """The same model, with coefficients of each column that add up to 0."""
    found: Floats = coefficients - coefficients.mean(axis=1, keepdims=True)
    return found
