"""Who is certain when some people are known, counted again by plain sets for each share of known people."""

import numpy as np
import polars as pl
import pytest

from benchmarks.adversaries.some_known import SHARES, strike_out
from tests.anonymize.attack.attack_series import groups_of


def truth(values):
    return pl.DataFrame({"person": list(values), "value": list(values.values())})


def placed(group):
    return pl.DataFrame({"person": list(group), "group_id": list(group.values())})


def plainly(series, known):
    """The people of the last release who are certain, by sets: those in `known` are known from the start."""
    left, had, certain = {}, {}, {}
    for values, group, groups in series:
        for person in group:
            if had.get(person) != values[person]:
                left.pop(person, None)
                certain.pop(person, None)
            had[person] = values[person]
        while True:
            before = dict(certain)
            for person, place in group.items():
                held = list(groups[place])
                for other, its_place in group.items():
                    is_open = other not in known and other not in certain
                    if other != person and its_place == place and not is_open:
                        held.remove(values[other])
                left[person] = left.get(person, set(held)) & set(held)
            certain |= {person: 1 for person in group if left[person] == {values[person]}}
            if certain == before:
                break
    return {person for person in series[-1][1] if person in certain}


def random_series(rng, people=60, releases=4):
    """Groups of three to five people with different or equal values, some with a counterfeit."""
    names, series = [f"p{n}" for n in range(people)], []
    values = {name: str(rng.choice(list("abcdef"))) for name in names}
    for _ in range(releases):
        changed = rng.choice(names, 2)
        values = values | {str(name): str(rng.choice(list("abcdef"))) for name in changed}
        here = [str(name) for name in rng.permutation(names)[: people - 5]]
        group, groups = {}, []
        while here:
            some, here = here[: rng.integers(3, 6)], here[5:]
            group |= dict.fromkeys(some, len(groups))
            groups.append([values[name] for name in some] + ["a"] * int(rng.integers(0, 2)))
        series.append((dict(values), group, groups))
    return series


@pytest.mark.parametrize("seed", range(12))
def test_as_many_are_certain_as_sets_say(seed, monkeypatch):
    monkeypatch.setattr("benchmarks.adversaries.some_known.ROUNDS", 100)
    series, before = random_series(np.random.default_rng(seed)), None
    for values, group, groups in series:
        before = found = strike_out(
            truth({name: values[name] for name in group}),
            groups_of(groups),
            placed(group),
            before and before.struck,
        )
    drawn = dict(found.struck.drawn.iter_rows())
    compared = 0
    for share in SHARES:
        known = {person for person, luck in drawn.items() if luck < share}
        others = set(series[-1][1]) - known
        expected = plainly(series, known) & others
        assert found.certain[share] == pytest.approx(len(expected) / len(others))
        compared += len(expected)
    assert found.people == len(series[-1][1])
    assert compared > 0


def test_of_three_the_last_is_certain_when_two_are_known():
    groups, group = [["a", "b", "c"]], dict.fromkeys("xyz", 0)
    found = strike_out(truth(dict(zip("xyz", "abc", strict=True))), groups_of(groups), placed(group))
    level = dict(found.struck.certain.select("person", "level").iter_rows())
    luck = dict(found.struck.drawn.iter_rows())
    for person in "xyz":
        both = max(luck[other] for other in "xyz" if other != person)
        assert min(level[person], luck[person]) == min(both, luck[person])


def test_two_releases_strike_out_what_one_does_not():
    """x was with y, then with z: whoever knows one of each has one value left."""
    values = dict(zip("xyz12", "abcbc", strict=True))
    first = strike_out(
        truth(values),
        groups_of([["a", "b", "c"], ["b", "c"]]),
        placed({"x": 0, "y": 0, "2": 0, "1": 1, "z": 1}),
    )
    second = strike_out(
        truth(values),
        groups_of([["a", "b", "c"], ["b", "c"]]),
        placed({"x": 0, "1": 0, "z": 0, "y": 1, "2": 1}),
        first.struck,
    )
    luck = dict(second.struck.drawn.iter_rows())
    level = dict(second.struck.certain.select("person", "level").iter_rows())
    assert level["x"] <= max(min(luck["y"], luck["1"]), min(luck["2"], luck["z"]))


def test_people_beside_counterfeits_stay_uncertain():
    found = strike_out(truth({"x": "a", "y": "b"}), groups_of([["a", "b", "c"]]), placed({"x": 0, "y": 0}))
    assert (found.struck.certain["level"] > 1).all()
    assert found.certain == dict.fromkeys(SHARES, 0.0)


def test_nobody_whose_group_is_known_is_nothing_to_count():
    assert strike_out(truth({"x": "a"}), groups_of([["a", "b"]]), placed({"x": 0}).clear()) is None
