"""What the global guarantee's cuts give away and groups by lot do not: every table is tried."""

from fractions import Fraction

import numpy as np
import pytest

from benchmarks.adversaries.by_lot import groups_by_lot
from benchmarks.adversaries.cuts import cut_groups, uncut
from benchmarks.adversaries.every_table import as_published, orders_within_colors, worst_posterior
from tests.anonymize.global_guarantee.guarantee_series import make_contract, people_of, publish

NEAR = np.array([0, 1, 5, 6, 7]).reshape(-1, 1) / 20


def posterior(publisher, colors):
    return worst_posterior(
        lambda color, ranks: as_published(publisher(color, ranks), color), colors, orders_within_colors
    )


def test_with_five_people_somebody_is_certain():
    assert posterior(lambda color, _: cut_groups(color, NEAR, 1 / 2), (0, 0, 1, 2, 3)) == 1


def test_the_groups_attacked_are_those_of_a_first_release():
    contract = make_contract(strategy="minimum")
    values = ["a", "b", "a", "c", "d"]
    people = people_of(range(5), values, qi_0=[0, 1, 5, 6, 7], qi_1=["Oslo"] * 5)
    (step,) = publish([contract], [people])
    linkage = dict(step.candidate.linkage.rows())
    published = np.array([linkage[person] for person in people["pseudonym"]])
    group = cut_groups(np.array([0, 1, 0, 2, 3]), NEAR, 1 / 2)
    assert (np.equal.outer(group, group) == np.equal.outer(published, published)).all()


def test_the_attack_on_single_groups_never_strikes_off_the_truth():
    rng = np.random.default_rng(4)
    color, shares = rng.integers(0, 8, 300), rng.random((300, 2))
    group = cut_groups(color, shares, 1 / 2)
    for members in (np.flatnonzero(group == number) for number in range(group.max() + 1)):
        if len(members) <= 6:
            assert (uncut(color[members], shares[members], 1 / 2) == color[members]).all(axis=1).any()


@pytest.mark.parametrize(
    ("colors", "ratio"),
    [((0, 0, 1, 2, 3), 2), ((0, 0, 1, 1, 2), 2), ((0, 1, 1, 2, 2), 2), ((0, 1, 2, 3, 4), 3)],
)
def test_groups_by_lot_keep_the_bound(colors, ratio):
    found = posterior(lambda color, ranks: groups_by_lot(color, ranks, NEAR, 1 / ratio), colors)
    assert found <= Fraction(1, ratio)


def test_groups_by_lot_have_no_value_too_often():
    rng = np.random.default_rng(5)
    for values, most in ((50, 1 / 29.4), (12, 0.2), (3, 0.5)):
        color, shares = rng.integers(0, values, 2_000), rng.random((2_000, 2))
        ranks = rng.permutation(2_000).astype(np.uint64)
        group = groups_by_lot(color, ranks, shares, most)
        counts = np.zeros((group.max() + 1, values), np.int64)
        np.add.at(counts, (group, color), 1)
        assert (counts <= most * counts.sum(axis=1, keepdims=True) + 1e-9).all()
        assert len(counts) > 20
