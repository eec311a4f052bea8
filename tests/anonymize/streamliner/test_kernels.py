"""The streamliner's kernels against plain Python."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from republish.anonymize.kernels.rda_groups import rda_groups
from republish.anonymize.kernels.ria_images import ria_images


def by_the_book(sizes, l):
    """Table 6 on counts, sorting the colors anew for every group: the colors of each group."""
    left = Counter(dict(enumerate(sizes)))
    groups = []
    while len(+left) >= l:
        first = max(left, key=lambda color: (left[color], -color))
        while left[first] and len(+left) >= l:
            others = sorted((color for color in +left if color != first), key=lambda color: -left[color])
            chosen = [first, *others[: l - 1]]
            left -= Counter(chosen)
            groups.append(chosen)
    for color in sorted(+left, key=lambda color: -left[color]):
        for _ in range(left[color]):
            min((group for group in groups if color not in group), key=len).append(color)
    return groups


@st.composite
def eligible_sizes(draw):
    l = draw(st.integers(2, 5))
    sizes = draw(st.lists(st.integers(1, 12), min_size=l, max_size=12))
    while max(sizes) * l > sum(sizes):
        sizes.append(max(sizes))
    return l, np.array(sizes, np.int64)


@settings(max_examples=50)
@given(eligible_sizes())
def test_rda_takes_the_colors_that_table_6_takes(case):
    l, sizes = case
    group, color = rda_groups(sizes, l)
    expected = by_the_book(sizes.tolist(), l)
    assert np.bincount(color, minlength=len(sizes)).tolist() == sizes.tolist()
    found = [sorted(color[group == number].tolist()) for number in range(group.max() + 1)]
    assert all(len(set(colors)) == len(colors) >= l for colors in found)
    # Which of equally large colors is taken is open, and with it how many groups get one more.
    assert len(found) == len(expected) == sizes.sum() // l
    assert sum(map(len, found)) == sum(map(len, expected))


def test_rda_takes_the_largest_colors_first():
    group, color = rda_groups(np.array([1, 4, 2, 3]), 2)
    found = [sorted(color[group == number].tolist()) for number in range(5)]
    # Colors of 1, 4, 2 and 3: the largest has four groups, with the largest of the others in each.
    assert sorted(found) == [[0, 1], [1, 2], [1, 3], [1, 3], [2, 3]]


@settings(max_examples=50)
@given(eligible_sizes(), st.integers(0, 2**64 - 1))
def test_ria_draws_unused_identifiers_of_different_other_colors(case, seed):
    l, sizes = case
    starts = np.concatenate([[0], np.cumsum(sizes)])
    color = np.repeat(np.arange(len(sizes)), sizes)
    images = ria_images(starts, l, np.uint64(seed))
    assert images.shape == (sizes.sum(), l - 1)
    for value in range(len(sizes)):
        drawn = images[color == value]
        assert len(np.unique(drawn)) == drawn.size
        for row in drawn:
            assert len({*color[row].tolist(), value}) == l


def test_ria_draws_every_identifier_equally_often():
    starts = np.array([0, 3, 6, 9])
    rng = np.random.default_rng(1)
    drawn = Counter()
    for seed in rng.integers(2**64, size=3000, dtype=np.uint64):
        drawn.update(ria_images(starts, 2, seed)[0].tolist())
    assert set(drawn) == {3, 4, 5, 6, 7, 8}
    assert max(abs(count - 500) for count in drawn.values()) < 110


@pytest.mark.parametrize("l", [2, 3])
def test_ria_finds_candidates_where_only_one_choice_of_colors_is_left(l):
    sizes = np.array([4] * l)
    images = ria_images(np.concatenate([[0], np.cumsum(sizes)]), l, np.uint64(5))
    assert np.unique(images[:4]).tolist() == list(range(4, 4 * l))
