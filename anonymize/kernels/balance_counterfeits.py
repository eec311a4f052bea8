"""Spread counterfeits over the groups of one balanced bucket: none has more of them than it must."""

import numpy as np

from republish.anonymize.arrays import Bools, Floats, Ints
from republish.anonymize.kernels.compiled import compiled


@compiled()
def balance_counterfeits(values: Floats, size: int, group: Ints, forged: Bools) -> None:
    """Exchange counterfeits with people, in place, until no group has more than its share, rounded up.

    A group with too many gives one of them to a group with fewer, and gets the person of the same value in
    return: of all such people the nearest, so that the group's interval grows least. A group with more
    counterfeits than another has one where the other has a person, so there is always such an exchange. Which
    value is which is not looked at. Counterfeits have the quasi-identifiers of the people that they look
    like; tuples are listed as those of `split_bucket`, and each group has one of every list.
    """
    tuples, attributes = values.shape
    length = tuples // size
    member = np.empty((size, length), np.int32)
    has = np.zeros(length, np.int64)
    for row in range(tuples):
        member[row // length, group[row]] = row
        has[group[row]] += forged[row]
    most = -(-has.sum() // length)
    low, high = np.empty(attributes), np.empty(attributes)
    for g in range(length):
        while has[g] > most:
            low[:], high[:] = np.inf, -np.inf
            for j in range(size):
                if not forged[member[j, g]] or has[g] == size:
                    for c in range(attributes):
                        if values[member[j, g], c] >= 0:
                            low[c] = min(low[c], values[member[j, g], c])
                            high[c] = max(high[c], values[member[j, g], c])
            nearest, gives, where = np.inf, -1, -1
            for j in range(size):
                if not forged[member[j, g]]:
                    continue
                for h in range(length):
                    row = member[j, h]
                    if has[h] >= most or forged[row]:
                        continue
                    grows = 0.0
                    for c in range(attributes):
                        if values[row, c] >= 0 and low[c] <= high[c]:
                            grows += max(low[c] - values[row, c], values[row, c] - high[c], 0.0)
                    if grows < nearest:
                        nearest, gives, where = grows, j, h
            member[gives, g], member[gives, where] = member[gives, where], member[gives, g]
            has[g] -= 1
            has[where] += 1
    for j in range(size):
        for g in range(length):
            group[member[j, g]] = g
