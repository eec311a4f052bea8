"""Counterfeits are spread over the groups of their bucket, and nothing else changes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anonymize.kernels.spread import spread_bucket
from tests.profiles import examples


@st.composite
def buckets(draw):
    """Quasi-identifiers, values, groups and counterfeits of a bucket; some of its values are all people's."""
    size, length = draw(st.integers(2, 5)), draw(st.integers(1, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    often = rng.choice([0, 0.1, 0.5, 1], size)
    forged = rng.random((size, length)) < often[:, None]
    group = np.concatenate([rng.permutation(length) for _ in range(size)]).astype(np.int32)
    return rng.random((size * length, 2)), size, group, forged.ravel()


@examples(200)
@given(buckets())
def test_no_group_has_more_counterfeits_than_it_must_and_each_keeps_one_tuple_per_value(bucket):
    codes, size, group, forged = bucket
    before, length = group.copy(), len(group) // size
    spread_bucket(codes, size, group, forged)
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
    spread_bucket(codes, 3, group, forged)
    assert group.tolist() == [0, 1, 2, 1, 0, 2, 0, 1, 2]
