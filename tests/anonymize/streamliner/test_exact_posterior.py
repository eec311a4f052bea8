"""The adversary who knows the algorithm, exactly: every table and every secret order is tried."""

from fractions import Fraction

import numpy as np
import pytest

from anonymize.streamliner.candidates import gda, rda, ria
from anonymize.streamliner.partition import minimal_partition
from tests.anonymize.streamliner.gda_of_table_7 import gda_of_table_7
from tests.anonymize.streamliner.streamliner_tables import (
    all_orders,
    as_published,
    orders_within_colors,
    worst_posterior,
)

BATCHES = [
    (2, (0, 0, 1, 1)),
    (2, (0, 0, 1, 2)),
    (2, (0, 0, 1, 1, 2)),
    (2, (0, 0, 1, 2, 3)),
    (3, (0, 0, 1, 1, 2, 2)),
    (3, (0, 1, 2, 3, 4)),
    (2, (0, 0, 0, 1, 1, 2)),
    (2, (0, 0, 1, 1, 2, 3)),
]
"""l, and the values of a table."""
DISTANCES = [(0, 1, 2, 3, 4, 5), (0, 1, 5, 6, 7, 20), (0, 0, 0, 9, 9, 9), (3, 3, 3, 3, 3, 3), (0, 9, 1, 8, 2, 7)]
"""Weighted ranks of up to six people."""


@pytest.mark.parametrize(("l", "colors"), BATCHES)
def test_ria_leaves_no_value_above_one_in_l(l, colors):
    seeds = [np.random.default_rng(seed) for seed in range(3)]
    for seed in seeds:
        state = seed.bit_generator.state

        def publish(color, ranks, seed=seed, state=state):
            seed.bit_generator.state = state
            return as_published(minimal_partition(ria(color, ranks, l, seed)), color)

        assert worst_posterior(publish, colors, orders_within_colors) <= Fraction(1, l)


@pytest.mark.parametrize(("l", "colors"), BATCHES)
def test_rda_leaves_no_value_above_one_in_l(l, colors):
    worst = worst_posterior(
        lambda color, ranks: as_published(rda(color, ranks, l), color), colors, orders_within_colors
    )
    assert worst <= Fraction(1, l)


@pytest.mark.parametrize(("l", "colors"), BATCHES)
@pytest.mark.parametrize("distances", DISTANCES)
def test_gda_leaves_no_value_above_one_in_l(l, colors, distances):
    weighted = np.array(distances[: len(colors)], float)
    worst = worst_posterior(
        lambda color, ranks: as_published(gda(color, ranks, weighted, l), color),
        colors,
        orders_within_colors,
    )
    assert worst <= Fraction(1, l)


def test_gda_as_printed_gives_values_away():
    found = {}
    for l, colors in BATCHES[1:3]:
        for distances in DISTANCES:
            weighted = np.array(distances[: len(colors)], float)
            found[l, colors, distances] = worst_posterior(
                lambda color, ranks, l=l, weighted=weighted: as_published(
                    gda_of_table_7(color, ranks, weighted, l), color
                ),
                colors,
                all_orders,
            )
    above = {case: worst for case, worst in found.items() if worst > Fraction(1, case[0])}
    assert len(above) > len(found) / 4
    assert max(above.values()) == 1


def test_guided_colors_are_what_gives_values_away():
    """One table by hand: l = 2, four people on a line, two of value 0, one of 1 and one of 2."""
    distances = np.array([0.0, 1.0, 5.0, 6.0])
    worst = {
        algorithm: worst_posterior(
            lambda color, ranks, algorithm=algorithm: as_published(
                algorithm(color, ranks, distances, 2), color
            ),
            (0, 0, 1, 2),
            all_orders,
        )
        for algorithm in (gda, gda_of_table_7)
    }
    assert worst[gda] == Fraction(1, 2)
    assert worst[gda_of_table_7] > Fraction(1, 2)
