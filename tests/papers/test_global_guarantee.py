"""The examples of Wong, Fu, Liu, Wang and Xu, Preserving individual privacy in serial data publishing."""

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import polars as pl
import pytest

from republish.anonymize.attack.breach import breach_probability, by_promise, link_probabilities
from republish.anonymize.global_guarantee.forecast import longest_plan
from republish.anonymize.global_guarantee.parameters import GlobalGuarantee
from republish.anonymize.global_guarantee.strategy import (
    ConstantRatio,
    Minimum,
    budget,
    spending,
    strategy_of,
)
from tests.anonymize.global_guarantee.guarantee_series import ratio

FIGURE_2 = (["flu", "chlamydia"], ["chlamydia", "flu"])
"""The group of the first two people in each release."""
FIGURE_4 = (["flu", "chlamydia", "flu", "fever"], ["chlamydia", "flu", "fever", "flu"])
"""The only group of each release."""


def worlds(groups):
    """Every way to give the values of a person's groups to their members; the person is the first one."""
    return list(product(*(permutations(group) for group in groups)))


def ever_linked(groups, value) -> Fraction:
    """The share of possible worlds in which the first person has the value in at least one release."""
    every = worlds(groups)
    return Fraction(sum(any(release[0] == value for release in world) for world in every), len(every))


def attacked(groups, value) -> float:
    """What the attack computes from published tables in which one person is in these groups."""
    return links(groups).filter(pl.col("value") == value)["breach"].item()


def above_one_half(links):
    return by_promise(links.with_columns(most=pl.lit(1 / 2)))["above"].sum()


def links(groups) -> pl.DataFrame:
    """The probability of each value."""
    state = None
    for group in groups:
        hosts = pl.DataFrame({"person": ["o"], "group_id": [1]})
        values = (
            pl.Series("value", group).value_counts(name="tuples").with_columns(group_id=pl.lit(1, pl.Int64))
        )
        state = breach_probability(link_probabilities(hosts, values), state)
    return state


def test_figures_1_to_3_small_groups():
    """Four possible worlds, three of which link the person to chlamydia."""
    assert len(worlds(FIGURE_2)) == 4
    assert ever_linked(FIGURE_2, "chlamydia") == Fraction(3, 4)
    assert attacked(FIGURE_2, "chlamydia") == pytest.approx(3 / 4)
    assert (
        by_promise(links(FIGURE_2).filter(value="chlamydia").with_columns(most=pl.lit(1 / 2)))["above"].sum()
        == 1
    )


def test_figure_4_large_groups():
    assert ever_linked(FIGURE_4, "chlamydia") == Fraction(7, 16)
    assert attacked(FIGURE_4, "chlamydia") == pytest.approx(7 / 16)
    assert (
        by_promise(links(FIGURE_4).filter(value="chlamydia").with_columns(most=pl.lit(1 / 2)))["above"].sum()
        == 0
    )


def test_lemma_4_2_on_groups_with_repeated_values():
    """The closed form is the share of possible worlds also where values repeat."""
    groups = (["flu", "flu", "gout"], ["gout", "flu", "fever", "gout"], ["fever", "gout"])
    for value in ("flu", "gout", "fever"):
        assert attacked(groups, value) == pytest.approx(float(ever_linked(groups, value)))


def test_corollary_2_the_global_guarantee_is_strictly_stronger():
    """Each release alone links the person with 1/2 at most; both together do not."""
    assert all(ever_linked([group], "chlamydia") == Fraction(1, 2) for group in FIGURE_2)
    assert ever_linked(FIGURE_2, "chlamydia") > Fraction(1, 2)


def test_theorem_5_1_running_example():
    """After two groups of four a third has to have nine tuples for each of the value."""
    spent = 2 * spending(1 / 4)
    assert ratio(Minimum(), spent, budget(2)) == pytest.approx(9)
    quarter, ninth, eighth = (["x"] + ["y"] * (size - 1) for size in (4, 9, 8))
    assert attacked((quarter, quarter, ninth), "x") == pytest.approx(1 / 2)
    assert attacked((quarter, quarter, eighth), "x") > 1 / 2


@pytest.mark.parametrize("l", [2, 3, 5, 10])
@pytest.mark.parametrize("earlier", [(), (20,), (40, 50), (100, 30, 64)])
def test_theorem_5_1_is_the_formula_of_products(l, earlier):
    """r_k >= Q / (Q - (1 - 1/l)), with Q the product of 1 - 1/r_i."""
    escaped = np.prod([Fraction(r - 1, r) for r in earlier], initial=Fraction(1))
    minimum = escaped / (escaped - (1 - Fraction(1, l)))
    spent = sum(spending(1 / r) for r in earlier) if earlier else np.zeros(())
    assert ratio(Minimum(), spent, budget(l)) == pytest.approx(float(minimum))


def test_corollary_5_1_and_theorem_5_2_equality_leaves_nothing():
    """A release with exactly the minimum ratio makes every later one with the value a breach."""
    spent = 2 * spending(1 / 4) + spending(1 / 9)
    assert -np.expm1(-spent) == pytest.approx(1 / 2)
    assert ratio(Minimum(), spent, budget(2)) > 1e9


def test_lemma_5_1_a_group_without_the_value_changes_nothing():
    assert attacked((*FIGURE_4, ["flu", "fever"]), "chlamydia") == pytest.approx(7 / 16)


@pytest.mark.parametrize(
    ("l", "releases", "printed"),
    [
        (2, 2, 3.44), (2, 5, 7.75), (2, 20, 29.41), (5, 20, 90.13), (10, 20, 190.33),
        (2, 10, 15.10), (5, 10, 45.35), (10, 10, 95.42),
    ],
)  # fmt: skip
def test_table_1_constant_ratios(l, releases, printed):
    """The exact ratio keeps the bound with equality; the paper's figures are rounded up, by 1.2 % at most."""
    parameters = GlobalGuarantee(name="global_guarantee", l=l, strategy="constant_ratio", releases=releases)
    exact = float(ratio(strategy_of(parameters), np.zeros(()), budget(l)))
    assert exact == pytest.approx(1 / (1 - (1 - 1 / l) ** (1 / releases)))
    assert 1 - (1 - 1 / exact) ** releases == pytest.approx(1 / l)
    assert exact <= printed <= 1.012 * exact


def test_theorem_6_1_no_series_of_ratios_has_a_smaller_largest_one():
    """Whatever else keeps the bound for as many releases has one ratio at least as large."""
    rng = np.random.default_rng(1)
    constant = float(ratio(ConstantRatio(5), np.zeros(()), budget(2)))
    for parts in rng.dirichlet(np.ones(5), 200):
        assert (1 / -np.expm1(-parts * budget(2))).max() >= constant * (1 - 1e-9)


def test_theorem_5_3_monotonicity():
    """Of any partition of a group that breaks the bound, one part breaks it."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        group = rng.integers(0, 3, 12)
        part = rng.integers(0, 3, 12)
        share = (group == 0).mean()
        parts = [(group[part == p] == 0).mean() for p in np.unique(part)]
        assert max(parts) >= share - 1e-12


def test_how_long_any_strategy_can_go_on():
    """Shares of 1/29.4 fill twenty releases with l = 2: no plan can be longer."""
    assert longest_plan(2, 1 / float(ratio(ConstantRatio(20), np.zeros(()), budget(2)))) == 20
