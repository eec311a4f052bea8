"""People divided into halves, again and again, by where they live: a kd-tree."""

import numpy as np

from republish.anonymize.arrays import Floats, Ints
from republish.anonymize.kernels.compiled import compiled


@compiled()
def halves(places: Floats, depth: int) -> Ints:
    """The leaf of each of N people after `depth` cuts, int64[N], as `regions.cut` says.

    `places`, float64[d, N], is where they live on each attribute.
    """
    people = places.shape[1]
    leaf, rows, beyond = np.zeros(people, np.int64), np.arange(people), np.empty(people, np.int64)
    ends = np.array([0, people])
    for _ in range(depth):
        divided = np.zeros(2 * len(ends) - 1, np.int64)
        for node in range(len(ends) - 1):
            start, stop = ends[node], ends[node + 1]
            attribute, least = _cut(places, rows[start:stop])
            middle = start
            for at in range(start, stop):
                row = rows[at]
                is_beyond = places[attribute, row] >= least
                leaf[row] = 2 * leaf[row] + is_beyond
                if is_beyond:
                    beyond[at - middle] = row
                else:
                    rows[middle] = row
                    middle += 1
            rows[middle:stop] = beyond[: stop - middle]
            divided[2 * node + 1], divided[2 * node + 2] = middle, stop
        ends = divided
    return leaf


@compiled()
def _cut(places: Floats, rows: Ints) -> tuple[int, float]:
    """The widest attribute of some people, and the least place on it that is beyond its middle."""
    widest = _widest(places, rows)
    if widest < 0:
        return 0, np.inf
    along = np.empty(len(rows))
    for at in range(len(rows)):
        along[at] = places[widest, rows[at]]
    middle = np.partition(along, len(along) // 2)[len(along) // 2]
    above, from_it, following = 0, 0, np.inf
    for place in along:
        from_it += place >= middle
        if place > middle:
            above += 1
            following = min(following, place)
    nearer = abs(above / len(rows) - 0.5) <= abs(from_it / len(rows) - 0.5)
    return widest, following if (nearer and above > 0) or from_it == len(rows) else middle


@compiled()
def _widest(places: Floats, rows: Ints) -> int:
    """The attribute with the largest standard deviation, the first of several; -1 where there is none.

    Numbers are added up row by row: another order would round otherwise, and cut otherwise where two
    attributes are as wide.
    """
    widest, most = -1, 0.0
    for attribute in range(len(places)):
        total, squares = 0.0, 0.0
        for row in rows:
            total += places[attribute, row]
        mean = total / max(len(rows), 1)
        for row in rows:
            off = places[attribute, row] - mean
            squares += off * off
        deviation = np.sqrt(squares / max(len(rows), 1))
        if deviation > most:
            widest, most = attribute, deviation
    return widest
