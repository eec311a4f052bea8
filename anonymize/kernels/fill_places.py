"""Fill the free places of groups with the people nearest to them."""

import numpy as np

from republish.anonymize.arrays import Floats, Ints
from republish.anonymize.kernels.compiled import compiled


@compiled()
def fill_places(people: Floats, places: Floats) -> Ints:
    """Choose one of N people for each of K <= N places, int64[K]: nobody has two.

    `people`, float64[N, d], and `places`, float64[K, d], are halved at the middle of the places, along the
    attribute on which these are widest, until one place is left: the nearest of its people comes there, the
    first of several. Each half has at least as many people as places.
    """
    chosen = np.empty(len(places), np.int64)
    person, place = np.arange(len(people)), np.arange(len(places))
    stack = [(0, len(people), 0, len(places))]
    while stack:
        begin, end, first, last = stack.pop()
        if first == last:
            continue
        if last - first == 1:
            chosen[place[first]] = _nearest(people, person[begin:end], places[place[first]])
            continue
        widest, length = 0, -1.0
        for a in range(places.shape[1]):
            along = places[place[first:last], a]
            if along.max() - along.min() > length:
                widest, length = a, along.max() - along.min()
        along = places[place[first:last], widest]
        order = np.argsort(along, kind="mergesort")
        place[first:last] = place[first:last][order]
        middle = (first + last) // 2
        border = 0.5 * (along[order[middle - first - 1]] + along[order[middle - first]])
        lives = people[person[begin:end], widest]
        order = np.argsort(lives, kind="mergesort")
        person[begin:end] = person[begin:end][order]
        cut = begin + int(np.searchsorted(lives[order], border))
        cut = max(begin + middle - first, min(cut, end - (last - middle)))
        stack.append((begin, cut, first, middle))
        stack.append((cut, end, middle, last))
    return chosen


@compiled()
def _nearest(people: Floats, rows: Ints, place: Floats) -> int:
    """The first of some people who is nearest to a place."""
    nearest, least = -1, np.inf
    for row in rows:
        far = 0.0
        for a in range(len(place)):
            far += abs(people[row, a] - place[a])
        if far < least:
            nearest, least = row, far
    return nearest
