"""Tables of people as they may be: each group's values are dealt out by what was learned of all groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from republish.anonymize.arrays import Bools, Floats, Ints
from republish.anonymize.learning.associations import Associations, Groups

LEAST = 1e-25
"""The weight of what seems impossible: people of a group are in the order of its values, nearly."""
STIFF, ROUNDS = 0.02, 2
"""Coefficients stay near where a search begins: how much sums may miss for that, over how far each unit of a
coefficient moves them at first. The first search begins anew where it ended, in so many rounds."""
STEPS, CLOSE = 30, 0.1
"""Steps of the search for coefficients, and how far each sum may be off at its end, over how much it differs
from dealing to dealing."""
DAMPED, WIDEST = 0.75, 1.0
"""The part of a step that is gone, as values of a group move together; and by how much it may change how
likely people have values: the root mean square of the logarithms."""


def dealings(
    groups: Groups, columns: Floats, is_person: Bools, learned: Associations, random: np.random.Generator
) -> Iterator[Ints]:
    """Deal the values of each group to its tuples, int64[N], again and again.

    Sums of the model's columns by value are those that were learned, give or take their error, or as near to
    them as groups allow: each dealing has an error of its own. Otherwise a group's values fall to its people
    by lot, weighed by a regression on the columns (float64[N, F]) of those who are people (bool[N]).

    References
    ----------
    Rubin, Multiple Imputation for Nonresponse in Surveys, 1987: each table also draws what was
    learned, with its error.
    """
    search = _Search(replace(groups, least=LEAST), columns, is_person)
    middle: Floats = np.zeros(learned.sums.shape)
    for _ in range(ROUNDS):
        middle = search.coefficients(learned.sums, middle)
    while True:
        drawn = random.normal(size=len(learned.errors))
        sums = learned.sums + np.einsum("s,sfv->fv", drawn, learned.errors)
        yield groups.deal(np.einsum("nf,fv->nv", columns, search.coefficients(sums, middle)), random)


@dataclass(frozen=True)
class _Search:
    """The groups in which values are dealt by coefficients, float64[F, V], of some columns."""

    groups: Groups
    columns: Floats
    is_person: Bools

    def coefficients(self, sums: Floats, start: Floats) -> Floats:
        """Find the coefficients by which dealings have such sums on average, or as near as there is."""
        by_lot, found, nearest, coefficients = self._by_lot, start, np.inf, start
        looseness = STIFF * (1 + np.einsum("vff->fv", by_lot))
        loose = np.einsum("fv,fg->vfg", looseness, np.eye(len(sums)))
        for _ in range(STEPS):
            has = self._expected(coefficients)
            off = sums - np.einsum("nf,nv->fv", self._own, has) - looseness * (coefficients - start)
            # How many people have a value is certain.
            off[0] = 0
            far = (off * _solved(by_lot + loose, off)).sum()
            if far >= nearest:
                break
            found, nearest = coefficients, far
            if far < CLOSE**2 * sums.size:
                break
            step = DAMPED * _solved(self._curved(has) + loose, off)
            wide = np.sqrt((np.einsum("nf,fv->nv", self._own, step) ** 2).mean())
            coefficients = coefficients + step * min(1.0, WIDEST / wide)
        return found

    @cached_property
    def _by_lot(self) -> Floats:
        """How curved expected sums are where values are dealt by lot."""
        nothing = np.zeros((self.columns.shape[1], self.groups.held["at"].to_numpy().max() + 1))
        return self._curved(self._expected(nothing))

    @cached_property
    def _own(self) -> Floats:
        own: Floats = self.columns[self.is_person]
        return own

    def _expected(self, coefficients: Floats) -> Floats:
        """How likely each person has each value."""
        logs = np.einsum("nf,fv->nv", self.columns, coefficients)
        has: Floats = self.groups.posterior(logs, 1.0)[self.is_person]
        return has

    def _curved(self, has: Floats) -> Floats:
        """How fast expected sums of each value change with its coefficients, float64[V, F, F].

        A group's values are had by its people: where these are alike, nothing changes a sum.
        """
        order = np.argsort(self.groups.group[self.is_person], kind="stable")
        begins = np.flatnonzero(np.diff(self.groups.group[self.is_person][order], prepend=-1))
        own, found = self._own[order], []
        for share in has[order].T:
            weighed = share[:, None] * own
            sums, number = np.add.reduceat(weighed, begins), np.add.reduceat(share, begins)
            means = sums / np.maximum(number, 1e-12)[:, None]
            found.append(own.T @ weighed - means.T @ sums)
        return np.array(found)


def _solved(curved: Floats, off: Floats) -> Floats:
    """The coefficients, float64[F, V], that change sums by so much where they are so curved."""
    found: Floats = np.linalg.solve(curved, off.T[:, :, None])[:, :, 0].T
    return found
