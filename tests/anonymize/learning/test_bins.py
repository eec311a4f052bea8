"""Numbers are drawn in their bins, as the bins beside them say that they lie."""

import itertools

import numpy as np
import pytest

from republish.anonymize.learning.bins import OFF_TYPICAL, Bins

EDGES = [0, 10, 20, 40]


def means(bins, own):
    """The mean of many numbers in a bin, in each of many copies."""
    return np.array(
        [bins.drawn(np.full(4000, own), np.random.default_rng(copy)).mean() for copy in range(200)]
    )


def test_numbers_are_in_their_bins_and_missing_ones_are_no_numbers():
    bins, own = Bins.of(EDGES, [5, 50, 1]), np.array([0, 1, 2, -1] * 500)
    drawn = bins.drawn(own, np.random.default_rng(1))
    for at, (low, high) in enumerate(itertools.pairwise(EDGES)):
        assert ((drawn[own == at] >= low) & (drawn[own == at] < high)).all()
    assert np.isnan(drawn[own == -1]).all()
    assert (drawn == bins.drawn(own, np.random.default_rng(1)))[own >= 0].all()


def test_as_many_people_in_each_bin_of_one_width_are_spread_evenly():
    found = means(Bins.of([0, 10, 20, 30], [7, 7, 7]), 1)
    assert found.mean() == pytest.approx(15, abs=0.2)
    assert found.std() == pytest.approx(10 * OFF_TYPICAL, rel=0.2)


def test_numbers_lie_towards_the_fuller_neighbour():
    """By hand: from 10 to 1,000 people over two bins the density rises tenfold in the bin between them."""
    steep = np.log(100) / 2
    expected = 10 + 10 * (1 / (1 - np.exp(-steep)) - 1 / steep)
    assert means(Bins.of([0, 10, 20, 30], [10, 100, 1000]), 1).mean() == pytest.approx(expected, abs=0.25)
    assert means(Bins.of(EDGES, [100, 10, 0]), 0).mean() < 4


def test_whole_bins_of_any_size_are_kept():
    tiny = Bins.of([0, 0.001, 0.002, 0.004], [1, 2, 3])
    drawn = tiny.drawn(np.repeat([0, 1, 2], 100), np.random.default_rng(1))
    assert len(np.unique(drawn)) > 100
    assert drawn.max() < 0.004
    wide = Bins.of([0, 1e7, 2e7], [1, 3]).drawn(np.zeros(100, np.int64), np.random.default_rng(1))
    assert (wide == np.round(wide)).all()
