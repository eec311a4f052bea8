"""What each strategy lets a release spend."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from republish.anonymize.global_guarantee.strategy import (
    ConstantRatio,
    Geometric,
    Minimum,
    admitted_share,
    budget,
    spending,
)
from tests.anonymize.global_guarantee.guarantee_series import ratio

ANY = st.one_of(
    st.builds(ConstantRatio, st.integers(1, 40)),
    st.builds(Geometric, st.floats(0.05, 0.95)),
    st.just(Minimum()),
)


@given(ANY, st.integers(2, 20), st.lists(st.floats(0, 1), max_size=60))
def test_nothing_is_ever_spent_above_the_budget(strategy, l, parts):
    """Whatever part of the allowance each release really spends."""
    whole, spent = budget(l), np.zeros(())
    for part in parts:
        allowance = strategy.allowance(spent, whole)
        assert 0 <= allowance <= whole - spent + 1e-12
        spent = spent + part * allowance
    assert -np.expm1(-spent) <= 1 / l + 1e-9


@given(ANY, st.integers(2, 20), st.floats(0, 1), st.floats(0, 1))
def test_whoever_spent_more_is_never_allowed_more(strategy, l, one, other):
    """What the kernels rely on: no link admits a larger share than no link does."""
    whole = budget(l)
    more, less = max(one, other) * whole, min(one, other) * whole
    assert strategy.allowance(more, whole) <= strategy.allowance(less, whole)


@given(st.floats(0.05, 0.95), st.integers(2, 20))
def test_geometric_ratios(a, l):
    """r_i = 1 / (1 - (1 - 1/l)^((1 - a) a^(i - 1))) if every release spends all it may."""
    spent = np.zeros(())
    for i in range(1, 8):
        expected = 1 / (1 - (1 - 1 / l) ** ((1 - a) * a ** (i - 1)))
        assert float(ratio(Geometric(a), spent, budget(l))) == pytest.approx(expected, rel=1e-6)
        spent = spent + Geometric(a).allowance(spent, budget(l))
    assert spent < budget(l)


def test_constant_ratio_goes_on_with_what_larger_groups_left():
    strategy, whole = ConstantRatio(2), budget(2)
    thrifty = np.zeros(())
    for _ in range(3):
        thrifty = thrifty + spending(1 / 5)
    assert strategy.allowance(thrifty, whole) == pytest.approx(whole - thrifty)
    assert ratio(strategy, whole, whole) == np.inf


@given(st.floats(0.001, 0.9))
def test_a_share_spends_what_it_was_admitted_for(share):
    assert admitted_share(spending(share)) == pytest.approx(share)
