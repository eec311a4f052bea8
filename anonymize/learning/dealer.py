"""Who may have which value in published groups, and how likely it is by what was learned of people."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from republish.anonymize.arrays import Bools, Floats, Ints
from republish.anonymize.learning.dealing import MOST_DEALT, dealt

BALANCING = 50
"""How often the guesses of a group are scaled to its tuples, where these are too many to be dealt."""
LEAST = 1e-9
"""The weight of what seems impossible, by default: what was learned before may be wrong."""


@dataclass(frozen=True)
class Pairs:
    """Each person with each value that the person may have; sorted by person."""

    person: np.ndarray
    """int64[P]: the row of the person."""
    value: np.ndarray
    """int64[P]: the value's place in the domain."""
    cell: np.ndarray
    """int64[P]: the row of the person's group and value among `held`; -1 where the group isn't known."""
    prior: np.ndarray
    """float64[P]: the share of the value in the group, or among all tuples."""

    @cached_property
    def begins(self) -> np.ndarray:
        """The first pair of each person: pairs are sorted by person."""
        return np.flatnonzero(np.diff(self.person, prepend=-1))

    @cached_property
    def number(self) -> np.ndarray:
        """How many pairs each person has."""
        return np.diff(self.begins, append=len(self.person))

    def per_person(self, weight: np.ndarray) -> np.ndarray:
        """The weights, scaled so that those of each person add up to 1."""
        total = np.bincount(self.person, weight)[self.person[self.begins]]
        share: np.ndarray = weight / np.repeat(total, self.number)
        return share


def pairs_of(group: np.ndarray, held: pl.DataFrame, candidates: np.ndarray) -> Pairs:
    """The pairs of each person with the values of their group; or, without a group, with their candidates.

    Parameters
    ----------
    group
        int64[N]: the group of each person; -1 where it isn't known.
    held
        `group`, `at` (of the value), `tuples`, `share` (of the group), sorted by group.
    candidates
        bool[N, V]: the values of people whose group isn't known.
    """
    of_group = held.with_row_index("cell").with_columns(pl.col("cell").cast(pl.Int64))
    hosted = pl.DataFrame({"person": np.arange(len(group)), "group": group}).join(of_group, on="group")
    total = held.group_by("at").agg(pl.col("tuples").sum()).sort("at")
    share = np.zeros(candidates.shape[1])
    share[total["at"].to_numpy()] = total["tuples"].to_numpy() / total["tuples"].sum()
    person, value = np.nonzero(candidates & (group < 0)[:, None])
    parts = (
        (hosted["person"].to_numpy(), person),
        (hosted["at"].to_numpy(), value),
        (hosted["cell"].to_numpy(), np.full(len(person), -1)),
        (hosted["share"].to_numpy(), share[value]),
    )
    joined = [np.concatenate(part) for part in parts]
    order = np.lexsort((joined[1], joined[0]))
    return Pairs(*(part[order] for part in joined))


@dataclass(frozen=True)
class Dealer:
    """The groups whose tuples are dealt to their people, and the pairs of these."""

    pairs: Pairs
    people: Ints
    """int64[N]: the group of each person; -1 where it isn't known."""
    held: pl.DataFrame
    """As `pairs_of` takes it."""
    power: float
    """How much what is learned of people counts within a group, in place of 1."""
    least: float = LEAST
    """The weight of what seems impossible."""

    @cached_property
    def hosted(self) -> Bools:
        """The pairs of people whose group is known."""
        known: Bools = self.pairs.cell >= 0
        return known

    @cached_property
    def _dealt(self) -> list[Ints]:
        """int64[G, K, n], by K and n: the pairs of so many groups' K people and n tuples."""
        held = self.held.with_columns(at=pl.int_range(pl.len()).over("group"))
        slots = held.select("group", pl.col("at").repeat_by("tuples")).explode("at")
        slots = slots.group_by("group", maintain_order=True).agg("at")
        begins = np.full(len(self.people), -1)
        begins[self.pairs.person[self.pairs.begins]] = self.pairs.begins
        of_group = (
            pl.DataFrame({"group": self.people, "begin": begins})
            .filter(pl.col("group") >= 0)
            .group_by("group", maintain_order=True)
            .agg("begin")
            .join(slots, on="group", maintain_order="left")
            .with_columns(people=pl.col("begin").list.len(), tuples=pl.col("at").list.len())
            .filter(pl.col("tuples") <= MOST_DEALT, pl.col("people") <= pl.col("tuples"))
        )
        found = []
        for (people, tuples), some in of_group.group_by("people", "tuples", maintain_order=True):
            begin = some["begin"].explode().to_numpy().reshape(-1, people)
            slot = some["at"].explode().to_numpy().reshape(-1, tuples)
            found.append(begin[:, :, None] + slot[:, None, :])
        return found

    @cached_property
    def _others(self) -> Ints:
        """Pairs of groups with more tuples than can be dealt, or with fewer than people."""
        is_other = self.hosted.copy()
        for some in self._dealt:
            is_other[some.ravel()] = False
        others: Ints = np.flatnonzero(is_other)
        return others

    def likely(self, logs: Floats) -> Floats:
        """Logarithms of how likely pairs are by what is learned of people, float64[P], sharpened."""
        found: Floats = np.where(self.hosted, self.power, 1.0) * logs
        return found

    def messages(self, likely: Floats) -> Floats:
        """What each person's group says of each of their pairs, float64[P], if they are so likely."""
        weight = self.scaled(likely)
        said = np.where(self.hosted, 0.0, 1.0)
        for some in self._dealt:
            said += np.bincount(some.ravel(), dealt(weight[some]).ravel(), minlength=len(said))
        others = self._others
        if len(others):
            scale, room = np.ones(len(self.held)), self.held["tuples"].to_numpy().astype(float)
            cell = self.pairs.cell[others]
            for _ in range(BALANCING):
                given = np.zeros(len(weight))
                given[others] = weight[others] * scale[cell]
                shares = self.pairs.per_person(given + 1e-300)[others]
                # Counterfeits leave room that nobody fills; no value has more people than tuples.
                scale *= np.minimum(1.0, room / np.maximum(np.bincount(cell, shares, len(room)), 1e-300))
            said[others] = scale[cell]
        top = np.maximum.reduceat(said, self.pairs.begins)
        share: Floats = said / np.repeat(np.maximum(top, 1e-300), self.pairs.number)
        return np.maximum(share, self.least)

    def posterior(self, said: Floats, likely: Floats) -> Floats:
        """The probability of each pair, float64[P]."""
        return self.pairs.per_person(said * self.scaled(likely))

    def scaled(self, likely: Floats) -> Floats:
        """How likely pairs are, float64[P], from logarithms; 1 for the likeliest of each person."""
        top = np.repeat(np.maximum.reduceat(likely, self.pairs.begins), self.pairs.number)
        weight: Floats = np.exp(likely - top)
        return np.maximum(weight, self.least)
