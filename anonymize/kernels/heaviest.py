"""The few edges of a bipartite graph that a heaviest matching of so many edges needs."""

import numpy as np

from republish.anonymize.arrays import Bools, Ints
from republish.anonymize.kernels.compiled import compiled


@compiled()
def heaviest_edges(order: Ints, part: Ints, people: Ints, groups: int, required: Bools, size: int) -> Ints:
    """Edges among which there is a heaviest matching of k edges, if there is a matching of k edges at all.

    From the heaviest edge on, an edge is kept unless one of its ends has k edges already: of these, one has
    its other end free of the k - 1 other edges of a matching, and is no lighter. It ends at 2 k (k - 1) + 1
    edges: the 2 (k - 1) ends of the others meet at most 2 k (k - 1) of them.

    Parameters
    ----------
    order
        int64[V]: the edges by their weight, the heaviest first, where both have as many required ends.
    part, people
        int64[V, 2], int64[V]: of each edge. Edges of fewer people than groups are left out.
    required
        bool[D]: ends of which an edge is heavier than any without; one with two of them is heavier still.
    size
        k.
    """
    most = 2 * size * (size - 1) + 1
    kept, number = np.empty(most, np.int64), 0
    degree = np.zeros(len(required), np.int64)
    for ends in (2, 1, 0):
        for v in order:
            if number == most:
                return kept
            first, second = part[v, 0], part[v, 1]
            if people[v] < groups or int(required[first]) + int(required[second]) != ends:
                continue
            if degree[first] < size and degree[second] < size:
                degree[first] += 1
                degree[second] += 1
                kept[number] = v
                number += 1
    return kept[:number]
