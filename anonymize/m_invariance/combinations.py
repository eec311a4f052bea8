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

from typing import NamedTuple

import numpy as np
import polars as pl
import scipy

from anonymize.arrays import Bools, Floats, Ints
from anonymize.contract import Sensitive
from anonymize.contract.combined import values_of
from anonymize.kernels.distinct import distinct_combinations
from anonymize.kernels.heaviest import heaviest_edges
from anonymize.people.values import positions

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

    def by_part(self, people: Ints) -> Ints:
        """int64[D]: people by value of a column, from people by combination, int[V]."""
        each = np.repeat(people, self.columns)
        return np.bincount(self.part.ravel(), each, self.parts).astype(np.int64)

    def with_part(self, combinations: Ints) -> Bools:
        """bool[n, D]: which values some combinations, int[n], have."""
        found = np.zeros((len(combinations), self.parts), bool)
        np.put_along_axis(found, self.part[combinations], values=True, axis=1)
        return found

    def are_eligible(self, people: Ints, m: int) -> bool:
        """Whether no value of any column is that of more than 1/m of the people, int[V].

        It is necessary for groups of at least m combinations that differ in every column; with one or two
        columns it is sufficient.
        """
        return bool(self.by_part(people).max(initial=0) * m <= people.sum())


def combinations_of(values: pl.Series, sensitive: Sensitive) -> Combinations:
    """What the combinations of several columns are made of.

    Parameters
    ----------
    values
        String[V]: combinations.
    sensitive
        The columns.
    """
    columns, parts = [], 0
    for column in values_of(values, sensitive):
        there = column.unique().sort()
        columns.append(parts + positions(column, there))
        parts += len(there)
    return Combinations(np.stack(columns, axis=1), parts)


def have_signature(there: Ints, combinations: Combinations, m: int) -> bool:
    """Whether m of some combinations, int[n], differ in every column; with three columns, one was found."""
    one_each = np.ones(len(there), np.int64)
    search = _Search(one_each, combinations.part[there], combinations.parts, 0)
    return search.signature(1, m) is not None


class Step(NamedTuple):
    """Groups of one signature that are taken at once."""

    signature: Ints
    """int64[beta]: combinations that differ in every column."""
    groups: int


def next_step(people: Ints, combinations: Combinations, m: int, *, eligible: bool = True) -> Step | None:
    """A signature, and as many groups of it as can be taken such that the others stay m-eligible.

    Parameters
    ----------
    people
        int[V]: people by combination.
    combinations
        What they are made of.
    m
        Combinations of a signature, at least.
    eligible
        Whether the people are m-eligible and the others have to stay so. If not, it is a signature of m.

    Returns
    -------
    Step or None
        One of the smallest signatures there are, with the most groups, as Figure 3 has it. None if there is
        none, which is possible with three columns and more.
    """
    there = np.flatnonzero(people)
    search = _Search(people[there], combinations.part[there], combinations.parts, m if eligible else 0)
    everybody = int(people.sum())
    for size in range(m, -(-everybody // (everybody // m)) + 1) if eligible else (m,):
        found, groups = search.signature(1, size), 1
        most = min(int(people.max()), everybody // size)
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


class _Search:
    """Signatures of V combinations that people have, int[V]."""

    def __init__(self, people: np.ndarray, part: np.ndarray, parts: int, m: int):
        self._people, self._part, self._m = people, part, m
        self._by_part = Combinations(part, parts).by_part(people)
        self._pairs: _Pairs | None = None
        if part.shape[1] == 2:
            self._pairs = _Pairs.of(people, part, self._by_part)

    def signature(self, groups: int, size: int) -> np.ndarray | None:
        """The combinations of a signature of which so many groups leave the others m-eligible."""
        left = self._people.sum() - groups * size
        required = self._m * self._by_part > left
        if left < 0 or (self._m * (self._by_part[required] - groups) > left).any():
            return None
        if self._pairs is not None:
            return self._pairs.matching(required, groups, size)
        tries = FEW_TRIES if groups > 1 else MANY_TRIES
        found = distinct_combinations(self._part, self._people, groups, required, size, tries)
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

    def matching(self, required: np.ndarray, groups: int, size: int) -> np.ndarray | None:
        """The combinations of a matching of so many edges that covers all values that are required.

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
        row, column = scipy.optimize.linear_sum_assignment(weight, maximize=True)
        if weight[row, column].min() < 0:
            return None
        real = (row < rows) & (column < columns)
        found: Ints = number[row[real], column[real]]
        return found if required[self.part[found]].sum() == required.sum() else None
