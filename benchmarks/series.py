"""Series of m-invariant releases made in memory, one after the other, as the product makes them."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from anonymize.columns import IDENTIFIER
from anonymize.contract import Contract
from anonymize.m_invariance.release import release
from anonymize.people.randomness import generator
from anonymize.principle.candidate import Candidate
from anonymize.principle.state import State
from benchmarks.dynamic import Series
from benchmarks.people import KEY, pseudonymous


def released(
    snapshots: Series, contract: Contract, key: bytes = KEY
) -> Iterator[tuple[pl.DataFrame, Candidate]]:
    """Release each snapshot on what the release before left.

    Parameters
    ----------
    snapshots
        Each release's date and table, under the publisher's column names.
    contract
        Its principle is m-invariance.
    key
        What the releases are drawn with.

    Yields
    ------
    tuple[polars.DataFrame, Candidate]
        The people (`identifier`, `qi_0`, …, `value`, `pseudonym`) and what is made of them.
    """
    state = State.empty()
    for number, (date, snapshot) in enumerate(snapshots, start=1):
        people = pseudonymous(snapshot, contract)
        candidate = release(
            people.drop(IDENTIFIER),
            contract,
            state,
            number,
            lambda purpose, date=date: generator(key, contract.product, contract.series, date, purpose),
        )
        state = candidate.state
        yield people, candidate
