"""The risks of a few people, counted without rebuilding the tables that they may be from.

Rows are mapped one after the other, each in all releases at once. How those that follow can be mapped depends
only on the tuples that are left, so all ways that leave the same ones are counted together. Eight people of a
group can be mapped in 40,320 ways, which leave 256 different sets of tuples.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import inf
from operator import or_
from typing import Any, NamedTuple

from republish.anonymize.formats.published import Published

Row = tuple[Hashable, Hashable]
"""A row of the knowledge table B(n): a person and the value that tells apart a person's tuples."""


@dataclass(frozen=True)
class Contents:
    """Tuples and counterfeits in the groups of one release."""

    tuples: Mapping[tuple[Hashable, Hashable], int]
    """How many tuples of a group carry a value."""
    counterfeits: Mapping[Hashable, int]
    """How many tuples of a group are counterfeits, where any are."""

    @classmethod
    def of(cls, published: Published) -> Contents:
        """All groups of a release."""
        return cls(
            {(group, value): count for group, value, count in published.values.iter_rows()},
            dict(published.counterfeits.iter_rows()),
        )


class TooManySurjectionsError(Exception):
    """There are more surjections than it was allowed to look at."""


class Steps:
    """The mappings of a tuple that may be tried: counted, not timed, so that results can be repeated."""

    def __init__(self, most: float):
        self.most = most
        self.taken = 0

    def take(self, some: int) -> None:
        """Count some.

        Raises
        ------
        TooManySurjectionsError
            If there are more than allowed; those beyond the first of them are not counted.
        """
        self.taken += some
        if self.taken > self.most:
            self.taken = int(self.most) + 1
            raise TooManySurjectionsError


def risks(
    releases: Sequence[tuple[Mapping[Row, Sequence[Any]], Contents]],
    *,
    invariant: bool,
    steps: Steps | None = None,
) -> dict[Row, dict[Hashable, Fraction]]:
    """Compute the probability of every value of every row, as `posterior` does of what `rebuild` finds.

    Parameters
    ----------
    releases
        For each release the rows present, with the groups that may hold them, and what all groups hold.
    invariant
        Whether the adversary discards surjections in which a row's groups have different signatures.
    steps
        How many mappings may be tried; any number if None.

    Returns
    -------
    dict
        For each row the values that some surjection gives it; empty if there is no surjection.

    Raises
    ------
    TooManySurjectionsError
        If the steps don't suffice.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, Definitions 9 to 14.
    """
    steps, tuples = steps or Steps(inf), _Tuples.of(releases)
    rows = sorted(tuples.hosts, key=lambda row: sorted(tuples.hosts[row].items()))
    layer = {tuples.all: 1} if tuples.is_possible else {}
    mapped, rooms = [], [tuples.rooms(row) for row in rows]
    for at, row in enumerate(rows):
        # A group that no later row may be in has no room left but for its counterfeits.
        done = rooms[at] & ~reduce(or_, rooms[at + 1 :], 0)
        own, ways = tuples.own(row), tuples.ways(row, invariant)
        moves: dict[int, _Moves] = {}
        reached: dict[int, int] = defaultdict(int)
        for state, times in layer.items():
            here = state & own
            if (some := moves.get(here)) is None:
                some = moves[here] = _moves(here, ways, done, steps.most - steps.taken)
            steps.take(some.taken)
            rest = state ^ here
            for _, left, number in some.found:
                reached[rest | left] += times * number
        mapped.append((row, own, layer, moves))
        layer = reached
    if not layer:
        return {}
    # The same from the end: in how many ways the rows after this one can be mapped.
    after, total, found = dict.fromkeys(layer, 1), sum(layer.values()), {}
    for row, own, before, moves in reversed(mapped):
        weights: dict[Hashable, int] = defaultdict(int)
        onward = dict.fromkeys(before, 0)
        for state, times in before.items():
            here = state & own
            rest = state ^ here
            for value, left, number in moves[here].found:
                on = number * after[rest | left]
                onward[state] += on
                weights[value] += times * on
        found[row] = {value: Fraction(weight, total) for value, weight in weights.items() if weight}
        after = onward
    return found


class _Cell(NamedTuple):
    """The tuples of a group with a value, in the number that says what is left."""

    held: int
    """The bits of their count."""
    room: int
    """Those of the group's room for people."""
    shift: int
    """Where the count is."""
    tuples: int
    """What a row that is mapped there takes from the number."""


_Ways = Sequence[tuple[Hashable, Sequence[Sequence[_Cell]]]]
"""Each value that a row may have, and the cells to which it can be mapped in each of its releases."""


class _Moves(NamedTuple):
    """The ways to map a row onto what is left in its own groups."""

    found: Sequence[tuple[Hashable, int, int]]
    """The value, what is left then, and in how many ways."""
    taken: int
    """The mappings of a tuple that were tried."""


def _moves(state: int, ways: _Ways, done: int, most: float) -> _Moves:
    """Map a row onto what is left, in every way, as long as no more than the most mappings are tried.

    Nothing may be left of the room `done`.
    """
    found, taken = [], 0
    for value, releases in ways:
        some = [(state, 1)]
        for cells in releases:
            mapped = []
            for left, number in some:
                for held, room, shift, tuples in cells:
                    if left & held and left & room:
                        mapped.append((left - tuples, number * ((left & held) >> shift)))
            some = mapped
            if not some:
                break
            taken += len(some)
            if taken > most:
                return _Moves([], taken)
        else:
            found += [(value, left, number) for left, number in some if not left & done]
    return _Moves(found, taken)


class _Tuples(NamedTuple):
    """What the groups of all releases hold."""

    hosts: dict[Row, dict[int, Sequence[Any]]]
    """For each row the groups that may hold it, by release."""
    held: list[dict[Any, frozenset[Hashable]]]
    """For each release the signature of each group."""
    shift: dict[Any, int]
    """Where the count of a group's tuples with a value, or its room for people, is in the number."""
    mask: int
    all: int
    """The number of all tuples."""
    is_possible: bool
    """Whether no group without rows has room for people, or more counterfeits than tuples."""

    @classmethod
    def of(cls, releases: Sequence[tuple[Mapping[Row, Sequence[Any]], Contents]]) -> _Tuples:
        hosts: dict[Row, dict[int, Sequence[Any]]] = defaultdict(dict)
        counts: dict[Any, int] = defaultdict(int)
        held: list[dict[Any, set[Hashable]]] = []
        for number, (covered, contents) in enumerate(releases):
            values: dict[Any, set[Hashable]] = defaultdict(set)
            for row, groups in covered.items():
                hosts[row][number] = groups
            for (group, value), count in contents.tuples.items():
                values[group].add(value)
                counts[number, group, value] += count
                counts[number, group] += count
            for group, count in contents.counterfeits.items():
                counts[number, group] -= count
            held.append(values)
        hosting = {
            (number, group) for own in hosts.values() for number, groups in own.items() for group in groups
        }
        bits = max((count.bit_length() for count in counts.values()), default=0)
        shift = {cell: bits * at for at, cell in enumerate(counts)}
        rooms = {cell: count for cell, count in counts.items() if len(cell) == 2}
        return cls(
            dict(hosts),
            [{group: frozenset(values) for group, values in own.items()} for own in held],
            shift,
            2**bits - 1,
            sum(max(0, count) << shift[cell] for cell, count in counts.items()),
            all(count >= 0 and (count == 0 or cell in hosting) for cell, count in rooms.items()),
        )

    def rooms(self, row: Row) -> int:
        """The bits of the room of all groups that may hold a row."""
        bits = 0
        for number, groups in self.hosts[row].items():
            for group in groups:
                bits |= self.mask << self.shift[number, group] if (number, group) in self.shift else 0
        return bits

    def own(self, row: Row) -> int:
        """The bits of all that the groups hold which may hold a row, with their room."""
        bits = self.rooms(row)
        for number, groups in self.hosts[row].items():
            for group in groups:
                for value in self.held[number].get(group, ()):
                    bits |= self.mask << self.shift[number, group, value]
        return bits

    def ways(self, row: Row, invariant: bool) -> _Ways:
        """List the cells to which a row can be mapped, by its values and releases."""
        hosts = self.hosts[row]
        signatures = [
            {self.held[number][group] for group in groups if group in self.held[number]}
            for number, groups in hosts.items()
        ]
        choices: list[tuple[frozenset[Hashable] | None, frozenset[Hashable]]]
        if invariant:
            choices = [(signature, signature) for signature in set.intersection(*signatures)]
        else:
            choices = [(None, frozenset[Hashable]().union(*one)) for one in signatures[:1]]
        return [
            (value, [self._cells(number, groups, value, signature) for number, groups in hosts.items()])
            for signature, values in choices
            for value in values
        ]

    def _cells(
        self, number: int, groups: Sequence[Any], value: Hashable, signature: frozenset[Hashable] | None
    ) -> list[_Cell]:
        """The cells of a value in one release."""
        found = []
        for group in groups:
            at = self.shift.get((number, group, value))
            if at is not None and signature in (None, self.held[number][group]):
                room = self.shift[number, group]
                found.append(_Cell(self.mask << at, self.mask << room, at, (1 << at) + (1 << room)))
        return found
