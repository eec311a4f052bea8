"""Groups of changed people alone, for a value that first appears with them.

Counterfeits only have values that somebody has. So where a value that is not declared first appears in groups
with counterfeits, readers know that one of the few people there has it. In a group without counterfeits they
know no more than of any other value: exchanging two people's values leaves a table that fits as well.
"""

from __future__ import annotations

import numpy as np

from republish.anonymize.arrays import Ints
from republish.anonymize.buckets.counts import Counts

ATTEMPTS = 20
"""Orders of people that are tried before a release is refused."""
OPEN = 50
"""Groups that wait for further people at a time."""


def groups_of_changed(counts: Counts, m: int, rng: np.random.Generator) -> list[Ints]:
    """Groups of m classes of changed people, one person of each: for each value that readers don't know, one.

    All changed people are grouped with each other, whatever they have, in a random order, and groups without
    such a value are dissolved. So who is in a group hardly depends on who of them has the value: only as far
    as some people could have been with more others. There is no group if one of these values is left over.
    """
    wanted = set(counts.separated_value[counts.separated > 0].tolist()) & set(np.flatnonzero(counts.unknown))
    if not wanted:
        return []
    classes = np.repeat(np.arange(len(counts.separated)), counts.separated)
    for _ in range(ATTEMPTS):
        groups = _grouped(rng.permutation(classes), counts, m)
        found = [one for one in groups if not wanted.isdisjoint(counts.separated_value[one].tolist())]
        if wanted <= {value for one in found for value in counts.separated_value[one].tolist()}:
            return found
    return []


def _grouped(classes: Ints, counts: Counts, m: int) -> list[Ints]:
    """Put everybody into the first group with room whose values are no earlier ones, and theirs likewise."""
    full = list[Ints]()
    members, size = np.zeros((OPEN, m), np.int64), np.zeros(OPEN, np.int64)
    filled = np.arange(m) < size[:, None]
    for one in classes:
        value, forbidden = counts.separated_value[one], counts.forbidden[one]
        values = counts.separated_value[members]
        meets = (values == value) | forbidden[values] | counts.forbidden[members, value]
        fits = np.flatnonzero(~(meets & filled).any(axis=1))
        if not fits.size:
            continue
        group = fits[np.argmax(size[fits] > 0)]
        members[group, size[group]] = one
        size[group] += 1
        if size[group] == m:
            full.append(members[group].copy())
            size[group] = 0
        filled[group] = np.arange(m) < size[group]
    return full
