"""The adversary who knows the algorithm: every table and every secret order, for releases of a few people.

The publisher is a function that can be run, and nothing else is known of it. Secret orders follow the
pseudonyms, under a key that nobody else has. To give the pseudonyms to the people in every way, under one
key, is to try every order exactly once. So what follows from one secret order is counted exactly.

Liu and Wang, Privacy streamliner, CODASPY 2012, section 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from fractions import Fraction
from itertools import permutations
from math import factorial

import numpy as np
import polars as pl

from republish.anonymize.attack.finding import AttackResult, Count
from republish.anonymize.attack.input import AttackInput
from republish.anonymize.columns import PSEUDONYM, VALUE

MOST_RUNS = 1_500
"""Releases that are made at most: enough for any table of four people. A thousand take 5 to 20 seconds."""


def attack_algorithm(seen: AttackInput, most: float | None) -> AttackResult:
    """Run the publisher on all tables with the same values, and see which of them publish the same.

    Undecided for everybody if there are too many tables and orders, if the algorithm is not given or draws by
    more than one secret, or if it does not make this release, the first of its series, of the true table.
    """
    if most is None:
        return AttackResult()
    people = seen.people.height
    worst = _worst_posteriors(seen) if seen.told.publish is not None and seen.release == 1 else None
    if worst is None:
        return AttackResult({"": Count(people, 0, None, most, undecided=people)})
    above = sum(one > Fraction(most).limit_denominator(max(people, 1)) for one in worst)
    return AttackResult({"": Count(people, above, float(max(worst, default=0)), most)})


def _worst_posteriors(seen: AttackInput) -> list[Fraction] | None:
    """The probability of each person's most likely value, after this release; None if it can't be counted.

    Values that may be known do not count.
    """
    truth = seen.people[VALUE].to_list()
    # Eleven people have far too many orders, and those of a million people take minutes to count.
    if len(truth) > 10 or _different_orders(truth) * factorial(len(truth)) > MOST_RUNS:
        return None
    observed = _as_seen(seen, seen.tables)
    hits: Counter[tuple[Hashable, ...]] = Counter()
    for values in sorted(set(permutations(truth)), key=repr):
        for published in _under_every_order(seen, values):
            if published is None:
                return None
            hits[values] += published == observed
    if not hits[tuple(truth)]:
        return None
    owed = [
        value
        for value in dict.fromkeys(truth)
        if not seen.schema.sensitive.may_be_known(pl.Series([value])).item()
    ]
    probabilities: list[Fraction] = []
    for person in range(len(truth)):
        by_value: Counter[Hashable] = Counter()
        for values, times in hits.items():
            by_value[values[person]] += times
        probabilities.append(Fraction(max((by_value[value] for value in owed), default=0), hits.total()))
    return probabilities


def _under_every_order(seen: AttackInput, values: tuple[Hashable, ...]) -> Iterator[Hashable | None]:
    """Publish a table under each secret order; yields None where there is more than one secret."""
    assert seen.told.publish is not None
    purposes: set[str] = set()

    def draw(purpose: str) -> np.random.Generator:
        purposes.add(purpose)
        return np.random.default_rng(1)

    labels = [number.to_bytes(16) for number in range(len(values))]
    people = seen.people.select("^qi_.*$", pl.Series(VALUE, values, seen.people.schema[VALUE]))
    for order in permutations(labels):
        published = seen.told.publish(people.with_columns(pl.Series(PSEUDONYM, order, pl.Binary)), draw)
        if len(purposes) > 1:
            yield None
        elif published is None:
            yield "refused"
        else:
            yield _as_seen(seen, seen.release_format.internal(published, seen.schema))


def _as_seen(seen: AttackInput, tables: Mapping[str, pl.DataFrame]) -> Hashable:
    """Published tables in a form that can be compared."""
    names = seen.release_format.tables(seen.schema)
    return tuple(tuple(sorted(tables[name].sort(pl.all()).rows(), key=repr)) for name in names)


def _different_orders(values: list[Hashable]) -> int:
    """Count the different tables that have these values, each as often."""
    orders = factorial(len(values))
    for times in Counter(values).values():
        orders //= factorial(times)
    return orders
