"""Exchanges between neighbouring groups, and the assignment problem against plain Python."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from republish.anonymize.kernels.polish import assign_at_least_cost, kd_order, polish_bucket
from republish.anonymize.kernels.split import EMPTY, split_bucket
from republish.anonymize.m_invariance.group import group_people


def perimeter(codes, group):
    """The sum of all groups' interval lengths, counterfeits left out."""
    total = 0
    for number in set(group.tolist()):
        members = [row for row in codes[group == number] if row[0] != EMPTY]
        total += sum(max(column) - min(column) for column in zip(*members, strict=True))
    return total


@st.composite
def buckets(draw):
    size, length, attributes = draw(st.integers(2, 4)), draw(st.integers(1, 40)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    codes = rng.integers(0, 33, (size * length, attributes)) / 32
    codes[rng.random(size * length) < draw(st.sampled_from([0, 0.3]))] = EMPTY
    group = np.empty(size * length, np.int32)
    split_bucket(codes, size, group)
    return codes, size, group


@settings(max_examples=100)
@given(buckets(), st.integers(0, 2**63))
def test_polishing_keeps_groups_whole_and_never_lengthens_intervals(bucket, seed):
    codes, size, group = bucket
    before = perimeter(codes, group)
    polished = group.copy()
    polish_bucket(codes, size, polished, 2, np.uint64(seed))
    length = len(codes) // size
    for j in range(size):
        assert sorted(polished[j * length : (j + 1) * length]) == list(range(length))
    assert perimeter(codes, polished) <= before + 1e-9


def test_polishing_shortens_the_intervals_of_random_groups_by_a_lot():
    rng = np.random.default_rng(1)
    codes = rng.random((4 * 200, 2))
    group = np.tile(np.arange(200), 4).astype(np.int32)
    polished = group.copy()
    polish_bucket(codes, 4, polished, 6, np.uint64(1))
    assert perimeter(codes, polished) < 0.5 * perimeter(codes, group)


@settings(max_examples=100)
@given(st.integers(1, 6), st.integers(0, 2**32))
def test_no_assignment_costs_less(n, seed):
    cost = np.random.default_rng(seed).integers(0, 9, (n + 2, n + 2)).astype(float)
    solution = np.empty(n + 2, np.int64)
    assign_at_least_cost(cost, n, solution)
    assert sorted(solution[:n]) == list(range(n))
    least = min(sum(cost[k, order[k]] for k in range(n)) for order in permutations(range(n)))
    assert sum(cost[k, solution[k]] for k in range(n)) == least


def test_a_tree_orders_every_point_once():
    points = np.random.default_rng(2).random((500, 3))
    assert sorted(kd_order(points, np.array([7], np.uint64))) == list(range(500))


@pytest.mark.parametrize("effort", ["fast", "best"])
def test_groups_have_one_tuple_of_each_value_of_their_bucket(effort):
    rng = np.random.default_rng(4)
    bucket = np.repeat([0, 1], [300, 200])
    value = np.concatenate([np.repeat([0, 1, 2], 100), np.repeat([1, 3], 100)])
    shuffled = rng.permutation(500)
    bucket, value, codes = bucket[shuffled], value[shuffled], rng.random((500, 3))
    ranks = rng.integers(0, 2**64, 500, np.uint64)
    group = group_people(bucket, value, codes, ranks, effort, rng.integers(0, 2**64, 2, np.uint64))
    seen = {}
    for number, of, carried in zip(group.tolist(), bucket.tolist(), value.tolist(), strict=True):
        seen.setdefault((number, of), []).append(carried)
    assert len(seen) == 200
    assert all(sorted(values) == ([0, 1, 2] if of == 0 else [1, 3]) for (_, of), values in seen.items())


def test_which_value_is_which_makes_no_difference_to_how_groups_are_drawn():
    # Of two values that are exchanged throughout a bucket, each is as likely as the other to lie farther out.
    rng = np.random.default_rng(5)
    farther = []
    for seed in range(200):
        codes = rng.random((3 * 20, 2))
        group = np.tile(np.arange(20), 3).astype(np.int32)
        polish_bucket(codes, 3, group, 2, np.uint64(seed))
        centre = np.array([np.median(codes[group == number], axis=0) for number in range(20)])
        away = np.abs(codes - centre[group]).sum(axis=1).reshape(3, 20).mean(axis=1)
        farther.append(int(np.argmax(away)))
    counts = np.bincount(farther, minlength=3)
    assert np.abs(counts / 200 - 1 / 3).max() < 0.12
