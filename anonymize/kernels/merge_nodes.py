"""Merge the nodes of one bucket graph that no later cut has to tell apart."""

import numpy as np

from republish.anonymize.arrays import Bools, Ints
from republish.anonymize.kernels.compiled import compiled

DROPPED = -1


@compiled()
def merge_nodes(weight: Ints, alive: Bools, old: Bools, enough: int, most: int, into: Ints) -> None:
    """Write the node that each node is merged into (its own number, or `DROPPED`) into `into`.

    Why each step is allowed is shown in `anonymize.e_equivalence.forget`.

    Parameters
    ----------
    weight
        int64[N, N]: edges between the nodes, symmetric; changed in place to those of the merged graph.
    alive
        bool[N]: nodes whose tuples are not all gone; changed in place.
    old
        bool[N]: nodes that may be merged or dropped. Nodes are numbered in order of age.
    enough
        Two nodes joined by this weight are never separated.
    most
        Nodes there may be; old ones whose tuples are all gone are dropped, the oldest first, until there
        are no more.
    """
    n = len(into)
    there = np.ones(n, np.bool_)
    for u in range(n):
        into[u] = u
    nodes = n
    changed = True
    while changed:
        changed = False
        for u in range(n):
            if not (there[u] and old[u]):
                continue
            degree, heaviest = np.int64(0), -1
            for v in range(n):
                if there[v] and v != u:
                    degree += weight[u, v]
                    if old[v] and weight[u, v] > 0 and (heaviest < 0 or weight[u, v] > weight[u, heaviest]):
                        heaviest = v
            if degree == 0 and not alive[u]:
                _replace(into, u, DROPPED)
            elif heaviest >= 0 and (
                weight[u, heaviest] >= enough or (not alive[u] and 2 * weight[u, heaviest] >= degree)
            ):
                for v in range(n):
                    if there[v] and v not in (u, heaviest):
                        weight[heaviest, v] += weight[u, v]
                        weight[v, heaviest] += weight[v, u]
                alive[heaviest] |= alive[u]
                _replace(into, u, heaviest)
            else:
                continue
            weight[u, :] = 0
            weight[:, u] = 0
            there[u] = False
            nodes -= 1
            changed = True
    for u in range(n):
        if nodes > most and there[u] and old[u] and not alive[u]:
            _replace(into, u, DROPPED)
            weight[u, :] = 0
            weight[:, u] = 0
            there[u] = False
            nodes -= 1


@compiled()
def _replace(into: Ints, u: int, v: int) -> None:
    for node in range(len(into)):
        if into[node] == u:
            into[node] = v
