"""Means and quartiles of a made-up hospital are as near to the truth as they say."""

import numpy as np
import pytest

from benchmarks.measures.estimates import hospital, last
from benchmarks.measures.means import measured
from benchmarks.measures.regressions import least_squares, pooled
from republish.orchestration.demo.hospital import hospital_snapshots


@pytest.mark.parametrize("kind", ["mean", "quartile"])
def test_intervals_of_means_and_quartiles_are_right(kind, answers):
    true, estimated, low, high = answers["age", kind].T
    assert len(true) > 90
    assert ((low - 1e-9 <= true) & (true <= high + 1e-9)).mean() > 0.9
    assert (high - low).mean() / 2 < 4 * 1.96 * np.abs(estimated - true).mean()


@pytest.fixture(scope="module")
def answers():
    return measured(last(hospital_snapshots(1, 4_000, 1), hospital(name="m_invariance", m=4)), 12)


def test_rubins_rules_add_what_tables_differ_by():
    """Of slopes 1, 2 and 3 with errors of 1 the variance is 1 + 4/3, with 6.125 degrees of freedom."""
    slope, half = pooled(np.array([1.0, 2.0, 3.0]), np.ones(3))
    assert slope == 2
    assert half == pytest.approx(2.43486 * np.sqrt(7 / 3), rel=1e-4)


def test_slopes_and_errors_are_those_of_least_squares():
    """y = 1, 2, 4 at x = 0, 1, 2: the slope is 1.5, and its variance (1/6) / 2."""
    slopes, squares = least_squares(np.array([[0.0], [1.0], [2.0]]), np.array([[1.0], [2.0], [4.0]]))
    assert slopes == pytest.approx(1.5)
    assert squares == pytest.approx(1 / 12)
