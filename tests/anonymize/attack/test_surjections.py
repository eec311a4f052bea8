"""Risks that are counted by what is left are those of all tables that can be rebuilt, one after the other."""

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest

from republish.anonymize.attack.surjections import Contents, Steps, TooManySurjectionsError, risks
from tests.papers.surjections import posterior, rebuild

SERIES = 100


def made_up(seed):
    """Some rows over one to three releases, each hidden among groups that hold what somebody put there."""
    random = np.random.default_rng(seed)
    value = {number: "xyz"[random.integers(3)] for number in range(random.integers(3, 7))}
    releases = []
    for _ in range(random.integers(1, 4)):
        hosts, tuples, forged = {}, defaultdict(int), {}
        for number, own in value.items():
            if random.random() < 0.8:
                group = int(random.integers(3))
                tuples[group, own] += 1
                hosts[number, own] = [group]
        held = sorted({group for group, _ in tuples})
        for groups in hosts.values():
            groups.extend(group for group in held if group not in groups and random.random() < 0.5)
        for group in held:
            if random.random() < 0.4:
                tuples[group, "xyz"[random.integers(3)]] += 1
                forged[group] = 1
        releases.append((hosts, Contents(dict(tuples), forged)))
    return releases


@pytest.mark.parametrize("invariant", [False, True])
def test_risks_are_those_of_every_table_that_can_be_rebuilt(invariant):
    for seed in range(SERIES):
        releases = made_up(seed)
        instances = rebuild(releases, invariant=invariant)
        expected = posterior(instances) if any(instances) else {}
        assert risks(releases, invariant=invariant) == expected, seed


def test_most_made_up_series_have_several_tables():
    assert sum(len(rebuild(made_up(seed), invariant=False)) > 3 for seed in range(60)) > 20


def group(people, values, counterfeits=0):
    hosts = {(person, None): [1] for person in people}
    counts = {(1, value): values.count(value) for value in values}
    return hosts, Contents(counts, {1: counterfeits} if counterfeits else {})


def test_what_a_group_with_room_for_somebody_else_holds_is_impossible():
    assert risks([group("ab", "xyz")], invariant=False) == {}
    assert risks([group("", "x")], invariant=False) == {}
    assert risks([group("abc", "xy")], invariant=False) == {}
    assert risks([group("a", "x", counterfeits=2)], invariant=False) == {}


def test_a_dozen_people_in_a_group_take_few_steps():
    steps = Steps(30_000)
    people, values = "abcdefghijkl", "mnopqrstuvwx"
    found = risks([group(people, values)], invariant=False, steps=steps)
    assert found["a", None] == dict.fromkeys(values, Fraction(1, 12))
    assert steps.taken == 12 * 2**11  # for each set of values that is left, each of them


def test_more_steps_than_allowed_are_refused():
    with pytest.raises(TooManySurjectionsError):
        risks([group("abcd", "wxyz")], invariant=False, steps=Steps(31))
    assert risks([group("abcd", "wxyz")], invariant=False, steps=Steps(32))
