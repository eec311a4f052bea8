"""Tables of people as they may be: each group's values are dealt out by what was learned of all groups."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.optimize import root

from republish.anonymize.arrays import Bools, Floats, Ints
from republish.anonymize.learning.associations import Associations, Groups

SWEEPS = 40
"""How often the people of a group are paired, to swap their values: groups are small."""
STIFF = 0.01
"""How much sums may miss what was learned, as a part of its variance: the groups may not allow all of it."""
STEPS, CLOSE = 60, 0.3
"""Steps of the search for coefficients, and how far all sums together may be off at its end, as part of how
much they differ from dealing to dealing."""


def dealings(
    groups: Groups, columns: Floats, is_person: Bools, learned: Associations, random: np.random.Generator
) -> Iterator[Ints]:
    """Deal the values of each group to its tuples, int64[N], again and again.

    Sums of the model's columns by value are those that were learned, give or take their error: each dealing
    has an error of its own. Otherwise a group's values fall to its people by lot, weighed by a regression on
    the columns (float64[N, F]) of those who are people (bool[N]).

    References
    ----------
    Rubin, Multiple Imputation for Nonresponse in Surveys, 1987: each table also draws what was
    learned, with its error.
    """
    looseness = STIFF * (learned.errors**2).sum(axis=0) + 1
    middle = _coefficients(groups, columns, is_person, learned.sums, looseness, np.zeros(looseness.shape))
    while True:
        drawn = random.normal(size=len(learned.errors))
        sums = learned.sums + np.einsum("s,sfv->fv", drawn, learned.errors)
        found = _coefficients(groups, columns, is_person, sums, looseness, middle)
        yield deal(groups, np.einsum("nf,fv->nv", columns, found), random)


def _coefficients(
    groups: Groups, columns: Floats, is_person: Bools, sums: Floats, looseness: Floats, start: Floats
) -> Floats:
    """Find the coefficients, float64[F, V], by which dealings have such sums on average.

    `looseness`, float64[F, V], is how much a sum may miss for each unit of its coefficient.
    """
    own = columns[is_person]

    def expected(coefficients: Floats) -> Floats:
        has: Floats = groups.posterior(np.einsum("nf,fv->nv", columns, coefficients), 1.0)[is_person]
        return has

    has = expected(start)
    curved = np.einsum("nf,nv,ng->vfg", own, has * (1 - has), own)
    curved += np.einsum("fv,fg->vfg", looseness, np.eye(len(sums)))
    # The search goes in steps that change what is expected about as much in every direction.
    inverse = np.linalg.inv(np.linalg.cholesky(curved))

    def moved(flat: Floats) -> Floats:
        found: Floats = start + np.einsum("vfg,vf->gv", inverse, flat.reshape(inverse.shape[:2]))
        return found

    def missed(flat: Floats) -> Floats:
        coefficients = moved(flat)
        off = np.einsum("nf,nv->fv", own, expected(coefficients)) - sums + looseness * coefficients
        # How many people have a value is certain.
        off[0] = 0
        found: Floats = np.einsum("vfg,gv->vf", inverse, off).ravel()
        return found

    options = {"maxfev": STEPS, "fatol": CLOSE, "ftol": 0}
    return moved(root(missed, np.zeros(sums.size), method="df-sane", options=options).x)


def deal(groups: Groups, logs: Floats, random: np.random.Generator) -> Ints:
    """Deal the values of each group to its tuples, int64[N], as likely as exp of the sum of their `logs`.

    `logs` are float64[N, V], by tuple and value.
    Two people of a group swap their values, or don't, by how likely the one and the other are (Metropolis et
    al., 1953, in Barker's form).
    """
    number = len(groups.group)
    begins = np.flatnonzero(np.diff(np.sort(groups.group), prepend=-1))
    place = np.arange(number) - np.repeat(begins, np.diff(begins, append=number))
    first = np.flatnonzero((place[:-1] % 2 == 0) & (place[1:] == place[:-1] + 1))
    value = np.empty(number, np.int64)
    value[np.lexsort((random.random(number), groups.group))] = np.repeat(
        *groups.held.select("at", "tuples").to_numpy().T
    )
    for _ in range(SWEEPS):
        order = np.lexsort((random.random(number), groups.group))
        one, other = order[first], order[first + 1]
        kept, swapped = (logs[one, value[a]] + logs[other, value[b]] for a, b in ((one, other), (other, one)))
        swap = random.random(len(one)) < 1 / (1 + np.exp(np.clip(kept - swapped, -50, 50)))
        one, other = one[swap], other[swap]
        value[one], value[other] = value[other], value[one]
    return value
