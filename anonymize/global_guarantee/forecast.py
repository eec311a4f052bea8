"""A forecast of how many more releases people can be placed in, before it happens."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from republish.anonymize.arrays import Floats, Ints
from republish.anonymize.columns import VALUE
from republish.anonymize.contract import Contract
from republish.anonymize.figures import reached
from republish.anonymize.global_guarantee.ledger import Ledger
from republish.anonymize.global_guarantee.parameters import GlobalGuarantee
from republish.anonymize.global_guarantee.strategy import Strategy, budget, spending, strategy_of
from republish.anonymize.kernels.ledger import fewest_releases
from republish.anonymize.kernels.read_only import read_only
from republish.anonymize.principle.state import State
from republish.anonymize.rounding import FEW_STEPS, MANY_STEPS

HORIZON = 20
"""More releases than this are not told apart."""


def forecast(state: State, contract: Contract[GlobalGuarantee]) -> pl.DataFrame:
    """Count people of the last release's table by how many more releases they can be placed in.

    The columns are `releases_left` (0 to `HORIZON`, which stands for more, too) and `people`; ascending,
    without empty rows. The state is the ledger after a release, and the contract has l and the strategy from
    now on.
    """
    if not state.tables:
        return pl.DataFrame(schema={"releases_left": pl.Int64, "people": pl.Int64})
    ledger = Ledger.of(state, state.tables["values"].schema[VALUE])
    strategy = strategy_of(contract.principle)
    tuples = ledger.values["tuples"].to_numpy()
    exempt = contract.sensitive.may_be_known(ledger.values[VALUE]).to_numpy()
    needed = np.where(exempt, 0.0, spending(tuples / max(1, tuples.sum())))
    promised = ledger.people.select(pl.max_horizontal("l", pl.lit(contract.principle.l, pl.Int32)), "rows")
    kinds, promise = np.unique(promised.to_numpy(), axis=0, return_inverse=True)
    whole, entries = budget(kinds[:, 0]), kinds[:, 1]
    limits = _limits(strategy, whole, entries[:, None] * needed)
    fresh = _releases_left(strategy, np.zeros(len(whole)), whole, entries * needed.max(initial=0))
    value, spent = (read_only(ledger.links[column].to_numpy()) for column in ("value_id", "spent"))
    left = fewest_releases(ledger.first, value, spent, promise, limits)
    here = ledger.people["last_seen"].to_numpy() == ledger.number
    releases, people = np.unique(np.minimum(left, fresh[promise])[here], return_counts=True)
    return pl.DataFrame({"releases_left": releases, "people": people}).cast(pl.Int64)


def _limits(strategy: Strategy, whole: np.ndarray, needed: np.ndarray) -> Floats:
    """float64[budgets, V, HORIZON]: the most that may be spent for 1, 2, … more releases.

    `needed`, float64[budgets, V], is what each of these spends on each value.

    -1 if nothing will do. Found by bisection, since spending more never leaves more releases.
    """
    shape = (*needed.shape, HORIZON)
    budgets, needs = whole[:, None, None], needed[:, :, None]
    low, high = np.zeros(shape), np.broadcast_to(budgets, shape)
    for _ in range(50):
        middle = (low + high) / 2
        suffice = _releases_left(strategy, middle, budgets, needs) >= np.arange(1, HORIZON + 1)
        low, high = np.where(suffice, middle, low), np.where(suffice, high, middle)
    suffice = _releases_left(strategy, np.zeros(shape), budgets, needs) >= np.arange(1, HORIZON + 1)
    return np.where(suffice, low, -1.0)


def longest_plan(l: int, share: float, rows: int = 1) -> int:
    """Count the releases in which a value of a share can be linked to a person, whatever the strategy.

    The person has so many rows in each.

    Nobody can do better than the table: with the share q of a value in every release, the probability of ever
    having had it is 1 - (1 - q)^k at least, on average over the people.

    Examples
    --------
    >>> longest_plan(2, 0.1), longest_plan(3, 0.1)
    (6, 3)
    """
    # Two logarithms whose quotient may be a whole number that rounding missed.
    return int(budget(l) / (rows * spending(share)) + MANY_STEPS)


def _releases_left(strategy: Strategy, spent: np.ndarray, whole: np.ndarray, needed: np.ndarray) -> Ints:
    """int64[…]: how often what the strategy allows is at least what is needed."""
    left = np.zeros(np.broadcast(spent, whole, needed).shape, np.int64)
    going = np.ones(left.shape, bool)
    for _ in range(HORIZON):
        allowance = strategy.allowance(spent, whole)
        going &= allowance >= needed * (1 - FEW_STEPS)
        if not going.any():
            break
        left += going
        spent = spent + allowance
    return left


def releases_of_most(left: Mapping[float, int]) -> int:
    """The number of releases for which at least half of the people can be placed; 0 if there is nobody.

    Examples
    --------
    >>> releases_of_most({0: 10, 2: 20, 5: 20})
    2
    """
    return -int(reached({-releases: people for releases, people in left.items()}, 0.5) or 0)
