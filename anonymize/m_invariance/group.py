"""QI groups of balanced buckets: the paper's split, then exchanges between groups.

Neighbouring groups exchange people, which shortens intervals, and counterfeits are spread over all groups.

Xiao and Tao, m-Invariance, SIGMOD 2007, section 4.3; the exchanges are ours.
"""

from __future__ import annotations

import numpy as np

from republish.anonymize.arrays import Bools, Floats, Ints, Words
from republish.anonymize.kernels.balance_counterfeits import balance_counterfeits
from republish.anonymize.kernels.polish import polish_bucket
from republish.anonymize.kernels.split import EMPTY, split_bucket
from republish.anonymize.kernels.splitmix import STEP, mixed
from republish.anonymize.threads import side_by_side

PASSES = {"fast": 0, "best": 2}
"""How often every value's people are dealt anew to neighbouring groups, by effort. A third pass gains 1 %."""


def group_people(
    bucket: Ints,
    value: Ints,
    codes: Floats,
    ranks: Words,
    effort: str,
    seeds: Words,
    counterfeit: Bools | None = None,
) -> np.ndarray:
    """Divide buckets into QI groups: one tuple per value of its bucket's signature in each group, int64[N].

    Groups are numbered bucket by bucket, and not yet fit for publication. Buckets are independent of one
    another and are grouped side by side.

    Parameters
    ----------
    bucket, value
        int[N]: each tuple's bucket and sensitive value. Every bucket is balanced.
    codes
        float64[N, d]: quasi-identifiers normalised to [0, 1]; `EMPTY` where a tuple fits anywhere.
    ranks
        uint64[N]: a secret order of the tuples, which decides between tuples that are alike.
    effort
        `fast`: the split alone; `best`: exchanges too.
    seeds
        uint64[B]: a secret number for each bucket, for the exchanges.
    counterfeit
        bool[N]: which tuples are counterfeits, if any are: each group of a bucket gets its share of them.

    Notes
    -----
    Within a bucket every value is carried by equally many tuples, and all values are treated alike. Exchange
    two values throughout the bucket, and each grouping is as likely as before: groups do not
    show which of their values a person has. The same tuples, ranks and seed give the same groups.
    """
    if not len(bucket):
        return np.empty(0, np.int64)
    rows = np.lexsort((ranks, value, bucket))
    starts = np.flatnonzero(np.diff(bucket[rows], prepend=-1))
    stops = np.append(starts[1:], len(rows))
    changes = np.diff(value[rows], prepend=-1) != 0
    changes[starts] = True
    sizes = np.add.reduceat(changes.astype(np.int64), starts)
    lengths = (stops - starts) // sizes
    carriers = np.diff(np.append(np.flatnonzero(changes), len(rows)))
    assert (carriers == np.repeat(lengths, sizes)).all(), "a bucket holds each of its values equally often"

    ordered = np.ascontiguousarray(codes[rows])
    forged = np.zeros(len(rows), bool) if counterfeit is None else counterfeit[rows]
    within = np.empty(len(rows), np.int32)
    seed = seeds[bucket[rows[starts]]]

    def group_one(which: int) -> None:
        part = slice(starts[which], stops[which])
        split_bucket(ordered[part], sizes[which], within[part])
        polish_bucket(ordered[part], sizes[which], within[part], PASSES[effort], seed[which])
        if forged[part].any():
            # Of two exchanges that are equally good, the one of the list that comes first is made.
            steps: Words = np.arange(sizes[which], dtype=np.uint64) * STEP
            lists = np.argsort(mixed(mixed(seed[[which]]) + steps))
            mixed_up = np.arange(starts[which], stops[which]).reshape(sizes[which], -1)[lists].ravel()
            groups = within[mixed_up]
            balance_counterfeits(ordered[mixed_up], sizes[which], groups, forged[mixed_up])
            within[mixed_up] = groups

    side_by_side(group_one, np.argsort(starts - stops, kind="stable"))

    group = np.empty(len(rows), np.int64)
    group[rows] = within + np.repeat(np.cumsum(lengths) - lengths, stops - starts)
    return group


__all__ = ["EMPTY", "group_people"]
