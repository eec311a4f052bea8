"""Knowing the algorithm, with every table.

Tiny m-invariant series. The adversary knows who was there when, everybody's group, how many people of each
release's newcomers have each value, and the algorithm: every table with these numbers is released under many
keys, and counts as often as it is published like this. People leave, come and return; in some series one
changes to another value, of which the adversary knows nothing.

*Above 1/m* counts the tuples of a series, published under one key, whose probability exceeds 1/m by more
than three standard errors of the sampled keys. *Guessed right* is the share of everybody's values, over all
tables and keys, that are guessed by what the other half of the keys teaches, and *by chance* what one of the
values of each person's group is worth.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Any

import numpy as np
import polars as pl

from benchmarks.series import contract_of
from benchmarks.tables import Table, main
from republish.anonymize.columns import PSEUDONYM, VALUE
from republish.anonymize.contract import Contract
from republish.anonymize.people.randomness import generator
from republish.anonymize.principle.state import State
from republish.anonymize.principles import principle_of

QUICK = {"series": 1, "runs": 4, "fewest": 2, "m": (2,), "releases": (2,), "changes": (0,)}
VALUES = tuple("abcde")
ADVERSARIES = ("paper", "knows_algorithm")


@dataclass(frozen=True)
class Tiny:
    """Who is in which release, and which values each release's newcomers have."""

    present: Sequence[Sequence[int]]
    """People, who are numbered in the order in which they come."""
    batches: Sequence[Sequence[str]]
    """The values of the newcomers of each release, in some order."""
    changes: Mapping[tuple[int, int], Sequence[str]]
    """The values that a person may have from a release (0, 1, …) on, where it changes: (person, release)."""

    def tables(self) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
        """Every table: everybody's value when they come, and after each change."""
        batches = (sorted(set(itertools.permutations(values))) for values in self.batches)
        first = [tuple(itertools.chain(*each)) for each in itertools.product(*batches)]
        return list(itertools.product(first, itertools.product(*self.changes.values())))

    def values(self, table: tuple[tuple[str, ...], tuple[str, ...]], release: int) -> list[str]:
        """The values of those who are present in a release."""
        now = dict(enumerate(table[0]))
        now |= {
            one: new for (one, since), new in zip(self.changes, table[1], strict=True) if since <= release
        }
        return [now[person] for person in self.present[release]]


def tiny(seed: int, m: int, releases: int, *, changes: bool) -> Tiny:
    """A series: two people leave before each release, others come, and from the third release on one returns.

    2m people begin it. Those who come are m people, and one more if m is above 2: who come in one whole group
    are not told apart by any algorithm.
    """
    random = np.random.default_rng(seed)
    values, people, come = VALUES[: m + 1 + changes], 2 * m, m + (m > 2)
    batches = [_eligible(random, values, come if number else people, m) for number in range(releases)]
    present, known = [list(range(people))], people
    left: list[int] = []
    for number in range(1, releases):
        leaving = list(random.choice(present[-1][1:], 2, replace=False))
        staying = [one for one in present[-1] if one not in leaving]
        back = left[:1] if number > 1 else []
        present.append(sorted([*staying, *back, *range(known, known + come)]))
        left, known = [*left[1:], *(int(one) for one in leaving)], known + come
    return Tiny(present, batches, {(0, 1): VALUES} if changes else {})


def _eligible(random: np.random.Generator, values: Sequence[str], people: int, m: int) -> list[str]:
    while True:
        drawn = sorted(random.choice(values, people).tolist())
        if max(Counter(drawn).values()) * m <= people:
            return drawn


def tiny_contract(
    m: int, adversary: str = "paper", values: Sequence[str] = VALUES, **principle: str
) -> Contract:
    """Two quasi-identifiers and a few values."""
    declared = {
        "product": "tiny",
        "series": "v1",
        "releases": {"first": "2024-01-01", "cron": "0 0 1 1 *"},
        "identifier": "person",
        "quasi_identifiers": [
            {"name": "age", "kind": "number", "domain": [0, 99]},
            {"name": "town", "kind": "number", "domain": [0, 9]},
        ],
        "sensitive": {"name": "disease", "values": list(values)},
    }
    return contract_of(declared, name="m_invariance", m=m, adversary=adversary, **principle)


class Publisher:
    """Makes a series' releases of any table, under any key."""

    def __init__(self, series: Tiny, contract: Contract, seed: int):
        self.series, self.contract = series, contract
        random = np.random.default_rng(seed)
        everybody = max(map(max, series.present)) + 1
        qi = pl.DataFrame(
            {
                PSEUDONYM: [b"%016d" % person for person in range(everybody)],
                "qi_0": random.integers(20, 90, everybody),
                "qi_1": random.integers(0, 10, everybody),
            }
        )
        self.people = [qi[list(present)] for present in series.present]
        self._key, self._made = b"", dict[tuple[tuple[str, ...], ...], tuple[State, frozenset[Any]]]()

    def __call__(
        self, table: tuple[tuple[str, ...], tuple[str, ...]], key: bytes
    ) -> tuple[frozenset[Any], ...]:
        """Who shares a group in each release, and with which values."""
        if key != self._key:
            self._key, self._made = key, {}
        state, seen, begun = State.empty(), [], ()
        for number in range(len(self.people)):
            begun = (*begun, tuple(self.series.values(table, number)))
            if begun not in self._made:  # what tables begin with that begin alike is released once
                self._made[begun] = self._release(number, begun[-1], state)
            state, groups = self._made[begun]
            seen.append(groups)
        return tuple(seen)

    def _release(self, number: int, values: tuple[str, ...], state: State) -> tuple[State, frozenset[Any]]:
        candidate = principle_of(self.contract).release(
            self.people[number].with_columns(pl.Series(VALUE, values)),
            self.contract,
            state,
            number + 1,
            partial(generator, self._key, "tiny", "v1", str(number)),
        )
        signatures = dict(candidate.state.tables["buckets"].select("bucket_id", "signature").iter_rows())
        groups: dict[int, list[int]] = defaultdict(list)
        bucket = {}
        linkage = candidate.linkage.select(PSEUDONYM, "bucket_id", "group_id")
        for pseudonym, bucket_id, group in linkage.iter_rows():
            groups[group].append(int(pseudonym))
            bucket[group] = tuple(signatures[bucket_id])
        return candidate.state, frozenset((frozenset(one), bucket[group]) for group, one in groups.items())


@dataclass(frozen=True)
class Learned:
    """What every table and key teaches."""

    above: int
    """Tuples of the published series above 1/m."""
    tuples: int
    right: float
    """The share of values that are guessed right."""
    chance: float
    error: float
    """The standard error of their difference, by keys."""


def learn(publisher: Publisher, m: int, keys: int, seed: int) -> Learned:
    """Release every table under every key, and guess everybody's values from what is published."""
    tables = publisher.series.tables()
    hits: dict[tuple[frozenset[Any], ...], list[tuple[int, int]]] = defaultdict(list)
    for number in range(keys):
        for position, table in enumerate(tables):
            hits[publisher(table, b"key %d of %d" % (number, seed))].append((number, position))
    flat = np.array([[*first, *later] for first, later in tables])
    truth = int(np.random.default_rng(seed).integers(len(tables)))
    observed = next(one for one, found in hits.items() if (0, truth) in found)
    above = sum(
        _above(hits[observed], flat[:, one] == flat[truth, one], m, keys) for one in range(flat.shape[1])
    )
    right, chance = np.zeros(keys), np.zeros(keys)
    for published, found in hits.items():
        sizes = _sizes(published, publisher.series)
        for half in (0, 1):
            taught = [position for number, position in found if number % 2 == half]
            tested = [(number, position) for number, position in found if number % 2 != half]
            for one in range(flat.shape[1]) if taught else ():
                guess = Counter(flat[taught, one].tolist()).most_common(1)[0][0]
                for number, position in tested:
                    right[number] += flat[position, one] == guess
                    chance[number] += 1 / sizes[one]
    guesses = keys * len(tables) * flat.shape[1]
    excess = right - chance
    return Learned(
        above,
        flat.shape[1],
        right.sum() / guesses,
        chance.sum() / guesses,
        sqrt(keys) * float(excess.std()) / guesses,
    )


def _above(found: list[tuple[int, int]], is_true: np.ndarray, m: int, keys: int) -> bool:
    """Whether a value is more probable than 1/m, by more than three standard errors of the keys."""
    excess = np.zeros(keys)
    for number, position in found:
        excess[number] += is_true[position] - 1 / m
    return bool(excess.sum() > 3 * sqrt((excess**2).sum()))


def _sizes(published: Iterable[Any], series: Tiny) -> list[int]:
    """How many values the signature has that hosts each person's first value, and each changed one."""
    hosts = [{one: len(values) for group, values in seen for one in group} for seen in published]
    people = max(map(max, series.present)) + 1
    first = [next(host[one] for host in hosts if one in host) for one in range(people)]
    return [*first, *(hosts[release][one] for one, release in series.changes)]


def tables(
    series: int = 3,
    runs: int = 1_200,
    fewest: int = 6,
    m: tuple[int, ...] = (2, 3),
    releases: tuple[int, ...] = (2, 3),
    changes: tuple[int, ...] = (0, 1),
) -> Iterator[Table]:
    """How much everybody's groups teach, with each adversary's algorithm: so many runs of a series, about.

    Each table is released under the `fewest` keys at least.

    With 0 among `changes` there are series in which nobody's value changes, with 1 some in which one does.
    """
    for least, number, changed in itertools.product(m, releases, changes):
        if changed and least > 2:
            continue  # too few values are left outside a signature
        rows = []
        for adversary in ADVERSARIES:
            contract, found = tiny_contract(least, adversary), []
            for seed in range(series):
                made = tiny(seed, least, number, changes=bool(changed))
                keys = max(fewest, runs // len(made.tables()))
                found.append(learn(Publisher(made, contract, seed), least, keys, seed))
            right, chance = (np.mean([getattr(one, name) for one in found]) for name in ("right", "chance"))
            error = sqrt(sum(one.error**2 for one in found)) / series
            rows.append(
                [
                    adversary,
                    f"{sum(one.above for one in found)} of {sum(one.tuples for one in found)}",
                    f"{right:.4f}",
                    f"{chance:.4f}",
                    f"{(right - chance) / error if error else 0:+.1f}",
                ]
            )
        yield Table(
            f"m = {least}, {number} releases{', a change' if changed else ''}; {series} series",
            ("adversary", "tuples above 1/m", "guessed right", "by chance", "standard errors above"),
            rows,
        )


if __name__ == "__main__":
    main(tables)
