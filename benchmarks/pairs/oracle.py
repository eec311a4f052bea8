"""What an adversary with all releases learns, counted from published tables: shares nothing with the product.

The adversary knows everybody's quasi-identifiers, dates of presence and groups. Everything here is plain
Python over rows: no principle, no format and no attack of republish is asked.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product
from typing import Any

import polars as pl

Unit = tuple[str, ...]
"""A person, or a person and one of their rows."""
MOST_WORLDS = 20_000
"""Of a series with more, assignments are not counted."""
EXACT = 1e-9
MISSING_LABEL = "(missing)"
"""Of a category, in tables of Anatomy."""


@dataclass(frozen=True)
class Group:
    """A published group."""

    values: tuple[tuple[str, ...], ...]
    """The sensitive values of each row."""
    counterfeits: int
    boxes: tuple[Mapping[str, Any], ...]
    """What is published of quasi-identifiers: one box for all, or under Anatomy a row for each member."""
    members: tuple[Unit, ...]

    @cached_property
    def signature(self) -> frozenset[tuple[str, ...]]:
        """The rows of values that are in it."""
        return frozenset(self.values)

    def counts(self, column: int) -> Counter[str]:
        """How many rows have each value of a column."""
        return Counter(row[column] for row in self.values)


@dataclass
class Series:
    """What was published so far, and what is true."""

    columns: tuple[str, ...]
    """The sensitive columns."""
    known: Collection[str]
    """Values that may be known."""
    breach: bool
    """Whether values may be others in each release: a global guarantee multiplies shares."""
    threshold: int
    """m or l."""
    releases: list[dict[int, Group]] = field(default_factory=list)
    truths: list[dict[Unit, dict[str, Any]]] = field(default_factory=list)

    def add(
        self, tables: Mapping[str, pl.DataFrame], linkage: pl.DataFrame, truth: pl.DataFrame, *, several: bool
    ) -> None:
        """Take note of a release: its published tables, the secret linkage, and the table it was made of."""
        key = ["person", "visit"] if several else ["person"]
        self.truths.append({tuple(row[name] for name in key): row for row in truth.iter_rows(named=True)})
        members: dict[int, list[Unit]] = defaultdict(list)
        for row in linkage.iter_rows(named=True):
            members[row["group_id"]].append(tuple(row[name] for name in key))
        fakes = Counter(dict(tables["counterfeits"].select("group_id", "count").iter_rows()))
        self.releases.append(
            {
                group: Group(tuple(values), fakes[group], tuple(boxes), tuple(members[group]))
                for group, (values, boxes) in _groups(tables, self.columns).items()
            }
        )

    def faults(self) -> Iterator[str]:
        """Everything in the last release, or in all of them together, that breaks a promise."""
        yield from self._faults_of_the_tables()
        for column in range(len(self.columns)):
            yield from self._shares(column)
            if not self.breach:
                yield from self._signatures(column)
        if self.breach:
            yield from self._breaches()
        else:
            yield from self._worlds()

    def person_releases(self) -> int:
        """How many units are published, over all releases."""
        return sum(len(group.members) for release in self.releases for group in release.values())

    def _faults_of_the_tables(self) -> Iterator[str]:
        release, truth = self.releases[-1], self.truths[-1]
        units = Counter(unit for group in release.values() for unit in group.members)
        if any(number > 1 for number in units.values()):
            yield "somebody is published twice"
        if units.keys() - truth.keys():
            yield "somebody is published who is not in the table"
        for group in release.values():
            if len(group.values) != len(group.members) + group.counterfeits:
                yield "counterfeits do not add up"
            true = Counter(tuple(truth[unit][name] for name in self.columns) for unit in group.members)
            if true - Counter(group.values):
                yield "somebody's value is not in their group"
            if not all(any(_covers(box, truth[unit]) for box in group.boxes) for unit in group.members):
                yield "somebody's quasi-identifiers are not in their group"
            if len({unit[0] for unit in group.members}) < len(group.members):
                yield "a group has two rows of one person"

    def _shares(self, column: int) -> Iterator[str]:
        for group in self.releases[-1].values():
            for value, number in group.counts(column).items():
                if value not in self.known and number * self.threshold > len(group.values):
                    yield "a value is more frequent in a group than promised"

    def _signatures(self, column: int) -> Iterator[str]:
        """Values that a unit may have in two releases are the same, or none is in both."""
        before: dict[Unit, list[frozenset[str]]] = defaultdict(list)
        for release in self.releases:
            for group in release.values():
                values = frozenset(group.counts(column)) - set(self.known)
                if not self.known and len(values) < self.threshold:
                    yield "a group has fewer values than promised"
                for unit in group.members:
                    before[unit].append(values)
        for signatures in before.values():
            for one, other in combinations(set(signatures), 2):
                both = one & other
                if both and (len(self.columns) == 1 or len(both) < self.threshold):
                    yield "a person's candidates shrink from release to release"

    def _breaches(self) -> Iterator[str]:
        """The probability that a person ever had a value, over the releases whose group has it."""
        kept: dict[tuple[str, str], float] = defaultdict(lambda: 1.0)
        for release in self.releases:
            for group in release.values():
                for value, number in group.counts(0).items():
                    for unit in group.members:
                        kept[unit[0], value] *= 1 - number / len(group.values)
        for (_, value), never in kept.items():
            if value not in self.known and 1 - never > 1 / self.threshold + EXACT:
                yield "the probability that a person ever had a value is above what is promised"

    def _worlds(self) -> Iterator[str]:
        """Of all assignments of values that fit every group, those where a person has a value."""
        counted = assignments(self.releases)
        if counted is None:
            return
        total, having = counted
        for (_, column, value), number in having.items():
            if value not in self.known and number * self.threshold > total * (1 + EXACT):
                yield f"counting all assignments, a person has a value ({self.columns[column]}) too often"


def assignments(
    releases: Sequence[Mapping[int, Group]],
) -> tuple[int, Counter[tuple[str, int, str]]] | None:
    """How many assignments fit, and in how many a person has a value: by person, column and value.

    A unit keeps its values for as long as its groups have the same ones. None if there are too many to count.
    """
    groups = [group for release in releases for group in release.values()]
    may = {(unit, group.signature): sorted(group.signature) for group in groups for unit in group.members}
    if not may or math.prod(map(len, may.values())) > MOST_WORLDS:
        return None
    total, having = 0, Counter[tuple[str, int, str]]()
    for dealt in product(*may.values()):
        world = dict(zip(may, dealt, strict=True))
        ways = math.prod(
            _ways(Counter(group.values), [world[unit, group.signature] for unit in group.members])
            for group in groups
        )
        if ways:
            total += ways
            had = {(unit[0], at, value) for (unit, _), row in world.items() for at, value in enumerate(row)}
            having.update(dict.fromkeys(had, ways))
    return total, having


def _ways(there: Counter[tuple[str, ...]], dealt: Sequence[tuple[str, ...]]) -> int:
    """In how many ways members with these values can be matched with a group's rows."""
    ways = 1
    for row in dealt:
        ways *= there[row]
        there[row] -= 1
    return ways


def _groups(
    tables: Mapping[str, pl.DataFrame], columns: Sequence[str]
) -> dict[int, tuple[list[tuple[str, ...]], list[Mapping[str, Any]]]]:
    """The values and the boxes of each published group, of either format."""
    groups: dict[int, tuple[list[tuple[str, ...]], list[Mapping[str, Any]]]] = defaultdict(lambda: ([], []))
    if "microdata" in tables:
        for row in tables["microdata"].iter_rows(named=True):
            values, boxes = groups[row["group_id"]]
            values.append(tuple(row[name] for name in columns))
            boxes[:] = [row]
        return groups
    for row in tables["sensitive"].iter_rows(named=True):
        groups[row["group_id"]][0].extend([tuple(row[name] for name in columns)] * row["count"])
    for row in tables["quasi_identifiers"].iter_rows(named=True):
        groups[row["group_id"]][1].append(row)
    return groups


def _covers(box: Mapping[str, Any], person: Mapping[str, Any]) -> bool:
    """Whether somebody's quasi-identifiers are inside: a missing one where the box says that some are."""
    return all(_covers_one(box, name, person[name]) for name in ("age", "town"))


def _covers_one(box: Mapping[str, Any], name: str, value: int | str | dt.date | None) -> bool:
    if name in box:
        return bool(box[name] == value or (value is None and box[name] == MISSING_LABEL))
    low, high, missing = box[f"{name}_low"], box[f"{name}_high"], box.get(f"{name}_missing", 0)
    return bool(missing) if value is None else low is not None and bool(low <= value <= high)
