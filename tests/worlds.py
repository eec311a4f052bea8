"""Every way to give people values that fits published groups, counted one by one. Nothing is of an attack."""

import itertools
from collections import Counter
from fractions import Fraction

from benchmarks.series import next_release
from republish.anonymize.principle.state import State


def released_once(made, snapshots, contract, key):
    """As `released` of the benchmarks; what series that begin alike begin with is made once, in `made`."""
    begun, state = (key,), State.empty()
    for number, (date, snapshot) in enumerate(snapshots, start=1):
        begun = (*begun, date, *snapshot.rows())
        if begun not in made:
            made[begun] = next_release(date, snapshot, contract, state, number, key)
        yield made[begun]
        state = made[begun].candidate.state


def worlds(groups):
    """All dictionaries from holders to values in which each group has each of its values once.

    `groups` are pairs: the holders of a group's rows, counterfeits left out, and the group's values. A holder
    has one value in all groups: a person, or people who are known to share one.
    """
    may = {}
    for holders, values in groups:
        for one in holders:
            may[one] = may.get(one, set(values)) & set(values)
    for dealt in itertools.product(*map(sorted, may.values())):
        world = dict(zip(may, dealt, strict=True))
        if all(len({world[one] for one in holders}) == len(holders) for holders, _ in groups):
            yield world


def shares(groups):
    """In which share of all worlds each holder has each value, by `(holder, value)`."""
    counted, number = Counter(), 0
    for world in worlds(groups):
        counted.update(world.items())
        number += 1
    return {pair: Fraction(often, number) for pair, often in counted.items()}
