"""Series that change from release to release, and what a principle makes of them, in memory."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
import polars as pl

from republish.anonymize.columns import IDENTIFIER, PSEUDONYM
from republish.anonymize.contract import Contract, Schema
from republish.anonymize.contract.combined import combine
from republish.anonymize.formats.published import Published
from republish.anonymize.people.randomness import generator
from republish.anonymize.people.rows import keyed
from republish.anonymize.principle.candidate import Candidate
from republish.anonymize.principle.state import State
from republish.anonymize.principles import parse_contract, principle_of
from republish.orchestration.snapshots.sources import enter

KEY = b"a key for benchmarks"
Series = Iterable[tuple[str, pl.DataFrame]]
"""The date of each release and its snapshot, in order."""


@dataclass(frozen=True)
class Made:
    """A release."""

    people: pl.DataFrame
    """`identifier`, `qi_0`, …, `value`, `pseudonym`."""
    candidate: Candidate
    seconds: float
    """Of the algorithm, by the clock."""
    processor: float
    """The same, of all processors together."""
    contract: Contract

    @property
    def read(self) -> Published:
        """The release as groups."""
        published = principle_of(self.contract).format(self.contract)
        return published.read(published.internal(self.candidate.published, self.contract), self.contract)

    @property
    def linkage(self) -> pl.DataFrame:
        """Who is in which group: `person` (the identifier), `group_id`."""
        persons = self.people.select(PSEUDONYM, person=IDENTIFIER)
        return self.candidate.linkage.join(persons, on=PSEUDONYM).select("person", "group_id")


def released(
    snapshots: Series,
    contract: Contract | Sequence[Contract],
    key: bytes = KEY,
    forgotten: Collection[str] = (),
) -> Iterator[Made]:
    """Release each snapshot on what the release before left.

    Parameters
    ----------
    snapshots
        Each release's date and table, under the publisher's column names.
    contract
        What they are released under: all of them, or each.
    key
        What the releases are drawn with.
    forgotten
        Tables of the state that no release finds.
    """
    contracts, state = contract if isinstance(contract, Sequence) else repeat(contract), State.empty()
    for number, ((date, snapshot), of) in enumerate(zip(snapshots, contracts, strict=False), start=1):
        yield (made := next_release(date, snapshot, of, state, number, key))
        tables = {name: table for name, table in made.candidate.state.tables.items() if name not in forgotten}
        state = State(tables)


def next_release(
    date: str, snapshot: pl.DataFrame, of: Contract, state: State, number: int, key: bytes = KEY
) -> Made:
    """The release of a snapshot on what the one before left; arguments as for `released`."""
    people, release = pseudonymous(snapshot, of), principle_of(of).release

    def draw(purpose: str) -> np.random.Generator:
        return generator(key, of.product, of.series, date, purpose)

    clock, busy = time.perf_counter(), time.process_time()
    candidate = release(people.drop(IDENTIFIER), of, state, number, draw)
    return Made(people, candidate, time.perf_counter() - clock, time.process_time() - busy, of)


def pseudonymous(snapshot: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """`identifier`, `qi_0`, …, `value`, `pseudonym` of a snapshot under the publisher's column names."""
    return keyed(combine(enter(snapshot, schema), schema), schema, KEY)


def contract_of(declared: Mapping[str, Any], **principle: Any) -> Contract:
    """The contract of a series, and of another principle where one is given."""
    source = {"source": {"path": "{release}.parquet"}}
    return parse_contract({**declared, **source, **({"principle": principle} if principle else {})})


def dynamic_series(
    people: pl.DataFrame, live: int, r: int, releases: int, seed: int
) -> Iterator[tuple[str, pl.DataFrame]]:
    """Monthly snapshots of a static table: a random sample lives, and each release replaces r of it.

    Parameters
    ----------
    people
        One row per person.
    live
        How many are in each snapshot; the others form the pool.
    r
        Update volume: how many leave before each release but the first, and how many come from the pool.
    releases
        How many there are; the first is of 2020-01-01.
    seed
        The same seed gives the same series.

    Raises
    ------
    ValueError
        If the pool is too small.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, section 5.
    """
    needed = live + r * (releases - 1)
    if needed > people.height:
        raise ValueError(f"{releases} releases need {needed} people; there are {people.height}")
    random = np.random.default_rng(seed)
    pool = random.permutation(people.height)
    present, pool = pool[:live], pool[live:]
    for month in range(releases):
        yield f"{2020 + month // 12}-{month % 12 + 1:02}-01", people[np.sort(present)]
        staying = random.permutation(present)[r:]
        present, pool = np.concatenate([staying, pool[:r]]), pool[r:]
