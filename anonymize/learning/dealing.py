"""Dealing the tuples of a group to its people: how likely each tuple is each person's."""

from __future__ import annotations

import numpy as np

from republish.anonymize.arrays import Floats

MOST_DEALT = 11
"""Tuples of a group whose dealings are counted exactly: each one more doubles what it takes."""
AT_ONCE = 2**22
"""Numbers that are held for the groups that are looked at together."""


def dealt(weight: Floats) -> Floats:
    """Count the dealings of each group's tuples to its people where a person has a tuple, float64[G, K, n].

    A dealing gives each of K people one of n tuples, no tuple twice, and weighs the product of its `weight`
    (float64[G, K, n], K at most n, n at most `MOST_DEALT`): of person and tuple. What is returned of a person
    and a tuple is the weight of all ways of dealing the *other* tuples to the *other* people: what the group
    says of the person, whatever was known of them before. Who has the tuples that none of these people has, a
    counterfeit or somebody who isn't known, is no matter.

    The largest number of each group is 1: only what they are to each other is a result.
    """
    groups, people, tuples = weight.shape
    step = max(1, AT_ONCE // 2**tuples)
    parts = [_dealt(weight[begin : begin + step]) for begin in range(0, groups, step)]
    return np.concatenate(parts) if parts else np.empty((0, people, tuples))


def _dealt(weight: Floats) -> Floats:
    """By dynamic programming over the sets of tuples that the first people have."""
    _, people, tuples = weight.shape
    scaled = weight / np.maximum(weight.max(axis=2, keepdims=True), 1e-300)
    by_pair = np.ascontiguousarray(scaled.transpose(1, 2, 0))
    sets = sorted(range(2**tuples), key=int.bit_count)
    # `before`: ways to deal a set to the first people; `after`: to deal what is not in it to the others.
    before, after = np.zeros((2, 2**tuples, len(weight)))
    before[0] = 1
    others = [(some, some.bit_count(), one) for some in sets for one in range(tuples) if not some >> one & 1]
    for some, person, one in others:
        if person < people:
            before[some | 1 << one] += before[some] * by_pair[person, one]
    for some in sets:
        if some.bit_count() == people:
            after[some] = 1
    found = np.zeros_like(by_pair)
    for some, person, one in reversed(others):
        if person < people:
            more = after[some | 1 << one]
            after[some] += more * by_pair[person, one]
            found[person, one] += before[some] * more
    found /= np.maximum(found.max(axis=(0, 1)), 1e-300)
    return np.ascontiguousarray(found.transpose(2, 0, 1))
