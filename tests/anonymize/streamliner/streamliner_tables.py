"""Tables for the streamliner, and its runs on them."""

import itertools
from collections import Counter

import polars as pl
from hypothesis import strategies as st

from republish.anonymize.contract import Contract
from republish.anonymize.m_invariance import M_INVARIANCE
from republish.anonymize.people.randomness import generator
from republish.anonymize.principle.state import State
from republish.anonymize.streamliner import streamliner
from republish.anonymize.streamliner.parameters import StreamlinerParameters, contract_faults
from tests.clinic import CLINIC


def make_contract(values=None, widths=(0, 0), **principle):
    """Two quasi-identifiers, age and town, of 100 and 10 values."""
    declared = {
        **CLINIC,
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
    release = streamliner(M_INVARIANCE).release
    return release(table, contract, state or State.empty(), number, draws(number, key))


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
