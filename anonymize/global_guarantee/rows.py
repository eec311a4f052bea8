"""Several rows of a person: each is an entry of the ledger, and no two of them are in one group.

The rows are dealt to *layers*, of which each has a person once at most, and each layer is admitted and cut
as a table of its own. What a release may spend of a person's budget is divided by the number of their rows.

**Proof.** All tables that fit are equally likely, and one fits if each group's rows have its values in any
order. So the orders of two groups are independent of one another, whether they are of one release or of two.
A person's rows are in different groups, so the probability that none of them has a value is the product of 1
- share over all of their rows in all releases (Lemma 4.2, of entries in place of releases). In one release, a
person's n rows spend a strategy's allowance at most, an n-th of it each, and the allowances of all releases
add up to the budget at most. ∎ Two rows in one group would be dealt its values without replacement, and
their probabilities would be above the product.

**What being left out says.** Who is left out and in which layer a row is follows from the number of rows of
each person, which the adversary knows, and from a keyed hash of the names of rows, which are not made from
values (`row` is required). In each layer, the proof of `admission` holds as it is: nothing that one layer
decides depends on another, but that all wait if one does not hold.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from republish.anonymize.arrays import Ints, Words

LEFT_OUT = -1
"""In place of a layer."""


def deal(persons: pl.Series, ranks: Words, most: int) -> tuple[Ints, Ints]:
    """Deal rows to as few layers as can be, all of the same size or one more.

    Parameters
    ----------
    persons
        The person of each of N rows; those of a person follow one another.
    ranks
        uint64[N]: a secret order. Where somebody has more rows than `most`, the first of them are dealt.

    Returns
    -------
    int64[N], int64[N]
        The layer of each row, or `LEFT_OUT`, and how many rows its person has in layers.

    Examples
    --------
    >>> layer, rows = deal(pl.Series(["a", "a", "a", "b"]), np.array([3, 1, 2, 4], np.uint64), 2)
    >>> layer.tolist(), rows.tolist()
    ([-1, 0, 1, 0], [2, 2, 2, 1])
    """
    person = persons.rle_id().to_numpy().astype(np.int64)
    has = np.minimum(np.bincount(person), most)
    by_lot = np.lexsort((ranks, person))
    first = np.searchsorted(person, np.arange(len(has)))
    turn = np.empty(len(person), np.int64)
    turn[by_lot] = np.arange(len(person)) - first[person]
    drawn = np.argsort(ranks[by_lot[first]], kind="stable")
    start = np.empty(len(has), np.int64)
    start[drawn] = np.cumsum(has[drawn]) - has[drawn]
    layer = (start[person] + turn) % has.max(initial=1)
    return np.where(turn < most, layer, LEFT_OUT), has[person]
