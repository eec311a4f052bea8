"""The share of a budget that one release may spend, by strategy.

A release in whose group a value has the share 1/r multiplies the probability of never having had it by 1 -
1/r. In logarithms it **spends** -ln(1 - 1/r) of a **budget** of -ln(1 - 1/l), and the guarantee holds as long
as no more is spent than the budget. A strategy says how much of it the next release may spend. All arrays may
have any shape.

Wong, Fu, Liu, Wang and Xu, Preserving individual privacy in serial data publishing: Lemma 4.2 (products of 1
- 1/r), Theorem 5.1 (minimum ratio), section 6.1 (constant ratio).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from republish.anonymize.arrays import Floats
from republish.anonymize.global_guarantee.parameters import FIRST_SHARE, GlobalGuarantee
from republish.anonymize.rounding import FEW_STEPS


def budget(l: int | Floats) -> Floats:
    """-ln(1 - 1/l): what may be spent on one value of one person, over all releases."""
    return -np.log1p(-1 / np.asarray(l, np.float64))


def spending(share: float | Floats) -> Floats:
    """-ln(1 - share): what a release spends on a value with that share of a group; infinite for 1."""
    with np.errstate(divide="ignore"):
        return -np.log1p(-np.asarray(share, np.float64))


class Strategy(Protocol):
    """A division of the budget among releases."""

    def allowance(self, spent: Floats, whole: Floats) -> Floats:
        """The most that the next release may spend, never negative and never more than what remains.

        `spent` is what the releases so far have spent on a value of a person, `whole` that person's budget.
        """


@dataclass(frozen=True)
class ConstantRatio:
    """One ratio for a number of releases: each may spend an equal part of the budget.

    No series of that many ratios has a smaller largest one. Groups are larger than they must be, so something
    remains after the planned releases. It is used up on purpose: every later release may again spend such a
    part, or what remains if that is less. Then larger and larger ratios would be needed, up to one that no
    group has; from there on the person is held back.

    References
    ----------
    Section 6.1; r = 1 / (1 - (1 - 1/l)^(1/k')).
    """

    releases: int
    """k', at least 1."""

    def allowance(self, spent: Floats, whole: Floats) -> Floats:
        """A k'-th of the budget, or what remains if that is less."""
        return np.clip(whole - spent, 0, whole / self.releases)


@dataclass(frozen=True)
class Geometric:
    """Ratios that grow from release to release: each may spend the share 1 - a of what remains.

    This strategy is derived, not quoted: the paper's section on it is not in the text at hand. If every
    release spends all it may, the i-th spends the share (1 - a) a^(i-1) of the budget, so that

        r_i = 1 / (1 - (1 - 1/l)^((1 - a) a^(i - 1))).

    What a release did not spend of that is added to what remains. The budget never runs out, but the shares
    that it admits shrink: below the share that a value has in the whole table, no group will do.
    """

    a: float
    """0 < a < 1."""

    def allowance(self, spent: Floats, whole: Floats) -> Floats:
        """The share 1 - a of what remains."""
        return (1 - self.a) * np.maximum(whole - spent, 0)


@dataclass(frozen=True)
class Minimum:
    """The minimum ratio: a release may spend all that remains.

    The smallest groups now, and none later: a release that spends everything leaves nothing, and a person
    whose budget is spent on one value is held back in all later ones.

    References
    ----------
    Theorem 5.1: with Q the product of 1 - 1/r over the releases so far, r >= Q / (Q - (1 - 1/l)).
    """

    def allowance(self, spent: Floats, whole: Floats) -> Floats:
        """All that remains."""
        return np.maximum(whole - spent, 0)


def strategy_of(parameters: GlobalGuarantee) -> Strategy:
    """The strategy that a contract names."""
    if parameters.releases is not None:
        return ConstantRatio(parameters.releases)
    if parameters.strategy == "geometric":
        return Geometric(FIRST_SHARE if parameters.a is None else parameters.a)
    return Minimum()


def admitted_share(allowance: Floats) -> Floats:
    """The largest share, 1/r, that a value may have in a group that may spend so much on it; 0 if nothing."""
    # A minimum ratio of 9 is to admit a group of 9 whatever logarithms round to; a thousand releases that
    # each use it stay within 1e-9 of the budget.
    return -np.expm1(-allowance) * (1 + FEW_STEPS)


def largest_share(parameters: GlobalGuarantee) -> float:
    """The largest share that a value may have in the first group of a person.

    Examples
    --------
    >>> parameters = {"name": "global_guarantee", "l": 2, "strategy": "constant_ratio", "releases": 2}
    >>> round(largest_share(GlobalGuarantee.model_validate(parameters)), 3)
    0.293
    """
    whole = budget(np.array([parameters.l]))
    return float(admitted_share(strategy_of(parameters).allowance(np.zeros(1), whole))[0])
