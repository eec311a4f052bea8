"""Choose signatures that take as many people as possible where they live."""

import numpy as np

from republish.anonymize.arrays import Bools, Ints
from republish.anonymize.kernels.compiled import compiled


@compiled()
def best_signature(counts: Ints, m: int, starts: Ints, candidates: Ints) -> tuple[Ints, Ints]:
    """Find the signature of m values with the most groups, by local search; and its groups in every region.

    A signature can take, in a region, as many groups as its scarcest value has people there, and no more than
    leave the region's others m-eligible; together no more than leave all others m-eligible.

    Parameters
    ----------
    counts
        int64[R + 1, V]: people by region and value, and below them all people by value.
    starts
        int64[K, m]: signatures that the search begins with; the best of them is improved.
    candidates
        int64[C]: values that may replace one of the signature.

    Returns
    -------
    tuple[int64[m], int64[R]]
        Values and groups. The groups are all 0 if no start takes any.
    """
    top, people = _most_frequent(counts, m + 1), counts.sum(axis=1)
    groups = np.zeros(len(counts) - 1, np.int64)
    best, signature = 0, starts[0].copy()
    inside = np.zeros(counts.shape[1], np.bool_)
    for k in range(len(starts)):
        found = _groups(counts, people, top, starts[k], inside, groups)
        if found > best:
            best, signature = found, starts[k].copy()
    improved = best > 0
    while improved:
        improved = False
        for i in range(m):
            before, chosen = signature[i], -1
            for w in candidates:
                taken = False
                for k in range(m):
                    taken |= signature[k] == w
                if taken:
                    continue
                signature[i] = w
                found = _groups(counts, people, top, signature, inside, groups)
                if found * 1000 > best * 1001:
                    best, chosen = found, w
            signature[i] = chosen if chosen >= 0 else before
            improved |= chosen >= 0
    _groups(counts, people, top, signature, inside, groups)
    return signature, groups


@compiled()
def _most_frequent(counts: Ints, number: int) -> Ints:
    """int64[R, number]: each region's most frequent values, descending; -1 where there are no more."""
    top = np.full((counts.shape[0], number), -1, np.int64)
    for region in range(counts.shape[0]):
        descending = np.argsort(-counts[region], kind="mergesort")[:number]
        top[region, : len(descending)] = descending
    return top


@compiled()
def _groups(counts: Ints, people: Ints, top: Ints, signature: Ints, inside: Bools, groups: Ints) -> int:
    """Write the groups a signature takes in each region; returns their number."""
    for v in signature:
        inside[v] = True
    total = 0
    for region in range(len(groups)):
        groups[region] = _room(counts[region], people[region], top[region], signature, inside)
        total += groups[region]
    most = _room(counts[-1], people[-1], top[-1], signature, inside)
    if total > most:
        total, asked = 0, total
        for region in range(len(groups)):
            groups[region] = groups[region] * most // asked
            total += groups[region]
    for v in signature:
        inside[v] = False
    return total


@compiled(inline="always")
def _room(counts: Ints, people: int, top: Ints, signature: Ints, inside: Bools) -> int:
    """Groups of a signature that some people can form such that the others are as eligible as may be."""
    least: int = counts[signature[0]]
    for v in signature:
        least = min(least, counts[v])
    outside = 0
    for v in top:
        if v >= 0 and not inside[v]:
            outside = counts[v]
            break
    size = len(signature)
    return max(min(least, (people - size * outside) // size), 0)
