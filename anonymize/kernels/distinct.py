"""Search for combinations that differ in every column."""

import numpy as np

from republish.anonymize.arrays import Bools, Ints
from republish.anonymize.kernels.compiled import compiled


@compiled()
def distinct_combinations(
    part: Ints, people: Ints, groups: int, required: Bools, size: int, tries: int
) -> Ints:
    """Find so many combinations that differ in every column and have all values required, or none.

    Depth first. The required value that the fewest combinations can bring comes first, and of those that
    bring it the most frequent combination. Once all are there, the most frequent combinations follow. The
    search gives up after so many tries. Combinations of fewer people (int64[V]) than groups are left out;
    their values (int64[V, C]) are numbered throughout all columns, as those that are required (bool[D]) are.
    """
    order = np.argsort(-people, kind="mergesort")
    columns = part.shape[1]
    used = np.zeros(len(required), np.bool_)
    chosen = np.full(size, -1, np.int64)
    wanted = np.full(size, -1, np.int64)  # the required value that each was chosen for
    following = np.zeros(size, np.int64)
    carriers = np.zeros(len(required), np.int64)
    depth, tried, entering = 0, 0, True
    while True:
        if entering:
            carriers[:] = 0
            for v in order:
                if people[v] >= groups and not _meets(part, v, used):
                    for c in range(columns):
                        carriers[part[v, c]] += 1
            wanted[depth] = -1
            for d in range(len(required)):
                if (
                    required[d]
                    and not used[d]
                    and (wanted[depth] < 0 or carriers[d] < carriers[wanted[depth]])
                ):
                    wanted[depth] = d
            following[depth] = 0
            if wanted[depth] < 0 and depth > 0 and wanted[depth - 1] < 0:
                following[depth] = following[depth - 1]
        entering = False
        taken = -1
        for i in range(following[depth], len(order)):
            v = order[i]
            if people[v] < groups:
                break
            if _meets(part, v, used):
                continue
            if wanted[depth] >= 0:
                brings = False
                for c in range(columns):
                    brings |= part[v, c] == wanted[depth]
                if not brings:
                    continue
            taken = v
            following[depth] = i + 1
            break
        if taken >= 0:
            tried += 1
            chosen[depth] = taken
            for c in range(columns):
                used[part[taken, c]] = True
            if depth == size - 1:
                complete = True
                for d in range(len(required)):
                    complete &= used[d] or not required[d]
                if complete:
                    return chosen
                for c in range(columns):
                    used[part[taken, c]] = False
            else:
                depth += 1
                entering = True
        elif depth == 0:
            break
        else:
            depth -= 1
            for c in range(columns):
                used[part[chosen[depth], c]] = False
        if tried >= tries:
            break
    return np.empty(0, np.int64)


@compiled(inline="always")
def _meets(part: Ints, v: int, used: Bools) -> bool:
    """Whether a combination has a value that is used."""
    meets = False
    for c in range(part.shape[1]):
        meets |= used[part[v, c]]
    return meets
