"""The smallest cut between two nodes of each of many small graphs."""

import numpy as np

from anonymize.arrays import Ints
from anonymize.kernels.compiled import compiled


@compiled()
def min_cuts(
    starts: Ints, sizes: Ints, first: Ints, second: Ints, weight: Ints, source: Ints, sink: Ints, cuts: Ints
) -> None:
    """Write the weight of the smallest cut between two nodes of each of B graphs into `cuts`.

    A largest flow is as large as a smallest cut (Ford and Fulkerson 1956); it is found along shortest
    augmenting paths (Edmonds and Karp 1972) in a dense matrix, which for graphs of some tens of nodes is
    faster than any list of neighbours.

    Parameters
    ----------
    starts
        int64[B + 1]: the edges of graph b are starts[b] … starts[b + 1] - 1. Parallel ones add up.
    sizes
        int64[B]: nodes of each graph, numbered 0 … sizes[b] - 1.
    first, second
        int64[E]: the nodes an undirected edge joins.
    weight
        int64[E]: not negative.
    source, sink
        int64[B]: the two nodes; different ones.
    cuts
        int64[B]: the result.
    """
    largest = 0
    for b in range(len(sizes)):
        largest = max(largest, sizes[b])
    room = np.zeros((largest, largest), np.int64)
    before = np.empty(largest, np.int64)
    queue = np.empty(largest, np.int64)
    for b in range(len(sizes)):
        n, s, t = sizes[b], source[b], sink[b]
        room[:n, :n] = 0
        for edge in range(starts[b], starts[b + 1]):
            u, v = first[edge], second[edge]
            room[u, v] += weight[edge]
            room[v, u] += weight[edge]
        flow = 0
        while _find_path(room, n, s, t, before, queue):
            path = room[before[t], t]
            v = t
            while v != s:
                path = min(path, room[before[v], v])
                v = before[v]
            v = t
            while v != s:
                room[before[v], v] -= path
                room[v, before[v]] += path
                v = before[v]
            flow += path
        cuts[b] = flow


@compiled()
def _find_path(room: Ints, n: int, s: int, t: int, before: Ints, queue: Ints) -> bool:
    """Whether there is room from s to t; `before` then holds the nodes of a shortest such path."""
    before[:n] = -1
    before[s] = s
    queue[0] = s
    at, end = 0, 1
    while at < end:
        u = queue[at]
        at += 1
        for v in range(n):
            if before[v] < 0 and room[u, v] > 0:
                before[v] = u
                if v == t:
                    return True
                queue[end] = v
                end += 1
    return False
