"""Corrected values under attack: every series of true values is tried that the releases leave possible.

The adversary knows everybody's group in every release, how many counterfeits each group has, that values
stay, who was corrected in which release, and that what was published of these before is not what is right.
"""

import itertools
import random
from collections import Counter, defaultdict
from types import SimpleNamespace

import polars as pl
import pytest

from republish.anonymize.errors import NotEligible, ValueChangeRefused
from republish.anonymize.people.pseudonyms import pseudonyms
from republish.anonymize.people.randomness import generator
from republish.anonymize.principle.state import State
from republish.anonymize.principles import parse_contract, principle_of
from tests.clinic import CLINIC

KEY = b"the key of the tests"
VALUES = "abcdef"
PRINCIPLES = [
    {"name": "m_invariance", "m": 2},
    {"name": "m_invariance", "m": 2, "on_value_change": "refuse"},
    {"name": "m_invariance", "m": 3, "format": "anatomy"},
    {"name": "e_equivalence", "m": 2, "e": 2},
]


def contract_of(principle, **sensitive):
    return parse_contract(
        {
            **CLINIC,
            "quasi_identifiers": [{"name": "age", "kind": "number", "domain": [0, 99]}],
            "sensitive": {"name": "disease", "values": list(VALUES)} | sensitive,
            "principle": principle,
        }
    )


def published(contract, values, state, number, corrected=()):
    """A release of people 0, 1, …: who is in which group, which values groups have, and the state."""
    names = pseudonyms(pl.Series([f"{person}" for person in values]), KEY)
    people = pl.DataFrame({"pseudonym": names, "qi_0": [20 + person for person in values]})
    people = people.with_columns(pl.Series("value", list(values.values())))
    if corrected:
        people = people.with_columns(corrected=pl.Series([person in corrected for person in values]))
    made = principle_of(contract).release(
        people, contract, state, number, lambda purpose: generator(KEY, "clinic", "v1", f"{number}", purpose)
    )
    person_of = dict(zip(names, values, strict=True))
    group = {person_of[row["pseudonym"]]: row["group_id"] for row in made.linkage.iter_rows(named=True)}
    table = made.published["microdata"] if "microdata" in made.published else made.published["sensitive"]
    held = defaultdict(Counter)
    for row in table.iter_rows(named=True):
        held[row["group_id"]][row["disease"]] += row.get("count", 1)
    return SimpleNamespace(group=group, held=held, state=made.state)


def possible(first, second, corrected):
    """By person, the values that may be right, and those that may have been published as theirs before."""
    people = sorted(second.group.keys() | first.group.keys())
    right, wrong = defaultdict(set), defaultdict(set)

    def choices(person):
        of = [set(one.held[one.group[person]]) for one in (first, second) if person in one.group]
        if person in corrected:
            return [pair for pair in itertools.product(*of) if pair[0] != pair[1]]
        return [(value, value) for value in set.intersection(*of)]

    for world in itertools.product(*map(choices, people)):
        for position, one in enumerate((first, second)):
            counts = defaultdict(Counter)
            for person, pair in zip(people, world, strict=True):
                if person in one.group:
                    counts[one.group[person]][pair[position]] += 1
            if any(counts[group] - held for group, held in one.held.items()):
                break
        else:
            for person, pair in zip(people, world, strict=True):
                right[person].add(pair[1])
                wrong[person].add(pair[0])
    return right, wrong


@pytest.mark.slow("counts every world")
@pytest.mark.parametrize("principle", PRINCIPLES, ids=lambda one: "-".join(map(str, one.values())))
def test_at_least_m_values_may_be_right_whoever_was_corrected(principle):
    contract, m, inside, outside = contract_of(principle), principle["m"], 0, 0
    for seed in range(15):
        rng = random.Random(seed)
        before = {person: rng.choice(VALUES) for person in range(6)}
        corrected = rng.sample(range(6), rng.choice([1, 2]))
        after = dict(before)
        for person in corrected:
            after[person] = rng.choice([value for value in VALUES if value != before[person]])
        try:
            first = published(contract, before, State.empty(), 1)
            second = published(contract, after, first.state, 2, corrected)
        except NotEligible:
            continue
        right, wrong = possible(first, second, corrected)
        for person in second.group:
            assert after[person] in right[person]
            assert len(right[person]) >= m
        for person in corrected:
            here = set(first.held[first.group[person]])
            inside, outside = inside + (after[person] in here), outside + (after[person] not in here)
            assert len(wrong[person]) >= m
            assert right[person] == here or right[person].isdisjoint(here)
    assert inside
    assert outside


@pytest.mark.parametrize("not_sensitive", [[], ["f"]])
@pytest.mark.parametrize(("company", "is_advised"), [(1, True), (2, False)])
def test_whoever_may_be_alone_with_counterfeits_is_warned_of(not_sensitive, company, is_advised):
    """Eight people were miscoded in the same way: whoever is alone has the value that most of them have."""
    principle = {"name": "m_invariance", "m": 3, "on_value_change": "refuse", "people_per_group": company}
    contract = contract_of(principle, not_sensitive=not_sensitive)
    rng = random.Random(1)
    before = {person: rng.choice(VALUES + "fff" * len(not_sensitive)) for person in range(90)}
    first = published(contract, before, State.empty(), 1)
    wrong = [person for person, group in first.group.items() if "a" not in first.held[group]][:8]
    after = before | dict.fromkeys(wrong, "a")
    second = published(contract, after, first.state, 2, wrong)
    people = Counter(second.group.values())
    alone = [person for person in wrong if people[second.group.get(person)] == 1]
    assert bool(alone) is is_advised
    declared = contract.model_copy(update={"corrections": {"2024-07-01": "wrong.csv"}})
    advice = principle_of(declared).advice(declared)
    assert bool(advice) is is_advised
    assert not principle_of(contract).advice(contract)


@pytest.mark.parametrize("principle", PRINCIPLES[1::2], ids=lambda principle: principle["name"])
def test_where_changes_are_refused_a_correction_is_none(principle):
    contract = contract_of(principle | {"on_value_change": "refuse"})
    before = dict(enumerate("abababcdcd"))
    first = published(contract, before, State.empty(), 1)
    after = before | {0: "e"}
    with pytest.raises(ValueChangeRefused, match="say under corrections"):
        published(contract, after, first.state, 2)
    with pytest.raises(ValueChangeRefused, match="1 people"):
        published(contract, after | {1: "e"}, first.state, 2, corrected=[0])
    second = published(contract, after, first.state, 2, corrected=[0])
    assert set(second.held[second.group[0]]).isdisjoint(first.held[first.group[0]])


def test_the_global_guarantee_covers_right_and_wrong_values():
    """The probability of ever having had a value, as the paper counts it, of every person and every value."""
    contract = contract_of(
        {
            "name": "global_guarantee",
            "l": 2,
            "strategy": "constant_ratio",
            "releases": 3,
            "on_ineligible": "wait",
        },
        semantics="transient",
    )
    rng, state, missed = random.Random(5), State.empty(), defaultdict(lambda: 1.0)
    values = {person: VALUES[person % 5] for person in range(40)}
    for number in (1, 2, 3):
        corrected = rng.sample(range(40), 6) if number > 1 else []
        values |= {person: rng.choice(VALUES) for person in corrected}
        made = published(contract, values, state, number, corrected)
        state = made.state
        for person, group in made.group.items():
            held = made.held[group]
            for value in held:
                missed[person, value] *= 1 - held[value] / held.total()
    assert missed
    assert max(1 - share for share in missed.values()) <= 1 / 2 + 1e-9


@pytest.mark.parametrize("principle", PRINCIPLES, ids=str)
def test_a_right_value_that_nobody_else_is_known_to_have_is_not_published(principle):
    """Without declared values, counterfeits have only values that there are: it would be this person's."""
    contract, values = contract_of(principle, values=None), dict(enumerate("abcdef" * 4))
    first = published(contract, values, State.empty(), 1)
    with pytest.raises(NotEligible, match="nobody else is known to have had"):
        published(contract, values | {3: "new"}, first.state, 2, corrected={3})
