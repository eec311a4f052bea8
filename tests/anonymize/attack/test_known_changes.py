"""What is learned by who knows how values change, on series in which that says everything or nothing."""

import itertools

import numpy as np
import polars as pl
import pytest

from republish.anonymize.attack.measures.known_changes import (
    PRIOR,
    _guesses,
    _Rates,
    follow_lives,
    learn_changes,
)
from tests.anonymize.attack.attack_series import groups_of

EARLIER, LATER = ["flu", "gout", "pre-diabetes"], ["diabetes", "fracture", "migraine"]


def followed(series, held_back=()):
    """Lives after releases, each a list of groups: `{person: value}`, and the values of counterfeits.

    In the last release are people who are in no group, too.
    """
    lives = None
    for number, groups in enumerate(series, start=1):
        people = [(name, value, at) for at, (some, _) in enumerate(groups) for name, value in some.items()]
        table = pl.DataFrame(people, schema=["person", "value", "group_id"], orient="row")
        known = table.select("person", "value")
        if number == len(series):
            known = pl.concat([known, pl.DataFrame(list(held_back), schema=known.schema, orient="row")])
        held = groups_of([[*some.values(), *forged] for some, forged in groups])
        lives = follow_lives(known, held, table.select("person", "group_id"), lives)
    return lives


def of_the_example(people=600, becomes=None):
    """People of {pre-diabetes, flu, gout}; a third of whom are of {diabetes, fracture, migraine} later.

    Only one value becomes another, or any does any.
    """
    before, after = [], []
    for number in range(people):
        names = [f"{number}{value}" for value in EARLIER]
        before.append((dict(zip(names, EARLIER, strict=True)), []))
        changed = 2 if becomes is None else number % 3
        stay = {name: value for name, value in zip(names, EARLIER, strict=True) if value != EARLIER[changed]}
        after.append((stay, [EARLIER[changed]]))
        new = "diabetes" if becomes is None else LATER[becomes[number]]
        after.append(({names[changed]: new}, [value for value in LATER if value != new]))
    return followed([before, after])


def test_who_knows_that_only_pre_diabetes_becomes_diabetes_knows_both():
    found = learn_changes(of_the_example())
    for guessed in (found.old, found.new):
        assert guessed.people == 600
        assert guessed.by_half == guessed.by_all == guessed.certain == 1
        assert guessed.at_random == pytest.approx(1 / 3)
    assert found.departed is None


def test_where_any_value_becomes_any_nothing_is_learned():
    found = learn_changes(of_the_example(becomes=np.random.default_rng(0).integers(0, 3, 600)))
    for guessed in (found.old, found.new):
        assert abs(guessed.by_half - 1 / 3) < 0.08
        assert guessed.certain == 0


def test_who_is_held_back_has_a_value_that_follows_one_of_the_last_candidates():
    becomes = {"flu": "fracture", "gout": "migraine", "pre-diabetes": "diabetes"}
    groups = [({f"{number}{value}": value for value in EARLIER}, []) for number in range(600)]
    changed = np.random.default_rng(1).integers(0, 3, 600)
    after, held_back = [], []
    for number, which in enumerate(changed):
        gone = EARLIER[which]
        after.append(({f"{number}{value}": value for value in EARLIER if value != gone}, [gone]))
        held_back.append((f"{number}{gone}", becomes[gone]))
    others = [({f"other {value}": value for value in LATER}, [])]
    found = learn_changes(followed([groups + others, after + others], held_back))
    for guessed in (found.old, found.new):
        assert guessed.people == 600
        assert abs(guessed.by_half - 1 / 3) < 0.08
        assert guessed.certain == 0
        assert guessed.at_random == pytest.approx(1 / 3)
    assert found.departed is None

    only = [(person, value) for person, value in held_back if value == "diabetes"]
    rest = [({f"{number}{value}": value for value in EARLIER}, []) for number in np.flatnonzero(changed != 2)]
    found = learn_changes(
        followed([groups, rest + [one for one in after if one[1] == ["pre-diabetes"]]], only)
    )
    assert found.old.people == len(only)
    assert found.old.by_half == found.new.by_half == 1


def test_who_knows_that_only_one_value_leaves_knows_who_had_it():
    groups = [({f"{number}{value}": value for value in EARLIER}, []) for number in range(400)]
    stay = [({name: value for name, value in some.items() if value != "flu"}, ["flu"]) for some, _ in groups]
    found = learn_changes(followed([groups, stay]))
    assert (found.old, found.new) == (None, None)
    assert found.departed.people == 400
    assert found.departed.by_half == found.departed.by_all == 1


def test_of_one_release_nothing_is_learned():
    assert learn_changes(followed([[({"x": "flu"}, ["gout"])]])) is None


@pytest.mark.parametrize("seed", range(5))
def test_the_guesses_are_the_likeliest_of_all_ways_of_having_had_the_values(seed):
    rng = np.random.default_rng(seed)
    number, releases, people = 4, 3, 12
    shares = np.array([[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5], [0.25] * 4, [0] * 4])
    content = rng.integers(-1, 3, (people, releases))
    content[:, 0] = rng.integers(0, 3, people)
    becomes = rng.random((number, number)) ** 4
    rates = _Rates(becomes / becomes.sum(axis=1, keepdims=True), rng.random(number))
    actual = rng.integers(0, number, (people, releases))
    left = rng.random(people) < 0.8
    old, new, departed = _guesses(content, actual, left, shares, rates)
    expected = {"old": [], "new": [], "departed": []}
    for row in range(people):
        last = max(at for at in range(releases) if content[row, at] >= 0)
        weights = np.zeros((releases, number))
        for way in itertools.product(range(number), repeat=last + 1):
            weight = 1.0
            for at, value in enumerate(way):
                share = shares[content[row, at], value] if content[row, at] >= 0 else 1
                is_same = at > 0 and content[row, at] == content[row, at - 1]
                weight *= (share > 0) if is_same else share
                weight *= rates.becomes[way[at - 1], value] if at else 1
            weight *= rates.leaves[way[-1]] if left[row] and last < releases - 1 else 1
            for at, value in enumerate(way):
                weights[at, value] += weight
        sure = weights.max(axis=1) / np.maximum(weights.sum(axis=1), 1e-300)
        for at in range(1, releases):
            both = content[row, at - 1 : at + 1]
            if (both >= 0).all() and not (shares[both[0]] * shares[both[1]]).any():
                expected["old"].append(sure[at - 1])
                expected["new"].append(sure[at])
        if left[row] and last < releases - 1:
            expected["departed"].append(sure[last])
    for name, found in (("old", old), ("new", new), ("departed", departed)):
        assert found.sure == pytest.approx(expected[name])
    assert expected["departed"]


def test_where_nobody_changes_and_groups_differ_any_value_is_as_likely():
    """So that what follows is guessed from there, and nothing is divided by 0."""
    shares = np.array([[0.5, 0.5, 0, 0], [0, 0, 0.4, 0.6], [0] * 4])
    content, actual = np.array([[0, 1, 1, -1]]), np.array([[0, 3, 3, -1]])
    rates = _Rates(np.eye(4), np.ones(4))
    old, new, departed = _guesses(content, actual, np.array([True]), shares, rates)
    assert [old.sure, new.sure] == [pytest.approx([0.25]), pytest.approx([0.5])]
    assert departed.sure == pytest.approx([0.5])
    assert departed.share == [0.6]


def test_rates_are_those_counted_with_a_little_of_everybody_s():
    moved = pl.DataFrame(
        [(0, "a", "a", 90), (0, "a", "b", 9), (1, "a", "c", 50), (0, "b", "b", 10), (0, "b", None, 10)],
        schema=["half", "gone", "became", "people"],
        orient="row",
    )
    rates = _Rates.of(moved, 0, pl.Series("value", ["a", "b", "c"]))
    assert rates.becomes.sum(axis=1) == pytest.approx(1)
    assert rates.becomes[0, 1] == pytest.approx((9 + PRIOR * 9 / 109) / (99 + PRIOR), rel=0.1)
    assert rates.becomes[0, 2] < 0.01
    assert rates.leaves[1] == pytest.approx((10 + PRIOR * 10 / 119) / (20 + PRIOR))
