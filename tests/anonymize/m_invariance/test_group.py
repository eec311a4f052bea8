"""Section 4.3 in plain Python, every scheme recomputed from scratch, against the kernel."""

from itertools import chain

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from republish.anonymize.kernels.split import EMPTY, split_bucket
from republish.anonymize.m_invariance.group import group_people
from republish.anonymize.people.ranks import keyed_ranks
from tests.series import draws


def split(bucket, value, codes, ranks, effort="fast", seed=1):
    """The groups of some tuples."""
    seeds = np.random.default_rng(seed).integers(0, 2**64, bucket.max(initial=-1) + 1, np.uint64)
    return group_people(bucket, value, codes, ranks, effort, seeds)


def perimeter(part):
    """|BUC| times the sum of the lengths of the minimum intervals; tuples are (row, codes)."""
    lengths = 0
    for column in zip(*(codes for _, codes in part), strict=True):
        filled = [code for code in column if code != EMPTY]
        lengths += max(filled) - min(filled) if filled else 0
    return len(part) * lengths


def split_by_the_book(lists):
    """QI groups, as sets of rows, of a bucket given as one list of (row, codes) per sensitive value."""
    length = len(lists[0])
    if length == 1:
        return {frozenset(row for ((row, _),) in lists)}
    schemes = []
    for attribute in range(len(lists[0][0][1])):
        ordered = [sorted(each, key=lambda item: (item[1][attribute], item[0])) for each in lists]
        for k in range(1, length):
            parts = [each[:k] for each in ordered], [each[k:] for each in ordered]
            cost = sum(perimeter([*chain(*part)]) for part in parts)
            schemes.append((cost, abs(length - 2 * k), attribute, k, parts))
    assert len(schemes) == len(lists[0][0][1]) * (length - 1)
    *_, (first, second) = min(schemes, key=lambda scheme: scheme[:4])
    return split_by_the_book(first) | split_by_the_book(second)


def kernel(codes, size):
    group = np.empty(len(codes), np.int32)
    split_bucket(np.ascontiguousarray(codes), size, group)
    groups = {}
    for row, number in enumerate(group.tolist()):
        groups.setdefault(number, set()).add(row)
    assert sorted(groups) == list(range(len(codes) // size))
    return {frozenset(rows) for rows in groups.values()}


def book(codes, size):
    rows = list(enumerate(map(tuple, codes.tolist())))
    length = len(codes) // size
    return split_by_the_book([rows[j * length : (j + 1) * length] for j in range(size)])


@st.composite
def buckets(draw):
    """Codes of a bucket, and the number of its values. In 64ths, sums of codes are exact."""
    size, length, attributes = draw(st.integers(2, 4)), draw(st.integers(1, 12)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    steps = draw(st.sampled_from([1, 4, 64]))
    codes = rng.integers(0, steps + 1, (size * length, attributes)) / 64
    if draw(st.booleans()):
        codes = codes**4
    counterfeit = rng.random(size * length) < draw(st.sampled_from([0, 0.1, 0.5]))
    codes[counterfeit] = EMPTY
    return codes, size


@settings(max_examples=150)
@given(buckets())
def test_the_kernel_takes_the_best_of_all_schemes_at_every_split(bucket):
    assert kernel(*bucket) == book(*bucket)


def test_counterfeits_precede_everybody():
    codes = np.array([[0.9], [0.1], [EMPTY], [0.2]])
    assert kernel(codes, 2) == {frozenset({1, 2}), frozenset({0, 3})}


def test_a_bucket_of_one_tuple_per_value_is_a_group():
    assert kernel(np.array([[0.3], [EMPTY], [0.1]]), 3) == {frozenset({0, 1, 2})}


def test_which_value_is_which_makes_no_difference():
    # Swap two values throughout a bucket: the groups are the same, so they can't tell the two apart.
    rng = np.random.default_rng(5)
    for _ in range(30):
        codes = rng.random((3 * 8, 2))
        codes[rng.random(24) < 0.2] = EMPTY
        row = np.concatenate([np.arange(8, 16), np.arange(8), np.arange(16, 24)])
        swapped = {frozenset(row[list(group)].tolist()) for group in kernel(codes[row], 3)}
        assert swapped == kernel(codes, 3)


def test_people_who_are_all_alike_are_halved_and_not_peeled_off():
    # Peeling one layer at a time would take 50,000 passes over 50,000 layers.
    assert len(kernel(np.full((100_000, 2), 0.5), 2)) == 50_000


def ranks(tuples, number=1):
    """A secret order of so many tuples."""
    return keyed_ranks(
        pl.Series([str(row) for row in range(tuples)], dtype=pl.String), draws(number)("split")
    )


@pytest.fixture
def tuples():
    """Three buckets, with 2, 3 and 2 values, 30 layers each; rows in no order."""
    rng = np.random.default_rng(3)
    layers = [
        (bucket, value) for bucket, values in enumerate(([0, 1], [1, 2, 4], [3, 4])) for value in values
    ]
    rows = rng.permutation(np.repeat(layers, 30, axis=0))
    return rows[:, 0], rows[:, 1], rng.random((len(rows), 2))


def test_each_group_is_of_one_bucket_and_has_each_of_its_values_once(tuples):
    bucket, value, codes = tuples
    group = split(bucket, value, codes, ranks(len(bucket)))
    assert sorted(set(group.tolist())) == list(range(90))
    for number in range(90):
        rows = group == number
        (its_bucket,) = set(bucket[rows].tolist())
        assert sorted(value[rows].tolist()) == [[0, 1], [1, 2, 4], [3, 4]][its_bucket]


def test_the_order_of_rows_decides_nothing(tuples):
    bucket, value, codes = tuples
    rank, order = ranks(len(bucket)), np.random.default_rng(4).permutation(len(bucket))
    for quasi_identifiers in (codes, np.zeros_like(codes)):
        group = split(bucket, value, quasi_identifiers, rank)
        shuffled = split(bucket[order], value[order], quasi_identifiers[order], rank[order])
        assert shuffled.tolist() == group[order].tolist()


def test_the_company_of_equals_is_secret_and_repeatable(tuples):
    bucket, value, codes = tuples
    alike = np.zeros_like(codes)
    one, again, other = (split(bucket, value, alike, ranks(len(bucket), n)).tolist() for n in (1, 1, 2))
    assert one == again
    assert one != other


def test_no_tuples_make_no_groups():
    none = np.empty(0, np.int64)
    assert split(none, none, np.empty((0, 2)), ranks(0)).tolist() == []


def test_a_bucket_that_is_not_balanced_is_not_split():
    with pytest.raises(AssertionError, match="equally often"):
        split(np.zeros(3, np.int64), np.array([0, 0, 1]), np.zeros((3, 1)), ranks(3))
