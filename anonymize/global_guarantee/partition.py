"""Groups: the table is cut in two, and again, as long as everybody's limits hold in both parts.

First by how much people admit, then by quasi-identifiers (kernel `partition`). A person who admits little
needs a group that is nearly as even as the table, which is a large one; everybody else in it would be in a
large one too. How much somebody admits follows from the published past.

Wong, Fu, Liu, Wang and Xu, Preserving individual privacy in serial data publishing, sections 5.2 and 6.
"""

from __future__ import annotations

import numpy as np

from republish.anonymize.arrays import Floats, Ints
from republish.anonymize.global_guarantee.admission import looseness
from republish.anonymize.kernels import partition as kernel
from republish.anonymize.kernels.accounts import Accounts
from republish.anonymize.kernels.read_only import read_only
from republish.anonymize.threads import side_by_side

LEVELS = 64
"""Into so many levels of looseness people are sorted at most."""
GAIN = 2.0
"""People are set apart who have less than half of the margin of the person in the middle: they need four
times the group."""


def partition(
    accounts: Accounts, value_id: Ints, codes: Floats, narrowest: Floats, values: int
) -> np.ndarray:
    """Divide people who together make a group that holds into groups 0, 1, …, not yet fit for publication.

    Quasi-identifiers (float64[N, d]) and minimum widths (float64[d]) are shares of their domains; each of N
    people has one of so many `values`.
    """
    people = len(value_id)
    if not people:
        return np.empty(0, np.int64)
    stratum = set_apart(accounts, value_id, values)
    order = np.stack([np.lexsort((column, stratum)) for column in codes.T]).astype(np.int32)
    group = np.empty(people, np.int32)
    table = kernel.Table(read_only(codes), narrowest, accounts, value_id, values)
    bounds = np.searchsorted(stratum[order[0]], np.arange(stratum.max() + 2))

    def split(start: int, stop: int) -> None:
        kernel.partition(table, start, stop, order, group)

    side_by_side(split, bounds[:-1], bounds[1:])
    return np.unique(group, return_inverse=True)[1].astype(np.int64)


def set_apart(accounts: Accounts, value_id: np.ndarray, values: int) -> Ints:
    """int64[N]: strata 0, 1, … of people who admit alike much, each of which holds as one group."""
    shares = np.bincount(value_id, minlength=values) / len(value_id)
    slack = looseness(accounts, shares)
    levels = np.unique(np.quantile(slack, np.linspace(0, 1, LEVELS + 1)[1:-1], method="nearest"))
    # The tightest people are in the last level; people with the same looseness are in the same.
    level = len(levels) - np.searchsorted(levels, slack, side="right")
    counts, least = kernel.read_levels(level, len(levels) + 1, accounts, value_id, values)
    margin = np.full(len(levels) + 1, np.inf)
    np.minimum.at(margin, level, slack - 1)
    ends = _ends(counts, least, margin)
    return np.searchsorted(ends, level, side="right")


def _ends(counts: np.ndarray, least: np.ndarray, margin: np.ndarray) -> np.ndarray:
    """The levels that strata end before: the tightest stratum that holds is cut off, and so on."""
    people = counts.sum(axis=1)
    stop, ends = len(counts), []
    while stop > 1:
        middle = np.searchsorted(np.cumsum(people[:stop]), people[:stop].sum() / 2)
        for cut in range(stop - 1, 0, -1):
            is_gain = margin[middle] > GAIN * margin[:stop].min() and margin[:cut].min() > margin[:stop].min()
            if is_gain and _holds(counts[:cut], least[:cut]) and _holds(counts[cut:stop], least[cut:stop]):
                ends.append(cut)
                stop = cut
                break
        else:
            break
    return np.array(ends[::-1], np.int64)


def _holds(counts: np.ndarray, least: np.ndarray) -> bool:
    """Whether some levels together make a group that holds."""
    tuples = counts.sum(axis=0)
    limits = least.min(axis=0)
    return bool((tuples <= np.minimum(limits[:-1], limits[-1]) * tuples.sum()).all())
