"""Groups of combinations that differ in every sensitive column, on counts."""

import itertools

import numpy as np
import pytest
import scipy

from republish.anonymize.buckets.counts import Counts
from republish.anonymize.buckets.signatures import Signatures
from republish.anonymize.errors import NotEligible
from republish.anonymize.kernels.heaviest import heaviest_edges
from republish.anonymize.m_invariance.combinations import Combinations
from republish.anonymize.m_invariance.plan_combinations import plan_combinations


def drawn(rng, columns, people, values):
    """Random people of skewed, correlated columns: their combinations, and how many have each."""
    first = np.minimum(rng.geometric(0.3, people) - 1, values - 1)
    linked = (first * rng.integers(0, 2, people) + rng.integers(0, values, people)) % values
    others = [rng.integers(0, values, people) for _ in range(columns - 2)]
    rows = np.stack([first, linked, *others], axis=1) + values * np.arange(columns)
    part, number = np.unique(rows, axis=0, return_counts=True)
    return Combinations(part, values * columns), number


def grouped(people, combinations, m):
    """Steps until nobody is left, or no step is found; and who is left."""
    steps, people = [], people.copy()
    while people.any() and (step := combinations.next_step(people, m)) is not None:
        parts = combinations.part[step.signature]
        assert len(step.signature) >= m
        assert len(np.unique(parts)) == parts.size, "two combinations of a signature share a value"
        assert step.groups >= 1
        people[step.signature] -= step.groups
        assert people.min() >= 0
        assert combinations.are_eligible(people, m)
        steps.append(step)
    return steps, people


def test_two_columns_leave_nobody_over_if_no_value_is_that_of_more_than_one_in_m():
    rng, eligible = np.random.default_rng(1), 0
    for _ in range(150):
        m = int(rng.integers(2, 5))
        combinations, people = drawn(rng, 2, int(rng.integers(2, 60)), int(rng.integers(m, 9)))
        if combinations.are_eligible(people, m):
            eligible += 1
            assert not grouped(people, combinations, m)[1].any()
    assert eligible > 30


def test_with_three_columns_people_may_be_left_over_although_every_value_is_rare_enough():
    part = np.array([[0, 2, 4], [0, 3, 5], [1, 2, 5], [1, 3, 4]])
    combinations, people = Combinations(part, 6), np.array([1, 1, 1, 1])
    assert combinations.are_eligible(people, 2)
    assert combinations.next_step(people, 2) is None


def test_with_three_columns_groups_are_found_where_an_exhaustive_search_finds_one():
    rng, found = np.random.default_rng(2), 0
    for _ in range(60):
        combinations, people = drawn(rng, 3, int(rng.integers(4, 14)), 4)
        if not combinations.are_eligible(people, 2):
            continue
        pairs = itertools.combinations(range(len(people)), 2)
        after = (
            people - np.isin(np.arange(len(people)), pair) for pair in pairs if _differ(combinations, pair)
        )
        exists = any(combinations.are_eligible(left, 2) for left in after)
        if exists and people.sum() % 2 == 0:
            found += 1
            assert combinations.next_step(people, 2) is not None
    assert found > 5


def _differ(combinations, pair):
    first, second = combinations.part[list(pair)]
    return bool((first != second).all())


def spread_over(rng, free, cells):
    """People by combination and cell, at random; None without cells."""
    return rng.multinomial(free, np.full(cells, 1 / cells)) if cells else None


@pytest.mark.parametrize("cells", [0, 1, 8])
@pytest.mark.parametrize("columns", [2, 3])
def test_a_plan_fills_shortages_and_groups_everybody_else_release_after_release(columns, cells):
    rng = np.random.default_rng(3)
    combinations, people = drawn(rng, columns, 4000, 12)
    signatures, bound, free = Signatures.none(len(people)), np.empty(0, np.int64), people
    for _ in range(4):
        arrivals = spread_over(rng, free, cells)
        plan, demand = plan_combinations(
            Counts(signatures, bound, free), combinations, 3, "wait", rng, arrivals=arrivals
        )
        if cells and not plan.held_back.any():
            assert demand.people.sum() > 0
        placed = plan.signatures.by_value(plan.moved)
        assert (placed + plan.held_back == free).all()
        tuples = np.pad(bound, (0, len(plan.moved) - len(bound))) + plan.moved + plan.counterfeits
        most = plan.signatures.most(tuples)[plan.signatures.bucket]
        assert (tuples == most).all(), "a bucket has each of its combinations equally often"
        for parts in np.split(combinations.part[plan.signatures.value], plan.signatures.first[1:]):
            assert len(np.unique(parts)) == parts.size
        if columns == 2 and combinations.are_eligible(free, 3):
            assert not plan.held_back.any()
        signatures = plan.signatures
        bound = rng.binomial(tuples - plan.counterfeits, 0.8)
        free = rng.multinomial(800, people / people.sum())


def test_people_who_cannot_be_grouped_are_refused_or_held_back():
    part = np.array([[0, 2], [0, 3], [1, 2]])
    combinations, rng = Combinations(part, 4), np.random.default_rng(4)
    counts = Counts(Signatures.none(3), np.empty(0, np.int64), np.array([1, 5, 2]))
    with pytest.raises(
        NotEligible, match="6 of them share a value of a sensitive column, and at most 4, 1/2"
    ):
        plan_combinations(counts, combinations, 2, "refuse", rng)
    waiting, _ = plan_combinations(counts, combinations, 2, "wait", rng)
    assert waiting.held_back.tolist() == [1, 5, 2]
    assert not waiting.moved.any()


def test_that_somebody_is_left_over_is_refused_though_others_are_grouped():
    """The last two people can be grouped with anybody, and of the first four no two with each other."""
    part = np.array([[0, 4, 8], [0, 5, 9], [1, 4, 9], [1, 5, 8], [2, 6, 10], [3, 7, 11]])
    counts = Counts(Signatures.none(6), np.empty(0, np.int64), np.ones(6, np.int64))
    with pytest.raises(
        NotEligible,
        match=r"[24] of the 6 inserted people are left over: .* every sensitive column\. Release less",
    ):
        plan_combinations(counts, Combinations(part, 12), 2, "refuse", np.random.default_rng(1))


def test_a_matching_of_the_few_edges_that_are_kept_is_as_heavy_as_one_of_all():
    rng, found = np.random.default_rng(6), 0
    for _ in range(200):
        rows, columns, size, groups = (int(number) for number in rng.integers([2, 2, 1, 1], [12, 12, 6, 3]))
        cells = np.sort(rng.choice(rows * columns, int(rng.integers(2, rows * columns + 1)), replace=False))
        part = np.stack([cells // columns, rows + cells % columns], axis=1)
        people, required = rng.geometric(0.4, len(part)), rng.random(rows + columns) < rng.choice([0, 0.2])
        combinations = Combinations(part, rows + columns)
        weight = required[part].sum(axis=1) + combinations.by_part(people)[part].sum(axis=1) / 1000
        dense = np.full((rows, columns), -1e9)
        dense[part[:, 0], part[:, 1] - rows] = np.where(people >= groups, weight, -1e9)
        most = heaviest(dense, size)
        order = np.argsort(-combinations.by_part(people)[part].sum(axis=1), kind="stable")
        edges = heaviest_edges(order, part, people, groups, required, size)
        assert len(edges) <= 2 * size * (size - 1) + 1
        few = np.full((rows, columns), -1e9)
        few[part[edges, 0], part[edges, 1] - rows] = weight[edges]
        assert heaviest(few, size) == pytest.approx(most)
        found += most > 0
    assert found > 100


def heaviest(weight, size):
    """The weight of the heaviest matching of so many edges; below zero if there is none."""
    rows, columns = weight.shape
    if min(rows, columns) < size:
        return -1
    square = np.zeros((rows + columns - size,) * 2)
    square[:rows, :columns], square[rows:, columns:] = weight, -1e9
    return max(square[scipy.optimize.linear_sum_assignment(square, maximize=True)].sum(), -1)
