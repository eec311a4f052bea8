"""Combinations of values of several sensitive columns, and groups of those that differ in every column.

A signature of one column is m different values. Of several columns it is m combinations, no two of which
have a value of any column in common. So each column by itself keeps m candidates, and an adversary who also
knows which values go together excludes none of them by that.

For several sensitive attributes the literature on anatomized tables fills groups greedily from the fullest
buckets, one for each combination of values, and suppresses the people who are left over (Yang et al.). With
two columns nobody need be left over. Values are the vertices of a bipartite multigraph, people are its edges,
and groups are matchings. By König's theorem the edges are K matchings if no vertex has more than K of them;
by McDiarmid's these can be chosen such that their sizes differ by at most one. With K = N // m each has at
least m edges. So people can be grouped exactly if no value of either column is that of more than 1/m of them.

With three columns that is not enough: of (1, 1, 1), (1, 2, 2), (2, 1, 2) and (2, 2, 1), any two have a value
in common. So people may be left over there, who have to be counted.

References
----------
König, Über Graphen und ihre Anwendung auf Determinantentheorie und Mengenlehre, Math. Annalen 77, 1916.
McDiarmid, The solution of a timetabling problem, J. Inst. Maths Applics 9, 1972.
Yang, Wang, Wang and Yu, Privacy preserving approaches for multiple sensitive attributes in data publishing,
Chinese Journal of Computers 31(4), 2008.
Xiao and Tao, m-Invariance, SIGMOD 2007, section 4.2, Figure 3: the same steps for one column.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl
import scipy

from republish.anonymize.arrays import Bools, Floats, Ints
from republish.anonymize.buckets.limits import Step
from republish.anonymize.buckets.signatures import ByBucket, ByValue, Signatures
from republish.anonymize.contract import Sensitive
from republish.anonymize.contract.combined import values_of
from republish.anonymize.kernels.distinct import distinct_combinations
from republish.anonymize.kernels.heaviest import heaviest_edges
from republish.anonymize.people.values import positions

FORBIDDEN = -1e9
"""The weight of a pair that nobody has."""
REQUIRED = 1e3
"""The weight of a value that has to be in a signature; preferences among signatures weigh at most 2."""
FEW_TRIES, MANY_TRIES = 300, 20_000
"""How long a signature of three columns and more is searched for: of which as many groups as that may be
taken, and of which one may be, without which everybody else would be left over."""


class Combinations(NamedTuple):
    """V combinations of values of C columns."""

    part: Ints
    """int64[V, C]: the value of each column, numbered throughout all columns: 0 … D - 1."""
    parts: int
    """D, the values of all columns together."""

    @property
    def columns(self) -> int:
        """C."""
        return int(self.part.shape[1])

    def by_part(self, people: ByValue) -> Ints:
        """int64[D]: people by value of a column, from people by combination."""
        each = np.repeat(people, self.columns)
        return np.bincount(self.part.ravel(), each, self.parts).astype(np.int64)

    def with_part(self, combinations: Ints) -> Ints:
        """int64[n, D]: 1 where some combinations, int[n], have a value, and 0 elsewhere."""
        has = np.zeros((len(combinations), self.parts), np.int64)
        np.put_along_axis(has, self.part[combinations], 1, axis=1)
        return has

    def of_signatures(self, known: Signatures) -> Ints:
        """int64[B, D]: how often signatures have each value of a column."""
        has = np.zeros((len(known), self.parts), np.int64)
        for part in self.part.T:
            has[known.bucket, part[known.value]] = 1
        return has

    def excess(self, people: ByValue, m: int) -> Ints:
        """int64[D]: m times the people with a value, less everybody; if positive, too many have it."""
        excess: Ints = m * self.by_part(people) - people.sum()
        return excess

    def are_eligible(self, people: ByValue, m: int) -> bool:
        """True if no value of any column is that of more than 1/m of the people.

        It is necessary for groups of at least m combinations that differ in every column; with one or two
        columns it is sufficient.
        """
        return bool(self.excess(people, m).max(initial=0) <= 0)

    def room(self, known: Signatures, m: int) -> Callable[[ByValue], ByBucket]:
        """From an m-eligible rest to the most groups of each signature that leave it m-eligible."""
        takes = known.sizes[:, None] - m * self.of_signatures(known)

        def room(rest: ByValue) -> ByBucket:
            most = known.scarcest(rest)
            rooms: Ints = -self.excess(rest, m) // np.maximum(takes, 1)
            groups: ByBucket = np.minimum(most, rooms.min(axis=1, where=takes > 0, initial=most.max()))
            return groups

        return room

    def next_step(self, rest: ByValue, m: int, *, eligible: bool = True) -> Step | None:
        """A signature, and as many groups of it as can be taken such that the others stay m-eligible.

        It is one of the smallest signatures there are, with the most groups, as Figure 3 has it. With three
        columns and more there may be none. Of a rest that is not `eligible`, it is a signature of m.
        """
        there = np.flatnonzero(rest)
        among = self._replace(part=self.part[there])
        search = _Search(rest[there], among, m if eligible else 0)
        everybody = int(rest.sum())
        for size in range(m, -(-everybody // (everybody // m)) + 1) if eligible else (m,):
            found, groups = search.signature(1, size), 1
            most = min(int(rest.max()), everybody // size)
            if found is None:
                continue
            while groups < most:
                middle = -(-(groups + most) // 2)
                if most > 4 * groups:  # the middle of the logarithms, because most signatures have few groups
                    middle = max(groups + 1, int(np.sqrt(groups * most)))
                larger = search.signature(middle, size)
                if larger is None:
                    most = middle - 1
                else:
                    found, groups = larger, middle
            return Step(np.sort(there[found]), groups)
        return None


def combinations_of(values: pl.Series, sensitive: Sensitive) -> Combinations:
    """List what combinations of several columns, String[V], are made of."""
    columns, parts = [], 0
    for column in values_of(values, sensitive):
        there = column.unique().sort()
        columns.append(parts + positions(column, there))
        parts += len(there)
    return Combinations(np.stack(columns, axis=1), parts)


class _Search:
    """A search for signatures of V combinations, each of which some people have."""

    def __init__(self, people: ByValue, combinations: Combinations, m: int):
        self._people, self._combinations, self._m = people, combinations, m
        self._by_part = combinations.by_part(people)
        self._pairs = _Pairs.of(people, combinations.part, self._by_part)

    def signature(self, groups: int, size: int) -> Ints | None:
        """Find the combinations of a signature of which so many groups leave the others m-eligible."""
        left = self._people.sum() - groups * size
        if left < 0:
            return None
        required = np.zeros(self._combinations.parts, bool)
        if self._m:  # so much of a value that the others have no more of it than they may
            least = -(-(self._m * self._by_part - left) // (self._m * groups))
            if (least > 1).any():
                return None
            required = least > 0
        return self._differing(required, groups, size)

    def _differing(self, required: Bools, groups: int, size: int) -> Ints | None:
        """Find combinations that differ in every column and have all values required."""
        if self._combinations.columns == 2:
            return self._pairs.matching(required, groups, size)
        tries = FEW_TRIES if groups > 1 else MANY_TRIES
        part = self._combinations.part
        found = distinct_combinations(part, self._people, groups, required, size, tries)
        return found if len(found) else None


class _Pairs(NamedTuple):
    """People by the values of two columns."""

    part: Ints
    """int64[V, 2]"""
    people: Ints
    """int64[V]"""
    preferred: Floats
    """float64[V]: signatures of frequent values come first."""
    order: Ints
    """int64[V]: by what is preferred."""

    @classmethod
    def of(cls, people: np.ndarray, part: np.ndarray, by_part: np.ndarray) -> _Pairs:
        preferred = by_part[part].sum(axis=1) / max(people.sum(), 1)
        return cls(part, people, preferred, np.argsort(-preferred, kind="stable"))

    def matching(self, required: Bools, groups: int, size: int) -> Ints | None:
        """Find the combinations of a matching of so many edges that covers all values that are required.

        Of all edges, the few that a heaviest matching needs are enough. It is a matching of all vertices
        once so many vertices are added on either side that all but `size` of the others have one of these
        as their neighbour.
        """
        edges = heaviest_edges(self.order, self.part, self.people, groups, required, size)
        first, row = np.unique(self.part[edges, 0], return_inverse=True)
        second, column = np.unique(self.part[edges, 1], return_inverse=True)
        rows, columns = len(first), len(second)
        if min(rows, columns) < size:
            return None
        weight = np.zeros((rows + columns - size, rows + columns - size))
        weight[:rows, :columns] = weight[rows:, columns:] = FORBIDDEN
        weight[row, column] = REQUIRED * required[self.part[edges]].sum(axis=1) + self.preferred[edges]
        number = np.full((rows, columns), -1)
        number[row, column] = edges
        left, right = scipy.optimize.linear_sum_assignment(weight, maximize=True)
        if weight[left, right].min() < 0:
            return None
        real = (left < rows) & (right < columns)
        found: Ints = number[left[real], right[real]]
        return found if required[self.part[found]].sum() == required.sum() else None
