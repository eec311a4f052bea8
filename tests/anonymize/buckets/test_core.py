"""The linear program that puts new groups into large buckets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from republish.anonymize.buckets.core import assign_core, leave_eligible
from republish.anonymize.buckets.counts import Groups, is_eligible
from republish.anonymize.buckets.plan import make_plan
from republish.anonymize.buckets.signatures import Signatures
from republish.anonymize.m_invariance.family import choose_family
from tests.plans import as_tables, counted
from tests.series import draws


def eligible(rng, values, m, people):
    """Random m-eligible people, by value."""
    counts = rng.multinomial(people, rng.dirichlet(np.ones(values)))
    while not is_eligible(counts, m):
        counts = np.minimum(counts, counts.sum() // m)
    return counts


def assigned_as_table(rest, m, table, groups):
    signatures = Signatures.of(table)
    return signatures.table(assign_core(rest, m, signatures, groups, rest))


@settings(max_examples=100)
@given(st.integers(0, 2**32), st.integers(2, 4))
def test_the_program_leaves_an_eligible_rest_and_balanced_buckets(seed, m):
    rng = np.random.default_rng(seed)
    values = m + int(rng.integers(1, 6))
    rest = eligible(rng, values, m, 600)
    signatures = np.array([rng.permutation(values) < rng.integers(1, m + 2) for _ in range(8)])
    signatures = np.unique(signatures, axis=0)
    groups = rng.integers(0, 300, len(signatures))
    assigned = assigned_as_table(rest, m, signatures, groups)
    left = rest - assigned.sum(axis=0)
    assert left.min() >= 0
    assert is_eligible(left, m)
    for signature, tuples in zip(signatures, assigned, strict=True):
        assert len(set(tuples[signature])) == 1
        assert not tuples[~signature].any()
    assert not assigned[(groups == 0) | (signatures.sum(axis=1) < m)].any()


def test_large_buckets_are_filled_first():
    signatures = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]], bool)
    rest = np.array([100, 100, 100, 100])
    assigned = assigned_as_table(rest, 2, signatures, np.array([500, 500, 3, 3]))
    assert assigned[:2].sum() == 400


def test_groups_without_a_frequent_value_are_put_into_large_buckets_first():
    """Of a hundred people, 40 have the first value: ten groups lack it, and all of these fit."""
    rest = np.array([40, 12, 24, 24])
    assigned = assigned_as_table(rest, 2, np.array([[0, 1, 1, 0], [1, 1, 0, 0]], bool), np.array([40, 500]))
    assert assigned.tolist() == [[0, 10, 10, 0], [2, 2, 0, 0]]


@pytest.mark.parametrize(
    ("rest", "signatures", "new", "left"),
    [
        # A group of the second bucket would leave the others eligible, but it has none that is new.
        ([4, 2, 2], [[1, 1, 1], [0, 1, 1]], [2, 0], [0, 0]),
        # Too many others have the first value: first goes a group without it.
        ([4, 3, 3], [[1, 1, 1], [0, 1, 1]], [1, 1], [1, 0]),
        # Nobody is there for the first value of the first bucket, and then nobody beside the second one.
        ([0, 1, 2, 2], [[1, 1, 0, 0], [0, 0, 1, 1]], [1, 2], [0, 1]),
        ([5, 5, 5], [[1, 1, 1], [0, 1, 1]], [1, 2], [1, 2]),
        # One person lacks for the first bucket; the second one is larger, and takes nobody of theirs.
        ([1, 3, 6, 6, 3], [[1, 1, 0, 0, 0], [0, 0, 1, 1, 0]], [2, 5], [1, 5]),
    ],
)
def test_groups_are_given_back_until_the_others_are_eligible(rest, signatures, new, left):
    known = Signatures.of(np.array(signatures, bool))
    assert leave_eligible(np.array(rest), 2, known, np.array(new)).tolist() == left


def test_a_few_people_are_left_to_the_search_bucket_by_bucket():
    rest = np.array([10, 10])
    assert not assigned_as_table(rest, 2, np.ones((1, 2), bool), np.array([500])).any()


def in_small_buckets(seed, *, largest_first):
    """The share of groups in buckets of fewer than 50, after 20 releases of 200,000 people."""
    rng, m, people, r = np.random.default_rng(seed), 10, 200_000, 5_000
    shares = 1 / np.arange(2, 52) ** 0.7
    shares[0] = 0.8 / m
    shares[1:] *= (1 - shares[0]) / shares[1:].sum()
    free, bound = rng.multinomial(people, shares), np.zeros((0, 50), np.int64)
    signatures = bound.astype(bool)
    first = lambda tuples: choose_family(tuples[None], m).groups()  # noqa: E731
    for number in range(20):
        counts = counted(signatures, bound, free)
        plan = as_tables(
            make_plan(
                counts, m, "counterfeit", draws(number)("plan"), first=first, largest_first=largest_first
            )
        )
        signatures, first = plan.signatures, None
        present = np.pad(bound, ((0, len(signatures) - len(bound)), (0, 0))) + plan.moved
        bound = present - rng.multivariate_hypergeometric(present.ravel(), r).reshape(present.shape)
        free = rng.multinomial(r, shares)
    groups = present.max(axis=1)
    return groups[groups < 50].sum() / groups.sum()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_with_large_buckets_first_fewer_groups_are_in_small_ones(seed):
    with_program, without = (in_small_buckets(seed, largest_first=first) for first in (True, False))
    assert with_program < 0.9 * without


def test_a_series_begins_with_the_groups_that_it_is_given():
    signatures = np.array([[1, 1, 0, 0], [0, 0, 1, 1]], bool)
    first = Groups(Signatures.of(signatures), np.array([30, 20]))
    counts = counted(np.zeros((0, 4), bool), np.zeros((0, 4), np.int64), np.array([40, 32, 30, 25]))
    plan = as_tables(make_plan(counts, 2, "refuse", draws(1)("plan"), first=lambda _: first))
    assert (plan.signatures[:2] == signatures).all()
    assert (plan.moved[:2] >= first.number[:, None] * signatures).all()
    assert (plan.moved.sum(axis=0) == counts.free).all()
    assert not plan.counterfeits.any()
