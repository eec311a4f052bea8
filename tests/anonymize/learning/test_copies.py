"""Copies of a table that may be the publisher's: what is certain is in each, and the rest differs."""

from dataclasses import replace

import numpy as np
import pytest

from republish.anonymize.learning.copies import PublishedGroups, drawn_copies, pooled
from republish.anonymize.learning.intervals import Cells, Intervals


def intervals(low, high, *, lacking=None, cells=None, codes=100):
    """Groups' intervals on an attribute of so many codes, over which people are spread evenly."""
    low, high = np.array(low), np.array(high)
    return Intervals(
        low=low,
        above=low + 1,
        upper=high,
        high=high,
        is_free=low == high,
        alike=np.full(len(low), 0.1),
        lacking=np.zeros(len(low), int) if lacking is None else np.array(lacking),
        start=np.arange(codes),
        span=np.ones(codes, int),
        mass=np.full(codes, 1 / codes),
        cells=cells,
    )


@pytest.fixture
def groups():
    """Four people with values 0 to 3; and two people, with a counterfeit that has 0, 1 or 2."""
    return PublishedGroups(
        people=np.array([4, 2]),
        size=np.array([4, 3]),
        group=np.array([0, 0, 0, 0, 1, 1, 1]),
        value=np.array([0, 1, 2, 3, 0, 1, 2]),
        tuples=np.ones(7, int),
        kind=np.array([-1, -1, -1, -1, 0, 1, 2]),
        fakes=np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0.5, 0.5, 0]], float),
        intervals=(intervals([10, 30], [20, 30]), intervals([0, 2], [3, 5], codes=6)),
        is_ordered=(True, False),
    )


def test_each_copy_is_a_table_that_the_groups_allow(groups):
    forged = set()
    for copy in drawn_copies(groups, 40, 1):
        first, second = copy.codes[:4], copy.codes[4:]
        assert sorted(copy.value[:4]) == [0, 1, 2, 3]
        assert len(set(copy.value[4:])) == 2
        forged |= {0, 1, 2} - set(copy.value[4:])
        for codes, (low, high) in zip(first.T, ((10, 20), (0, 3)), strict=True):
            assert (codes.min(), codes.max()) == (low, high)
        assert (second[:, 0] == 30).all()
        assert (second[:, 1].min(), second[:, 1].max()) == (2, 5)
    assert forged == {0, 1, 2}


def test_the_same_seed_gives_the_same_copies_and_another_one_others(groups):
    def drawn(seed):
        return [(copy.codes.tolist(), copy.value.tolist()) for copy in drawn_copies(groups, 3, seed)]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    assert drawn(1)[0] != drawn(1)[1]


def test_as_many_people_lack_a_value_as_the_group_says(groups):
    some = replace(groups, intervals=(intervals([10, 0], [20, 0], lacking=[1, 2]), groups.intervals[1]))
    lacking = set()
    for copy in drawn_copies(some, 20, 1):
        assert [(own == -1).sum() for own in (copy.codes[:4, 0], copy.codes[4:, 0])] == [1, 2]
        assert (copy.codes[:, 1] >= 0).all()
        lacking |= set(copy.value[:4][copy.codes[:4, 0] == -1])
    assert lacking == {0, 1, 2, 3}


def test_rows_that_are_exact_stay_whole_and_counterfeits_rows_go(groups):
    rows = np.array([[1, 5], [2, 5], [3, 4], [-1, 4], [7, 1], [8, 1], [9, 1]])
    exact = replace(
        groups,
        intervals=(),
        rows=rows,
        group_of_row=np.array([0] * 4 + [1] * 3),
    )
    gone = set()
    for copy in drawn_copies(exact, 30, 1):
        assert sorted(copy.codes[:4].tolist()) == sorted(rows[:4].tolist())
        assert {tuple(row) for row in copy.codes[4:]} <= {tuple(row) for row in rows[4:]}
        gone |= {7, 8, 9} - set(copy.codes[4:, 0])
    assert gone == {7, 8, 9}


def test_nobody_is_in_copies_of_nobody(groups):
    one = np.empty(0, int)
    nobody = replace(groups, people=one, size=one, group=one, value=one, tuples=one, kind=one)
    found = [copy.codes.shape for copy in drawn_copies(nobody, 2, 1)]
    assert found == [(0, 2), (0, 2)]


def test_people_of_a_cell_stay_in_it_and_before_its_step(groups):
    """The second cell's people are all in its upper half, and the first cell's are together in a quarter."""
    cells = Cells(
        10.0,
        start=np.arange(0, 100, 10),
        span=np.full(10, 10),
        is_rising=np.ones(10, bool),
        nearer=np.where(np.arange(10) == 1, 0.5, 1.0),
        filled=np.ones(10),
        uneven=np.where(np.arange(10) == 0, 1.0, 0.0),
    )
    here = replace(groups, intervals=(intervals([0, 10], [9, 19], cells=cells), groups.intervals[1]))
    quarters = set()
    for copy in drawn_copies(here, 60, 1):
        first, second = copy.codes[:4, 0], copy.codes[4:, 0]
        assert (first // 10 == 0).all()
        quarters.add(frozenset((first // 2.5).astype(int)))
        assert (second >= 15).all()
        assert (second < 20).all()
    assert {min(one) for one in quarters} == {0, 1, 2, 3}
    assert max(len(one) for one in quarters) <= 2


def test_answers_are_pooled_by_rubins_rules():
    """Three copies say 10, 12 and 14 (variance 4), each with an error of 3: 9 + (1 + 1/3) 4."""
    assert pooled([10, 12, 14]) == pytest.approx((12, np.sqrt(16 / 3)))
    assert pooled([10, 12, 14], [9, 9, 9]) == pytest.approx((12, np.sqrt(9 + 16 / 3)))
    assert pooled([5.0]) == (5.0, 0.0)
