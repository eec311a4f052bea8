"""Dealing tuples to people, against every way of dealing them one by one."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from republish.anonymize.learning import dealing
from republish.anonymize.learning.dealing import dealt


def every_way(weight):
    """What `dealt` counts of one group, by definition."""
    people, tuples = weight.shape
    found = np.zeros(weight.shape)
    for way in permutations(range(tuples), people):
        for person, one in enumerate(way):
            others = [weight[other, way[other]] for other in range(people) if other != person]
            found[person, one] += np.prod(others)
    return found / found.max()


@given(st.data())
def test_all_ways_are_counted(data):
    tuples = data.draw(st.integers(1, 5))
    people = data.draw(st.integers(1, tuples))
    weight = np.random.default_rng(data.draw(st.integers(0, 99))).random((3, people, tuples)) + 1e-3
    weight /= weight.max(axis=2, keepdims=True)
    for mine, group in zip(dealt(weight), weight, strict=True):
        assert mine == pytest.approx(every_way(group))


def test_how_large_a_persons_weights_are_is_no_matter():
    weight = np.random.default_rng(0).random((4, 3, 3))
    scaled = weight * np.array([1.0, 1e-6, 1e6])[None, :, None]
    assert dealt(scaled) == pytest.approx(dealt(weight))


def test_many_groups_are_dealt_in_parts(monkeypatch):
    weight = np.random.default_rng(0).random((7, 2, 3))
    whole = dealt(weight)
    monkeypatch.setattr(dealing, "AT_ONCE", 2**4)
    assert (dealt(weight) == whole).all()
    assert dealt(weight[:0]).shape == (0, 2, 3)


def test_whoever_has_a_tuple_for_certain_leaves_the_others_to_the_rest():
    """Person 0 has tuple 0: the second person, of whom nothing is known, has the other one."""
    (found,) = dealt(np.array([[[1.0, 0.0], [0.5, 0.5]]]))
    assert found[1, 0] == 0
    assert found[1, 1] == 1
