"""Decide, one person after another, who is placed: always before the person's own value is read."""

import numpy as np

from republish.anonymize.arrays import Bools, Floats, Ints
from republish.anonymize.kernels.accounts import Accounts
from republish.anonymize.kernels.compiled import compiled


@compiled()
def admit(
    order: Ints,
    unseen: int,
    sample: int,
    accounts: Accounts,
    value: Ints,
    expected: Floats,
    factor: Floats,
    passes: int,
) -> tuple[Bools, bool]:
    """Choose the people who are placed, so that all of them together make a group that holds.

    A group holds if no value has a larger share of it than any of its members admits. People are asked in
    turn, and whoever is admitted is never sent away. All that is looked at is public, but for the values of
    people who are admitted already: nobody's own value decides whether they are.

    1. The first `unseen` of the order are admitted.
    2. Others are admitted if the limits of their links exceed the shares that are expected (of those admitted
       so far, and `expected`) by `factor`. Somebody without a link admits as much as somebody new.
    3. Once `sample` people were asked and one more could join whatever their value, somebody else has to
       leave every limit unbroken too, their own included, whatever their value.

    Parameters
    ----------
    order
        int64[N]: the people, in the order in which they are asked.
    accounts
        What each person admits; no link admits more than `largest`.
    value
        int64[N]: the person's own value.
    expected
        float64[V]: tuples of each value that are added to those admitted, for shares that are expected.
    factor
        float64[V]: by how much a limit has to exceed the share of each value.
    passes
        How often those who were not admitted are asked again.

    Returns
    -------
    bool[N], bool
        Whether each person is admitted, and whether all who are make a group that holds.
    """
    people, values = len(order), len(expected)
    weight = 0.0
    for added in expected:
        weight += added
    admitted = np.zeros(people, np.bool_)
    counts = np.zeros(values, np.int64)
    # What everybody who is admitted admits of each value; the last entry is for values without a link.
    least = np.full(values + 1, 2.0)
    placed = 0
    is_settled = False
    for asking in range(passes):
        progress = False
        for position in range(people):
            person = order[position]
            if admitted[person]:
                continue
            if asking > 0 or position >= unseen:
                if not is_settled and (asking > 0 or position >= sample):
                    is_settled = _has_room(counts, least, placed)
                total = placed + weight
                if not _exceed(person, accounts, counts, expected, factor, total):
                    continue
                if is_settled and not (
                    _has_room(counts, least, placed) and _has_own_room(person, accounts, counts, placed)
                ):
                    continue
            # Only now the value is read.
            admitted[person] = True
            placed += 1
            counts[value[person]] += 1
            least[values] = min(least[values], accounts.largest[person])
            for link in range(accounts.first[person], accounts.last[person]):
                v = accounts.link_value[link]
                least[v] = min(least[v], accounts.link_share[link])
            progress = True
        if not progress:
            break
    holds = True
    for v in range(values):
        if counts[v] > min(least[v], least[values]) * placed:
            holds = False
    return admitted, holds


@compiled(inline="always")
def _has_room(counts: Ints, least: Floats, placed: int) -> bool:
    """Whether one more tuple of any value leaves every share within the limits of all who are admitted."""
    values = len(counts)
    for v in range(values):  # noqa: SIM110 - numba compiles loops
        if counts[v] + 1 > min(least[v], least[values]) * (placed + 1):
            return False
    return True


@compiled(inline="always")
def _has_own_room(person: int, accounts: Accounts, counts: Ints, placed: int) -> bool:
    """Whether, with the person, every share is within the person's limits, whatever their value."""
    for v in range(len(counts)):
        if counts[v] + 1 > accounts.largest[person] * (placed + 1):
            return False
    for link in range(accounts.first[person], accounts.last[person]):
        if counts[accounts.link_value[link]] + 1 > accounts.link_share[link] * (placed + 1):
            return False
    return True


@compiled(inline="always")
def _exceed(
    person: int, accounts: Accounts, counts: Ints, expected: Floats, factor: Floats, total: float
) -> bool:
    """Whether the limits of a person's links exceed the shares that are expected by the factors."""
    for link in range(accounts.first[person], accounts.last[person]):
        v = accounts.link_value[link]
        if (counts[v] + expected[v]) * factor[v] > accounts.link_share[link] * total:
            return False
    return True
