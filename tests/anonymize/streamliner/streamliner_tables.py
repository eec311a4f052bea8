"""Tables for the streamliner, and its runs on them."""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
from hypothesis import strategies as st

from anonymize.contract import Contract
from anonymize.m_invariance import M_INVARIANCE
from anonymize.randomness import generator
from anonymize.state import State
from anonymize.streamliner.parameters import StreamlinerParameters, contract_faults
from anonymize.streamliner.release import release as release_of


def make_contract(values=None, widths=(0, 0), **principle):
    """Two quasi-identifiers, age and town, of 100 and 10 values."""
    declared = {
        "product": "clinic",
        "series": "v1",
        "source": {"path": "{release}.parquet"},
        "releases": {"first": "2024-01-01", "cron": "0 0 1 1 *"},
        "identifier": "person",
        "quasi_identifiers": [
            {"name": "age", "kind": "number", "domain": [0, 99], "min_width": widths[0]},
            {"name": "town", "kind": "number", "domain": [0, 9], "min_width": widths[1]},
        ],
        "sensitive": {"name": "disease"} | ({"values": list(values)} if values else {}),
        "principle": {"name": "streamliner", "l": 2} | principle,
    }
    contract = Contract.model_validate(
        declared, context={"principles": {"streamliner": StreamlinerParameters}}
    )
    assert not contract_faults(contract)
    return contract


def people(ages, towns, values):
    """T(1): a pseudonym for each person, in the order given."""
    return pl.DataFrame(
        {
            "pseudonym": [number.to_bytes(16) for number in range(1, len(values) + 1)],
            "qi_0": ages,
            "qi_1": towns,
            "value": values,
        },
        schema_overrides={"pseudonym": pl.Binary, "qi_0": pl.Int64, "qi_1": pl.Int64},
    )


def draws(number=1, key=b"key"):
    return lambda purpose: generator(key, "clinic", "v1", str(number), purpose)


def run(table, contract, key=b"key", state=None, number=1):
    return release_of(table, contract, state or State.empty(), number, draws(number, key), M_INVARIANCE)


@st.composite
def eligible_tables(draw, most_people=40):
    """An l, and people of whom at most 1/l share a value."""
    l = draw(st.integers(2, 5))
    values = draw(st.lists(st.integers(0, 11), min_size=l, max_size=most_people))
    while max(Counter(values).values()) * l > len(values):
        values = [*values, max(values) + 1]
    spread = draw(st.sampled_from([0, 3, 99]))
    ages = draw(st.lists(st.integers(0, spread), min_size=len(values), max_size=len(values)))
    towns = draw(st.lists(st.integers(0, min(spread, 9)), min_size=len(values), max_size=len(values)))
    return l, people(ages, towns, [f"{value:02}" for value in values])


def arrangements(values):
    """Every order of some values, equal ones not told apart."""
    return sorted(set(itertools.permutations(values)))


def worst_posterior(publish, colors, orders):
    """The largest probability of any person's value after any output, all tables and orders equally likely.

    `publish(color, ranks)` says what is published; it is run on every table of the same values and under
    every secret order of the people that `orders(color)` has, so that the probabilities are exact.
    """
    hits = {}
    for table in arrangements(colors):
        color = np.array(table)
        for ranks in orders(color):
            hits.setdefault(publish(color, ranks), Counter())[table] += 1
    worst = Fraction(0)
    for tables in hits.values():
        for person in range(len(colors)):
            by_value = Counter()
            for table, count in tables.items():
                by_value[table[person]] += count
            worst = max(worst, Fraction(max(by_value.values()), tables.total()))
    return worst


def all_orders(color):
    """Every secret order of a table's people, as ranks."""
    return [np.array(order, np.uint64) for order in itertools.permutations(range(len(color)))]


def orders_within_colors(color):
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


def as_published(group, color):
    """What a partition publishes at most: who is together, and which values each group has."""
    groups = {}
    for person, number in enumerate(group.tolist()):
        groups.setdefault(number, []).append(person)
    return frozenset(
        (frozenset(members), tuple(sorted(color[members].tolist()))) for members in groups.values()
    )
