"""Counterfeits are spread over the groups of their bucket, and nothing else changes."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from republish.anonymize.kernels.balance_counterfeits import balance_counterfeits
from republish.anonymize.m_invariance.group import group_people


@st.composite
def buckets(draw):
    """Quasi-identifiers, values, groups and counterfeits of a bucket; some of its values are all people's."""
    size, length = draw(st.integers(2, 5)), draw(st.integers(1, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    often = rng.choice([0, 0.1, 0.5, 1], size)
    forged = rng.random((size, length)) < often[:, None]
    group = np.concatenate([rng.permutation(length) for _ in range(size)]).astype(np.int32)
    return rng.random((size * length, 2)), size, group, forged.ravel()


@settings(max_examples=200)
@given(buckets())
def test_no_group_has_more_counterfeits_than_it_must_and_each_keeps_one_tuple_per_value(bucket):
    codes, size, group, forged = bucket
    before, length = group.copy(), len(group) // size
    balance_counterfeits(codes, size, group, forged)
    for j in range(size):
        assert sorted(group[j * length : (j + 1) * length]) == list(range(length))
    had, has = (np.bincount(one[forged], minlength=length) for one in (before, group))
    most = -(-forged.sum() // length)
    assert has.max() <= most
    # A group with its share or less loses no counterfeit, and gets none beyond its share.
    assert (has >= np.minimum(had, most)).all()
    if had.max() <= most:
        assert (group == before).all()


def test_the_nearest_person_comes_for_a_counterfeit():
    # Group 0 has a person at 0.1 and two counterfeits; of the second value, 0.2 is nearer to it than 0.9.
    codes = np.array([[0.1], [0.25], [0.95], [0.1], [0.2], [0.9], [0.1], [0.3], [0.8]])
    group = np.tile(np.arange(3, dtype=np.int32), 3)
    forged = np.array([0, 0, 0, 1, 0, 0, 1, 0, 0], bool)
    balance_counterfeits(codes, 3, group, forged)
    assert group.tolist() == [0, 1, 2, 1, 0, 2, 0, 1, 2]


def groupings(value, keys, seed):
    """How often people 0 … 5 are in the group of person 0, or not; two counterfeits look like any of them."""
    rng = np.random.default_rng(seed)
    at = np.array([0.75, 0.75, 0.75, 0, 0, 0.5])
    forged = np.repeat([False, True], [6, 2])
    found = Counter()
    for _ in range(keys):
        codes = np.append(at, at[rng.integers(0, 6, 2)])[:, None]
        ranks, seeds = (rng.integers(0, 2**63, size).astype(np.uint64) for size in (8, 1))
        group = group_people(np.zeros(8, np.int64), np.array(value), codes, ranks, "fast", seeds, forged)
        found[tuple(group[:6] == group[0])] += 1
    return found


def test_which_value_is_which_makes_no_difference_to_who_is_together():
    # Persons 0 and 1 are the only ones with their values. Exchanged, each grouping is as likely as before.
    one = groupings([0, 1, 2, 2, 3, 3, 0, 1], 500, 1)
    other = groupings([1, 0, 2, 2, 3, 3, 0, 1], 500, 2)
    assert all(abs(one[who] - other[who]) < 5 * (one[who] + other[who]) ** 0.5 for who in one | other)
