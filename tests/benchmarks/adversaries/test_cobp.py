"""Reconstruction by CoBP-RA: its score, its beliefs by hand, and people whom it is to find."""

from itertools import product

import networkx as nx
import numpy as np
import polars as pl
import pytest

from benchmarks.adversaries.cobp import (
    _together,
    beliefs,
    cobp_ra,
    most_frequent,
    of_the_nearest,
    rarity_weighted,
)
from benchmarks.adversaries.reconstruction import dealt
from republish.anonymize.formats.published import Published


def test_each_value_weighs_the_same_however_frequent_it_is():
    """Three of 0, one of 1, two of 2: a half of the score of 0 is a sixth in all."""
    truth = np.array([0, 0, 0, 1, 2, 2])
    assert rarity_weighted(truth, np.zeros(6, int)) == pytest.approx(1 / 3)
    assert rarity_weighted(truth, truth) == 1
    assert rarity_weighted(truth, np.array([0, 1, 1, 1, 2, 0])) == pytest.approx((1 / 3 + 1 + 1 / 2) / 3)


def test_values_go_together_by_as_much_as_they_are_more_frequent_than_by_chance():
    found = _together(np.array([[2.0, 1], [1, 4]]))
    assert found == pytest.approx(np.log([[2 * 8 / 9, 8 / 15], [8 / 15, 4 * 8 / 25]]))


@pytest.mark.parametrize("seed", range(5))
def test_beliefs_are_the_sums_over_all_combinations(seed):
    rng = np.random.default_rng(seed)
    sizes = {"a": 2, "b": 3, "c": 2, "d": 4, "alone": 2}
    tree = nx.Graph([("a", "b"), ("c", "b"), ("b", "d")])
    tree.add_node("alone")
    answers = {name: np.log(rng.dirichlet(np.ones(size), 2)) for name, size in sizes.items()}
    edges = {("a", "b"): 2, ("b", "c"): 1, ("d", "b"): 2}
    edges = {pair: rng.normal(size=(people, *(sizes[one] for one in pair))) for pair, people in edges.items()}
    found = beliefs(tree, answers, edges)
    for person in range(2):
        summed = {name: np.zeros(size) for name, size in sizes.items()}
        for chosen in product(*map(range, sizes.values())):
            at = dict(zip(sizes, chosen, strict=True))
            weight = sum(answers[name][person, value] for name, value in at.items())
            for (one, other), pair in edges.items():
                weight += pair[person % len(pair), at[one], at[other]]
            for name, value in at.items():
                summed[name][value] += np.exp(weight)
        for name, sums in summed.items():
            assert np.exp(found[name][person]) == pytest.approx(sums / sums.sum())


def test_what_goes_together_tells_what_a_known_attribute_does_not():
    """b follows the known attribute, and c follows b: both are found; of noise only what is frequent."""
    rng = np.random.default_rng(1)
    known = rng.integers(0, 4, 2_000)
    rows = {"known": known, "b": known % 2, "c": 1 - known % 2, "noise": (rng.random(2_000) < 0.2) * 1}
    targets = {name: column[:200] for name, column in rows.items()}
    hidden = ["b", "c", "noise"]
    found = cobp_ra(rows, {"known": targets["known"]}, ["known"], hidden)
    assert rarity_weighted(targets["b"], found["b"]) == 1
    assert rarity_weighted(targets["c"], found["c"]) == 1
    assert rarity_weighted(targets["noise"], found["noise"]) == 0.5


def test_the_nearest_row_has_everything_of_a_person_who_is_published_as_they_are():
    rows = {"age": np.array([20, 30, 40]), "sex": np.array([0, 1, 0]), "value": np.array([5, 6, 6])}
    targets = {"age": np.array([31, 22]), "sex": np.array([1, 0])}
    assert of_the_nearest(rows, targets, ["age", "sex"], ["value"])["value"].tolist() == [6, 5]
    assert most_frequent(rows, ["value"], 2)["value"].tolist() == [6, 6]


def test_rows_are_dealt_as_groups_have_them():
    """A group of one interval with two values, and one of exact rows with a value three times."""
    boxes = pl.DataFrame({"group_id": [1, 2, 2], "qi_0_low": [3, 7, 9], "qi_0_high": [5, 7, 9]})
    values = pl.DataFrame({"group_id": [1, 1, 2], "value": ["a", "b", "c"], "tuples": [40, 20, 30]})
    rows = dealt(Published(boxes, values, values.clear()), seed=1)
    counted = {value: sorted(set(some["qi_0"])) for (value,), some in rows.group_by("value")}
    assert counted == {"a": [3, 4, 5], "b": [3, 4, 5], "c": [7, 9]}
    assert rows["value"].value_counts().sort("value")["count"].to_list() == [40, 20, 30]
