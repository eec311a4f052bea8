"""Which tuples of groups may be counterfeits: allocations that agree with the counterfeits of every group.

How many tuples of a group are counterfeits is published, and not which ones. Counterfeits are not equally
likely for each value: they fill what a value has too few people for. So allocations are drawn. A draw begins
with odds of its own for each value, and for each value of a signature; the odds of values are then fitted to
all groups (expectation maximization). One value of a signature has hardly any counterfeit, because a release
with fewer counterfeits would do else.

References
----------
Xiao and Tao, m-Invariance, SIGMOD 2007, section 4.2: counterfeits balance what a signature has too little of.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from republish.anonymize.arrays import Bools, Floats, Ints, Words
from republish.anonymize.kernels.splitmix import STEP, mixed

DRAWS, DRAW_ROUNDS = 32, 12
"""Allocations of counterfeits to values that are drawn, and how often the odds of each draw are fitted."""
VALUE_SPREAD, SIGNATURE_SPREAD = 2, 1.5
"""A draw begins with log odds that differ by so much (standard deviations) from value to value, and within a
value from signature to signature."""
FEW, HARDLY = 0.2, 0.01
"""Each value is taken to have so many counterfeits more, in tuples with as many as all have; and the value of
a signature that has the fewest, so many times as many."""


def forged(
    people: Ints, size: Ints, group: Ints, value: Ints, tuples: Ints, numbers: Words
) -> tuple[Ints, Floats]:
    """Draw which part of the tuples of each kind are counterfeits.

    A kind has one value in groups of one signature and of as many counterfeits each.

    Parameters
    ----------
    people, size
        int64[G]: how many people and how many tuples each group has.
    group, value, tuples
        int64[H]: the values of groups, each once, in the order of groups: how many tuples have it.
    numbers
        uint64[V]: a number of each value, any of 64 bits, that is the same in every release. So draws are the
        same whenever they are made, and begin with the same odds of a value in all releases.

    Returns
    -------
    Ints
        int64[H]: the kind of each entry; -1 where none of its tuples is a counterfeit.
    Floats
        float64[D, K + 1]: what part of the tuples of each kind are counterfeits in each of D draws. The last
        kind is that of entries without any; there are no draws where no group has counterfeits.
    """
    counterfeits = (size - people)[group]
    asked = np.flatnonzero(counterfeits)
    found, none = np.full(len(group), -1), np.zeros((0, 1))
    if not len(asked):
        return found, none
    # The number of a signature is the sum of those of its values.
    signature = np.zeros(len(people), np.uint64)
    np.add.at(signature, group, mixed(numbers[value]))
    order = np.lexsort([value[asked], counterfeits[asked], signature[group[asked]]])
    asked = asked[order]
    values, stated, signatures = value[asked], counterfeits[asked], signature[group[asked]]
    is_class = _begins(signatures) | _begins(stated)
    is_kind = is_class | _begins(values)
    found[asked] = np.cumsum(is_kind) - 1
    first = np.flatnonzero(is_kind)
    values, own = values[first], mixed(numbers[values[first]] ^ mixed(signatures[first]))
    usual = (counterfeits * tuples / size[group]).sum() / tuples.sum()
    fake = _fitted(
        _Kinds(
            value=values,
            signature=np.cumsum(_begins(signatures)[first]) - 1,
            of_class=np.cumsum(is_class[first]) - 1,
            tuples=np.add.reduceat(tuples[asked], first)[:, None],
            counterfeits=np.add.reduceat(stated, first)[:, None],
        ),
        np.exp(VALUE_SPREAD * _normal(numbers[values])),
        np.exp(SIGNATURE_SPREAD * _normal(own)),
        np.bincount(value, tuples, len(numbers)).astype(float)[values][:, None],
        FEW / usual,
    )
    return found, np.pad(fake.T, ((0, 0), (0, 1)))


@dataclass(frozen=True)
class _Kinds:
    """K kinds, in the order of signatures, and within one of classes: counts of counterfeits in a group."""

    value: Ints
    """int64[K]"""
    signature: Ints
    """int64[K]: the place of the signature, and that of the class."""
    of_class: Ints
    tuples: Ints
    """int64[K, 1]: how many tuples the groups of the class have of the value."""
    counterfeits: Ints
    """int64[K, 1]: how many counterfeits these groups have."""


def _fitted(kinds: _Kinds, odds: Floats, own: Floats, carriers: Floats, few: float) -> Floats:
    """Fit the odds of values to the counterfeits of all groups: which part is counterfeit, float64[K, D].

    Parameters
    ----------
    odds, own
        float64[K, D]: the odds of the value, and how many times as high they are in the signature.
    carriers
        float64[K, 1]: how many tuples of all have the value.
    few
        So many tuples have `FEW` counterfeits.
    """
    by_value = np.argsort(kinds.value, kind="stable")
    sorted_values = kinds.value[by_value]
    scale = fake = np.ones(odds.shape)
    for _ in range(DRAW_ROUNDS):
        weight = odds * own
        is_least = weight <= _each(np.minimum, weight, kinds.signature)
        weight = scale * weight * np.where(is_least, HARDLY, 1)
        part = weight / (1 + weight)
        taken = _each(np.add, kinds.tuples * part, kinds.of_class)
        rest = np.maximum(_each(np.add, kinds.tuples, kinds.of_class) - taken, 1e-300)
        more = part + (1 - part) * (kinds.counterfeits - taken) / rest
        fake = np.where(taken > kinds.counterfeits, part * kinds.counterfeits / taken, more)
        scale = scale * kinds.counterfeits / taken
        of_value = np.empty(odds.shape)
        of_value[by_value] = _each(np.add, (kinds.tuples * fake)[by_value], sorted_values)
        rate = np.minimum(0.99, (of_value + FEW) / (carriers + few))
        odds = rate / (1 - rate)
    return fake


def _begins(column: np.ndarray) -> Bools:
    """Where an entry is another than the one before, bool[N]."""
    return np.append(True, column[1:] != column[:-1])


def _each(gather: np.ufunc, rows: np.ndarray, of: Ints) -> np.ndarray:
    """The sum, or the least, of the rows of each part, for each of its rows; parts are in their order."""
    begins = _begins(of)
    found: np.ndarray = gather.reduceat(rows, np.flatnonzero(begins))[np.cumsum(begins) - 1]
    return found


def _normal(numbers: Words) -> Floats:
    """Normal numbers that are the same for the same number, float64[N, DRAWS] (Box and Muller)."""
    draws = np.arange(2 * DRAWS, dtype=np.uint64) * STEP
    even = (mixed(numbers[:, None] + draws).astype(float) + 1) / 2.0**64
    found: Floats = np.sqrt(-2 * np.log(even[:, :DRAWS])) * np.cos(2 * np.pi * even[:, DRAWS:])
    return found
