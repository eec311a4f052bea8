"""The adversary who knows the algorithm, exactly: every table of the same values, every secret order.

For tables of a few people, whose positions 0 … N - 1 the adversary knows, and whose colors (the values, as
numbers) as a multiset.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

Orders = Callable[[np.ndarray], Iterable[np.ndarray]]
"""From colors, int64[N], to secret orders of the people: as ranks, uint64[N]."""


def orders_within_colors(color: np.ndarray) -> list[np.ndarray]:
    """Every secret order, of all that put the people of each color into the same order only one.

    That is enough for what looks at the order of people of one color alone, and all are equally likely.
    """
    members = [np.flatnonzero(color == value) for value in np.unique(color)]
    orders = []
    for within in itertools.product(*(itertools.permutations(range(len(each))) for each in members)):
        ranks = np.empty(len(color), np.uint64)
        for each, order in zip(members, within, strict=True):
            ranks[each] = order
        orders.append(ranks)
    return orders


def as_published(group: np.ndarray, color: np.ndarray) -> Hashable:
    """What a partition publishes at most: who is together, and which values each group has.

    Parameters
    ----------
    group, color
        int64[N].
    """
    groups: dict[int, list[int]] = {}
    for person, number in enumerate(group.tolist()):
        groups.setdefault(number, []).append(person)
    return frozenset(
        (frozenset(members), tuple(sorted(color[members].tolist()))) for members in groups.values()
    )


def worst_posterior(
    publish: Callable[[np.ndarray, np.ndarray], Hashable], colors: Sequence[int], orders: Orders
) -> Fraction:
    """The largest probability of any person's value after any output, all tables and orders equally likely.

    Parameters
    ----------
    publish
        From colors and ranks to what is published. It is run on every table of the same values and under
        every secret order, so that the probabilities are exact.
    colors
        The values.
    orders
        The secret orders of a table.

    References
    ----------
    Liu and Wang, Privacy streamliner, CODASPY 2012, section 1.
    """
    hits: dict[Hashable, Counter] = {}
    for table in sorted(set(itertools.permutations(colors))):
        color = np.array(table)
        for ranks in orders(color):
            hits.setdefault(publish(color, ranks), Counter())[table] += 1
    worst = Fraction(0)
    for tables in hits.values():
        for person in range(len(colors)):
            by_value: Counter = Counter()
            for table, count in tables.items():
                by_value[table[person]] += count
            worst = max(worst, Fraction(max(by_value.values()), tables.total()))
    return worst


def all_partitions(people: Sequence[Hashable]) -> Iterator[frozenset[frozenset]]:
    """Every partition of some people into groups; there are Bell(n) of them."""
    if not people:
        yield frozenset()
        return
    first, *rest = people
    for partition in all_partitions(rest):
        yield partition | {frozenset({first})}
        for group in partition:
            yield (partition - {group}) | {group | {first}}


def is_l_diverse(group: Iterable[Hashable], table: Mapping[Hashable, Hashable], l: int) -> bool:
    """Whether no sensitive value is that of more than 1/l of a group."""
    counts = Counter(table[person] for person in group)
    return l * max(counts.values(), default=0) <= counts.total()
