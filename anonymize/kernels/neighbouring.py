"""Choose signatures of combinations whose people are neighbours."""

import numpy as np

from republish.anonymize.arrays import Bools, Ints, Words
from republish.anonymize.kernels.compiled import compiled, int64, uint64
from republish.anonymize.kernels.splitmix import STEP, mixed_number

FREQUENT = 0.9
"""The share of 1/m from which groups without a value are few."""


@compiled()
def neighbouring_signatures(
    left: Ints, part: Ints, size: int, least: int, considered: int, seed: int
) -> tuple[Ints, Ints, Ints, Ints]:
    """Choose one signature after another, and the people of its groups; whoever is left is m-eligible.

    Combinations come in the order of how many people have them. The first that has not been in a signature
    looks for partners among the next ones of which the same is true: each is the one that meets it most,
    together with the partners so far. A meeting is a person of each who live in one node of the tree of
    cells, and counts once for each node in which the people live. There are as many groups as the scarcest
    of the combinations has people, or as leave the others m-eligible. Their people come from single leaves as
    far as equally many live there, then from nodes of two leaves, and so on, where lots choose.

    Parameters
    ----------
    left
        int64[V, R]: people by combination and leaf, without those of the groups afterwards. R is a power of
        two.
    part
        int64[V, C]: values of each column, numbered throughout. Combinations of a signature share none.
    size
        m, the combinations of a signature.
    least
        People that the first combination of a signature has, at least.
    considered
        Partners that are looked at, at most.
    seed
        What lots follow from.

    Returns
    -------
    tuple[int64[B, m], int64[N], int64[N], int64[N]]
        Signatures, and of everybody in a group the signature, the combination and the leaf.
    """
    combinations = len(left)
    people = np.zeros(combinations, np.int64)
    for v in range(combinations):
        people[v] = left[v].sum()
    everybody = int(people.sum())
    by_part = np.zeros(part.max() + 1, np.int64)
    for v in range(combinations):
        for value in part[v]:
            by_part[value] += people[v]
    signatures = np.empty((combinations, size), np.int64)
    row, combination, leaf = np.empty((3, everybody), np.int64)
    found = taken = 0
    order = np.argsort(-people, kind="mergesort")
    used = people == 0
    signature, state = np.empty(size, np.int64), np.full(1, seed, np.uint64)
    for at in range(combinations):
        if people[order[at]] < least:
            break
        if used[order[at]]:
            continue
        signature[0] = order[at]
        frequent = by_part * size > FREQUENT * (everybody - taken)
        if not _find_partners(order[at:], left, part, used, frequent, signature, considered):
            continue
        groups = min(people[signature].min(), _room(everybody - taken, by_part, part, signature))
        if groups < 1:
            continue
        used[signature] = True
        _take(left, signature, groups, state, combination[taken:], leaf[taken:])
        row[taken : taken + groups * size] = found
        signatures[found] = signature
        people[signature] -= groups
        for chosen in signature:
            by_part[part[chosen]] -= groups
        taken += groups * size
        found += 1
    return signatures[:found], row[:taken], combination[:taken], leaf[:taken]


@compiled()
def _find_partners(
    order: Ints, left: Ints, part: Ints, used: Bools, frequent: Bools, signature: Ints, considered: int
) -> bool:
    """Write the partners of a signature's first combination, the first of an order; False if there are few.

    Combinations with one of the `frequent` values, bool[D], come first, until the signature has all of them.
    """
    least, other = _tree(left[signature[0]]), np.zeros(0, np.int64)
    lacking = frequent.copy()
    lacking[part[signature[0]]] = False
    for i in range(1, len(signature)):
        most, looked_at, needs = -1, 0, lacking.any()
        for w in order:
            if used[w] or (needs and not lacking[part[w]].any()) or not _differs(part, signature[:i], w):
                continue
            met = np.minimum(least, _tree(left[w]))
            if met.sum() > most:
                most, signature[i], other = met.sum(), w, met
            looked_at += 1
            if looked_at == considered:
                break
        if most < 0:
            return False
        least = other
        lacking[part[signature[i]]] = False
    return True


@compiled()
def _tree(leaves: Ints) -> Ints:
    """int64[2 R]: people by node: node 1 is the root, and the halves of node n are 2 n and 2 n + 1."""
    number = len(leaves)
    nodes = np.empty(2 * number, np.int64)
    nodes[0], nodes[number:] = 0, leaves
    for node in range(number - 1, 0, -1):
        nodes[node] = nodes[2 * node] + nodes[2 * node + 1]
    return nodes


@compiled()
def _differs(part: Ints, signature: Ints, w: int) -> bool:
    for v in signature:
        for column in range(part.shape[1]):
            if part[v, column] == part[w, column]:
                return False
    return True


@compiled()
def _room(everybody: int, by_part: Ints, part: Ints, signature: Ints) -> int:
    """The most groups that leave the others m-eligible, if they are: every value outside limits them."""
    outside = by_part.copy()
    for v in signature:
        outside[part[v]] = 0
    return everybody // len(signature) - int(outside.max())


@compiled()
def _take(left: Ints, signature: Ints, groups: int, state: Words, combination: Ints, leaf: Ints) -> None:
    """Take the people of so many groups of a signature, and write which combination and leaf is theirs."""
    taken, width = 0, 1
    while groups:
        nodes = left.shape[1] // width
        begin = _lot(state, nodes)
        for step in range(nodes):
            node = (begin + step) % nodes * width
            here = groups
            for v in signature:
                here = min(here, left[v, node : node + width].sum())
            groups -= here
            for _ in range(here):
                for v in signature:
                    lot, at = _lot(state, left[v, node : node + width].sum()), node
                    while lot >= left[v, at]:
                        lot -= left[v, at]
                        at += 1
                    left[v, at] -= 1
                    combination[taken], leaf[taken] = v, at
                    taken += 1
        width *= 2


@compiled()
def _lot(state: Words, number: int) -> int:
    """One of so many numbers, from 0 on."""
    state[0] += STEP
    return int64(mixed_number(state[0]) % uint64(number))
