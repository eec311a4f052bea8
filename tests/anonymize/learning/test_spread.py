"""How people are spread over an attribute: intervals that are worked by hand, and known densities."""

import numpy as np
import pytest
from scipy.special import gammaln

from republish.anonymize.learning.intervals import all_within
from republish.anonymize.learning.spread import (
    BINS,
    LEAST_LIKENESS,
    PRIOR,
    Domain,
    are_cells,
    intervals_of,
    is_widened,
)


def spread(low, high, people, domain, known=None):
    low, high, people = (np.array(one, np.int64) for one in (low, high, people))
    return intervals_of(low, high, people if known is None else np.array(known), people, domain)


def test_people_whose_codes_are_published_are_counted():
    found = spread([0, 0, 2], [0, 0, 2], [3, 5, 2], Domain(4))
    more = PRIOR * BINS / 4
    assert found.mass * (10 + 4 * more) == pytest.approx(np.array([8, 0, 2, 0]) + more)
    assert found.start.tolist() == [0, 1, 2, 3]
    assert found.span.tolist() == [1, 1, 1, 1]
    assert found.is_free.all()
    assert found.cells is None


def test_of_two_people_one_is_at_either_end():
    found = spread([0] * 11, [0] * 10 + [3], [1] * 10 + [2], Domain(4))
    more = PRIOR * BINS / 4
    assert found.mass * (12 + 4 * more) == pytest.approx(np.array([11, 0, 0, 1]) + more, abs=0.01)
    assert found.above[-1] == 1
    assert found.upper[-1] == 3
    assert not found.is_free[-1]


def test_people_who_lack_a_value_are_nowhere():
    found = spread([5, 7, 0], [9, 7, 0], [4, 2, 3], Domain(10), known=[3, 2, 0])
    assert found.lacking.tolist() == [1, 0, 3]
    assert found.low.tolist() == [5, 7, 0]
    assert found.high.tolist() == [9, 7, 0]
    nobody = spread([0], [0], [3], Domain(10), known=[0])
    assert nobody.mass == pytest.approx(0.1)


@pytest.mark.parametrize("codes", [100, 5000, 10_000_000])
def test_a_density_is_found_again_from_intervals_alone(codes):
    """People of a triangular distribution in groups of four neighbours out of thirty."""
    random = np.random.default_rng(1)
    people = np.sort((random.triangular(0.1, 0.3, 0.9, 12_000) * codes).astype(np.int64)).reshape(-1, 120)
    groups = random.permuted(people, axis=1).reshape(-1, 4)
    found = spread(groups.min(axis=1), groups.max(axis=1), np.full(len(groups), 4), Domain(codes))
    upto = np.searchsorted(np.sort(people.ravel()), found.start) / people.size
    assert np.abs(np.cumsum(found.mass) - found.mass - upto).max() < 0.02
    assert found.mass.sum() == pytest.approx(1)
    assert (found.start[1:] == found.start[:-1] + found.span[:-1]).all()


def test_a_code_that_is_often_an_end_has_a_step_of_its_own():
    found = spread([400] * 50 + list(range(50)), [400] * 50 + list(range(50)), [1] * 100, Domain(1280))
    (at,) = np.flatnonzero(found.start == 400)
    assert found.span[at] == 1
    assert found.mass[at] * (100 + PRIOR * BINS) == pytest.approx(50 + PRIOR * BINS / 1280)
    assert not np.isin([401], found.start[found.span == 1]).any()


def test_labels_beside_each_other_have_steps_of_their_own_however_many_there_are():
    """Of labels 0, 1, 2, …, every second one has nine times as many people as the next."""
    own = np.repeat(np.arange(400), np.tile([9, 1], 200))
    labels = spread(own, own, np.ones(2000), Domain(400, is_ordered=False))
    assert labels.span.tolist() == [1] * 400
    assert labels.mass[::2] / labels.mass[1::2] == pytest.approx(np.full(200, 9), rel=0.15)
    assert spread(own, own, np.ones(2000), Domain(400)).span.max() > 1


def test_groups_of_neighbours_are_alike_and_groups_made_by_lot_are_not():
    low = np.arange(0, 1000, 10)
    neighbours = spread(low, low + 9, [4] * 100, Domain(1000))
    assert neighbours.alike == pytest.approx(0.5, abs=0.01)
    by_lot = spread([1] * 100, [998] * 100, [4] * 100, Domain(1000))
    assert (by_lot.alike == LEAST_LIKENESS).all()
    equal = spread([7] * 3, [7] * 3, [2] * 3, Domain(1000))
    assert (equal.alike == LEAST_LIKENESS).all()


@pytest.mark.parametrize("alike", [0.001, 0.2, 1])
def test_all_others_are_within_a_share_as_often_as_an_urn_says(alike):
    people, share = np.array([1, 2, 3, 40, 65, 20_000]), np.array([0.9, 0.3, 1e-9, 0.97, 0.8, 0.999])
    within, each = share / alike, 1 / alike
    logarithm = gammaln(within + people) - gammaln(within + 1) - gammaln(each + people) + gammaln(each + 1)
    found = all_within(share, people, np.full(6, alike))
    assert found == pytest.approx(np.exp(logarithm), rel=1e-7, abs=1e-12)
    assert found[0] == pytest.approx(1)
    assert found[1] == pytest.approx((0.3 + alike) / (1 + alike))


def test_nobody_need_be_at_the_ends_of_an_interval_that_was_widened():
    grid = Domain(104, width=10, ends_at_cells=True)
    low, high = np.array([0, 20, 90]), np.array([9, 59, 103])
    assert are_cells(low, high, grid)
    assert is_widened(low, high, grid).all()
    assert not are_cells(low + 1, high, grid)
    # An older version widened narrow intervals alone, and its package does not say where ends are.
    older = Domain(104, width=10)
    assert not are_cells(low, high, older)
    assert is_widened(low, high, older).tolist() == [True, False, True]
    assert not is_widened(low, high, Domain(104)).any()


def test_somebody_is_in_the_first_cell_of_an_interval_and_somebody_in_the_last():
    grid = Domain(104, width=10, ends_at_cells=True)
    found = spread([0, 20, 80], [9, 59, 103], [2, 2, 2], grid)
    assert found.is_free.tolist() == [True, False, False]
    assert (found.above[1], found.upper[1]) == (30, 50)
    assert (found.above[0], found.upper[0]) == (1, 9)
    assert (found.above[2], found.upper[2]) == (90, 90)


def test_the_last_cell_has_what_is_left_over():
    grid = Domain(104, width=10, ends_at_cells=True)
    found = spread([70], [103], [3], grid)
    assert (found.above[0], found.upper[0], found.is_free[0]) == (80, 90, False)
    assert found.cells.start.tolist() == list(range(0, 100, 10))
    assert found.cells.span.tolist() == [10] * 9 + [14]


def test_a_cell_between_a_full_and_an_empty_one_may_have_a_step():
    """All people are below 25, evenly: half of the third cell is empty."""
    low = np.repeat([0, 10, 20], [40, 40, 20])
    cells = spread(low, low + 9, np.ones(100), Domain(100, width=10, ends_at_cells=True)).cells
    assert cells.nearer[2] == pytest.approx(0.5)
    assert cells.filled[2] == pytest.approx(0.75)  # half of its people as if there were a step, half evenly
    assert not cells.is_rising[2]
    # The first cell is as full as the one above, and nobody is below it: nothing says that it has a step.
    assert cells.nearer[[0, 1, 3, 9]] == pytest.approx(1)
    assert cells.uneven[2] > cells.uneven[1] > 0
    assert (cells.uneven[3:] == 0).all()


def test_labels_have_no_neighbours():
    low = np.repeat([0, 2, 4], [40, 40, 20])
    domain = Domain(10, is_ordered=False, width=2, ends_at_cells=True)
    cells = spread(low, low + 1, np.ones(100), domain).cells
    assert (cells.nearer == 1).all()
    assert len(np.unique(cells.uneven[:3])) == 1


def test_very_many_cells_say_nothing():
    found = spread([0], [3], [2], Domain(10**12, width=2, ends_at_cells=True))
    assert found.cells is None
    assert found.is_free.tolist() == [False]
