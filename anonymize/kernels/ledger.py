"""Post what a release spent to the accounts of the people it hosts: a merge of sorted lists per person."""

import numpy as np

from republish.anonymize.arrays import Floats, Ints
from republish.anonymize.kernels.compiled import compiled


@compiled()
def post(
    first: Ints,
    value: Ints,
    spent: Floats,
    group: Ints,
    group_first: Ints,
    group_value: Ints,
    group_spends: Floats,
) -> tuple[Ints, Ints, Floats]:
    """Write the links of everybody after a release: to what was there, a link to each value of their group.

    Parameters
    ----------
    first
        int64[P + 1]: the links of person i before the release are `first[i] : first[i + 1]`.
    value, spent
        int32[L], float64[L]: the value of each link, ascending for each person, and what is spent on it.
    group
        int64[P]: the group that hosts each person in this release, or -1.
    group_first
        int64[G + 1]: the values of group g are `group_first[g] : group_first[g + 1]`.
    group_value, group_spends
        int32[K], float64[K]: the values of each group, ascending, and what the group spends on them.
    """
    people = len(group)
    after_first = np.zeros(people + 1, np.int64)
    for p in range(people):
        size = first[p + 1] - first[p]
        if group[p] >= 0:
            size = 0
            i, j = first[p], group_first[group[p]]
            while i < first[p + 1] and j < group_first[group[p] + 1]:
                size += 1
                one, other = value[i], group_value[j]
                i += one <= other
                j += other <= one
            size += first[p + 1] - i + group_first[group[p] + 1] - j
        after_first[p + 1] = size
    after_first = np.cumsum(after_first)
    after_value = np.empty(after_first[-1], np.int32)
    after_spent = np.empty(after_first[-1], np.float64)
    for p in range(people):
        at = after_first[p]
        i, j, end = first[p], np.int64(0), np.int64(0)
        if group[p] >= 0:
            j, end = group_first[group[p]], group_first[group[p] + 1]
        while i < first[p + 1] or j < end:
            mine = i < first[p + 1] and (j == end or value[i] <= group_value[j])
            theirs = j < end and (i == first[p + 1] or group_value[j] <= value[i])
            after_value[at] = value[i] if mine else group_value[j]
            after_spent[at] = 0.0
            if mine:
                after_spent[at] += spent[i]
                i += 1
            if theirs:
                after_spent[at] += group_spends[j]
                j += 1
            at += 1
    return after_first, after_value, after_spent


@compiled()
def fewest_releases(first: Ints, value: Ints, spent: Floats, promise: Ints, limits: Floats) -> Ints:
    """int64[P]: for how many more releases every link of each person suffices; links as those of `post`.

    Each person has a budget, the promise. Of each budget, limits (float64[budgets, V, H], descending) are the
    most that may be spent on each value for 1, 2, … H more releases.
    """
    left = np.empty(len(promise), np.int64)
    for p in range(len(promise)):
        releases = limits.shape[2]
        for i in range(first[p], first[p + 1]):
            while releases > 0 and spent[i] > limits[promise[p], value[i], releases - 1]:
                releases -= 1
        left[p] = releases
    return left
