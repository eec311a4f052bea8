"""Which tuples may be counterfeits: as many of each group as are published, in every draw."""

import numpy as np
import pytest

from republish.anonymize.learning.forgeries import DRAWS, forged

NUMBERS = np.random.default_rng(1).integers(0, 2**64, 6, dtype=np.uint64)


def drawn(groups, people, numbers=NUMBERS):
    """Kinds and draws of groups, each given as a mapping from values to tuples."""
    size = np.array([sum(one.values()) for one in groups])
    entries = [(at, value, tuples) for at, one in enumerate(groups) for value, tuples in sorted(one.items())]
    group, value, tuples = np.array(entries).T
    return entries, *forged(np.array(people), size, group, value, tuples, numbers)


def test_no_tuple_is_a_counterfeit_where_none_is():
    entries, kind, fakes = drawn([{0: 1, 1: 1}, {2: 3}], [2, 3])
    assert kind.tolist() == [-1] * len(entries)
    assert fakes.shape == (0, 1)


def test_each_group_has_its_counterfeits_in_every_draw():
    groups = [{0: 1, 1: 1, 2: 1}, {0: 1, 1: 1, 2: 1}, {0: 5, 3: 2}, {1: 1, 4: 1}, {1: 1, 4: 1}]
    people = [2, 1, 4, 2, 1]
    entries, kind, fakes = drawn(groups, people)
    assert fakes.shape == (DRAWS, 3 + 3 + 2 + 2 + 1)
    assert ((fakes >= 0) & (fakes <= 1)).all()
    for at, one in enumerate(groups):
        own = [place for place, (group, *_) in enumerate(entries) if group == at]
        counted = (fakes[:, kind[own]] * [entries[place][2] for place in own]).sum(axis=1)
        assert counted == pytest.approx(np.full(DRAWS, sum(one.values()) - people[at]))
    assert (kind[[place for place, (group, *_) in enumerate(entries) if group == 3]] == -1).all()


def test_groups_of_one_signature_and_as_many_counterfeits_are_one_kind():
    _, kind, _ = drawn([{0: 1, 1: 1}, {0: 2, 1: 1}, {0: 1, 1: 1, 2: 1}, {0: 3, 1: 1}], [1, 2, 2, 2])
    assert kind[:2].tolist() == kind[2:4].tolist()
    assert len(set(kind.tolist())) == 2 + 3 + 2


def test_one_value_of_a_signature_has_hardly_any_and_draws_differ_in_which():
    _, kind, fakes = drawn([{0: 1, 1: 1, 2: 1}] * 200, [2] * 200)
    shares = fakes[:, kind[:3]]
    assert np.median(shares.min(axis=1)) < 0.02
    assert set(shares.argmin(axis=1)) == {0, 1, 2}
    assert shares.std(axis=0).min() > 0.1


def test_draws_are_those_of_the_values_whatever_others_there_are():
    """Another release has the values under other numbers of places, and begins with the same odds."""
    group, people = {0: 1, 1: 1, 2: 1}, [2] * 50
    _, kind, fakes = drawn([group] * 50, people)
    turned = {5 - value: 1 for value in group}
    entries, again, others = drawn([turned] * 50, people, NUMBERS[::-1])
    order = np.argsort([5 - value for at, value, _ in entries if at == 0])
    assert others[:, again[:3][order]] == pytest.approx(fakes[:, kind[:3]])


def test_values_that_fill_up_in_many_signatures_are_likelier_counterfeits():
    """Value 0 is in all groups with a counterfeit, and each other value in few: 0 explains them all."""
    groups = [{0: 1, other: 1} for other in (1, 2, 3, 4, 5) for _ in range(20)]
    groups += [{1: 1, 2: 1}, {2: 1, 3: 1}, {3: 1, 4: 1}, {4: 1, 5: 1}] * 50
    people = [1] * 100 + [2] * 200
    entries, kind, fakes = drawn(groups, people)
    tuples = np.array([one[2] for one in entries])
    value = np.array([one[1] for one in entries])
    counted = np.bincount(value, (fakes[:, kind] * tuples).mean(axis=0))
    assert counted.sum() == pytest.approx(100)
    assert counted[0] > 60
