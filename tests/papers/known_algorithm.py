"""The adversary who knows the algorithm, with every table of a tiny m-invariant series.

The adversary knows who was there when, everybody's group, how many people of each release's newcomers have
each value, and the algorithm: every table with these numbers is released under many keys, and counts as often
as it is published like this. People leave, come and return.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Any

import numpy as np
import polars as pl

from benchmarks.series import contract_of
from republish.anonymize.columns import PSEUDONYM, VALUE
from republish.anonymize.contract import Contract
from republish.anonymize.people.randomness import generator
from republish.anonymize.principle.state import State
from republish.anonymize.principles import principle_of

VALUES = tuple("abcde")


@dataclass(frozen=True)
class Tiny:
    """Who is in which release, and which values each release's newcomers have."""

    present: Sequence[Sequence[int]]
    """People, who are numbered in the order in which they come."""
    batches: Sequence[Sequence[str]]
    """The values of the newcomers of each release, in some order."""

    def tables(self) -> list[tuple[str, ...]]:
        """Every table: everybody's value."""
        batches = (sorted(set(itertools.permutations(values))) for values in self.batches)
        return [tuple(itertools.chain(*each)) for each in itertools.product(*batches)]

    def values(self, table: tuple[str, ...], release: int) -> list[str]:
        """The values of those who are present in a release."""
        return [table[person] for person in self.present[release]]


def tiny(seed: int, m: int, releases: int) -> Tiny:
    """A series: two people leave before each release, others come, and from the third release on one returns.

    2m people begin it. Those who come are m people, and one more if m is above 2: who come in one whole group
    are not told apart by any algorithm.
    """
    random = np.random.default_rng(seed)
    values, people, come = VALUES[: m + 1], 2 * m, m + (m > 2)
    batches = [_eligible(random, values, come if number else people, m) for number in range(releases)]
    present, known = [list(range(people))], people
    left: list[int] = []
    for number in range(1, releases):
        leaving = list(random.choice(present[-1][1:], 2, replace=False))
        staying = [one for one in present[-1] if one not in leaving]
        back = left[:1] if number > 1 else []
        present.append(sorted([*staying, *back, *range(known, known + come)]))
        left, known = [*left[1:], *(int(one) for one in leaving)], known + come
    return Tiny(present, batches)


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

    def __call__(self, table: tuple[str, ...], key: bytes) -> tuple[frozenset[Any], ...]:
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
    flat = np.array(tables)
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
    """How many values the signature has that hosts each person."""
    hosts = [{one: len(values) for group, values in seen for one in group} for seen in published]
    people = max(map(max, series.present)) + 1
    return [next(host[one] for host in hosts if one in host) for one in range(people)]
