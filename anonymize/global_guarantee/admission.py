"""The choice of people to place in a release. Nobody is held back for the value they have now.

A person's own value has a share of at least 1/n in any group of n people. A person with too little budget
left for some value can therefore not be placed with that value. If only people with that value were held
back, everybody who sees that they are missing would know the value. So the decision must not look at it: a
person is placed only if they could be placed with any value.

**Rule.** People are asked in an order that follows from the published past (the ledger) and a keyed hash.
Each is admitted or not by their own ledger, and by the values of those who were admitted *before them*.
Everybody who is admitted is placed. If the people admitted, as one single group, break a limit of one of
them in the end, nobody is placed at all (`on_ineligible`).

**Proof that being held back says nothing.** Let h(p) say whether p is asked and held back. By induction over
the order, the people admitted before p, their values, and so h(p), are a function of the public past, the
key, and values of people who are admitted. (1) p's own value is not among them: h(p) does not depend on it.
(2) No value of anybody who is held back is among them either, nor in anything that is published: if all
people who are held back had any other values, every published byte and the set of those who are held back
would be the same. (Values that may be known are an exception: how many people have one decides the parts that
it is split into by lot, `buckets/lots.py`.) So the likelihood of what an adversary sees is the same for every
assignment of values to the people held back, and even somebody who knows the algorithm, the key, the past and
all values of people who are placed learns nothing about the values of the others from the fact that they are
held back. ∎

The decision does not look at quasi-identifiers either, though it might. The number of people held back says
how frequent values are among the people placed, which the release says anyway. A release that is refused or
waits depends on values: it says that some value is too frequent in the table, which concerns everybody alike.
"""

from __future__ import annotations

import numpy as np

from republish.anonymize.arrays import Floats, Ints, Words
from republish.anonymize.kernels.accounts import Accounts
from republish.anonymize.kernels.admission import admit

WEIGHT = 100
"""Before anybody's value is read, the shares of the last release are expected, as if of so many tuples."""
PASSES = 3
"""How often people who were not admitted are asked again, once the shares of the day are known better."""
NOISE = 2.0
"""Standard deviations by which shares of a group differ from those of the table, for which room has to be."""
SMALL_TABLE = 1000
PORTION = 0.1
"""A person who could only be placed in a group of more than a tenth of the table (of 1,000 people in a small
table) is held back. The group would have to be as even as the table itself, and nobody in it could be in a
smaller one."""


def choose_placed(
    accounts: Accounts, value_id: Ints, published: Ints, ranks: Words
) -> tuple[np.ndarray, bool]:
    """Choose the people who are placed, and say whether they make a group that holds; see the proof above.

    Parameters
    ----------
    value_id
        int32[N]: their values today. Read only of people who are admitted.
    published
        int64[V]: the tuples of each value in the last release that had any.
    ranks
        uint64[N]: a secret order. People of whom the same is known are asked in this order.
    """
    # The number of values that are new must not matter, because people held back may have them.
    total = published.sum()
    shares = (published + 1) / (total + 1) if total else np.zeros(len(published))
    slack = looseness(accounts, shares)
    new = accounts.account < 0
    order = np.lexsort((ranks, -slack, ~new))
    group = max(SMALL_TABLE, PORTION * len(order))
    with np.errstate(divide="ignore"):
        factor = 1 + NOISE / np.sqrt(shares * group)
    return admit(
        order,
        int(new.sum()),
        len(order) // 2,
        accounts,
        value_id,
        WEIGHT * published / max(total, 1),
        np.minimum(factor, 1e9),
        PASSES,
    )


def looseness(accounts: Accounts, shares: Floats) -> Floats:
    """float64[N]: how many times the `shares` of a table could be larger for each person.

    Infinite without shares (float64[V], one for each value).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        times = np.where(shares > 0, 1 / shares, np.inf)[accounts.link_value] * accounts.link_share
        times[np.isnan(times)] = np.inf  # nothing is left for a value that nobody has
        slack: Floats = accounts.largest / shares.max(initial=0)
    linked = np.flatnonzero(accounts.last > accounts.first)
    if len(linked):
        # Links of different people are side by side, but those of people who are absent lie in between.
        bounds = np.column_stack([accounts.first[linked], accounts.last[linked]]).ravel()
        by_first = np.argsort(accounts.first[linked])
        bounds = bounds.reshape(-1, 2)[by_first].ravel()
        least = np.minimum.reduceat(np.append(times, np.inf), bounds)[::2]
        slack[linked[by_first]] = np.minimum(slack[linked[by_first]], least)
    return slack
