"""Counts from cells are the counts of the table, and of the release read as the paper reads it."""

import numpy as np
import polars as pl
import pytest

from benchmarks.measures.cells import cells_of_groups, cells_of_people
from benchmarks.measures.queries import estimated_counts, median_relative_error, range_workload
from republish.anonymize.contract import Contract
from republish.anonymize.formats.published import Published
from republish.anonymize.principles import parse_contract
from republish.anonymize.utility.queries import Workload, true_counts

VALUES = ["c", "a", "d", "b"]
"""In their declared order, which is not that of the alphabet."""


def contract(last_age=30, values=VALUES) -> Contract:
    return parse_contract(
        {
            "product": "people",
            "series": "v1",
            "source": {"path": "{release}.csv"},
            "releases": {"first": "2024-01-01", "cron": "0 0 1 1 *"},
            "identifier": "id",
            "quasi_identifiers": [
                {"name": "age", "kind": "number", "domain": [20, last_age]},
                {"name": "town", "kind": "category", "order": ["x", "y", "z"]},
            ],
            "sensitive": {"name": "disease", "values": values},
            "principle": {"name": "m_invariance", "m": 2},
        }
    )


def random_people(number=200):
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "qi_0": rng.integers(20, 31, number),
            "qi_1": rng.integers(0, 3, number),
            "value": [VALUES[i] for i in rng.integers(0, 4, number)],
        }
    )


def by_value(workload, counts):
    """The answers of a workload on ranges of values, by asking for one value after the other."""
    answers = np.zeros(len(workload.value))
    low, high = workload.low[:, -1], workload.high[:, -1]
    for place, value in enumerate(VALUES):
        one = Workload(
            workload.columns[:-1], workload.low[:, :-1], workload.high[:, :-1], (value,) * len(low)
        )
        answers += counts(one) * ((low <= place) & (place <= high))
    return answers


@pytest.mark.parametrize("selectivity", [0.001, 0.1, 1])
def test_counts_of_a_table(selectivity):
    people, declared = random_people(), contract()
    workload = range_workload(declared, 300, selectivity, np.random.default_rng(1))
    found = cells_of_people(people, declared).counts(workload)
    assert found.tolist() == by_value(workload, lambda one: true_counts(people, one)).tolist()
    if selectivity == 1:
        assert found.tolist() == [200] * 300


def test_rows_may_stand_for_parts_of_people():
    people, declared = random_people(), contract()
    workload = range_workload(declared, 50, 0.2, np.random.default_rng(1))
    halves = people.with_columns(weight=pl.lit(0.5))
    assert cells_of_people(halves, declared).counts(workload) == pytest.approx(
        cells_of_people(people, declared).counts(workload) / 2
    )


BOXES = pl.DataFrame(
    {
        "group_id": [1, 2, 3],
        "qi_0_low": [20, 24, 30],
        "qi_0_high": [23, 30, 30],
        "qi_1_low": [0, 0, 2],
        "qi_1_high": [1, 2, 2],
    }
)
HELD = pl.DataFrame(
    {
        "group_id": [1, 1, 2, 2, 2, 3, 3],
        "value": ["a", "b", "a", "c", "d", "b", "d"],
        "tuples": [1, 1, 2, 2, 2, 1, 1],
    }
)


@pytest.mark.parametrize("selectivity", [0.05, 0.3])
def test_people_are_spread_evenly_over_intervals(selectivity):
    none = pl.DataFrame(schema={"group_id": pl.Int64, "count": pl.Int64})
    declared = contract()
    workload = range_workload(declared, 200, selectivity, np.random.default_rng(2))
    tuples = HELD.join(BOXES, on="group_id").select(pl.exclude("tuples").repeat_by("tuples").explode())
    expected = by_value(workload, lambda one: estimated_counts(tuples, one, declared))
    found = cells_of_groups(Published(BOXES, HELD, none), declared).counts(workload)
    assert found == pytest.approx(expected, abs=1e-9)
    assert found.max() > 0


def test_counterfeits_are_left_out():
    """The paper's partial answer: (|QI*| - c3) · c1 · c2, here (6 - 3) · 2/7 · 2/3 · 4/6."""
    counterfeits = pl.DataFrame({"group_id": [2], "count": [3]})
    cells = cells_of_groups(Published(BOXES, HELD, counterfeits), contract())
    # Ages 24 and 25, towns x and y, values c and a.
    query = Workload(("qi_0", "qi_1", "value"), np.array([[24.0, 0, 0]]), np.array([[25.0, 1, 1]]), (None,))
    assert cells.counts(query).tolist() == pytest.approx([3 * 2 / 7 * 2 / 3 * 4 / 6])


def test_queries_on_other_columns_are_refused():
    other = Workload(("qi_0",), np.zeros((1, 1)), np.ones((1, 1)), ("a",))
    with pytest.raises(ValueError, match="can't be asked"):
        cells_of_people(random_people(), contract()).counts(other)


@pytest.mark.parametrize(
    ("declared", "why"),
    [
        (contract(values=None), "declared sensitive values"),
        (contract(last_age=10**8), "more than 50,000,000"),
    ],
)
def test_other_domains_are_refused(declared, why):
    with pytest.raises(ValueError, match=why):
        cells_of_people(random_people(), declared)


def test_groups_of_exact_quasi_identifiers_are_refused():
    twice = pl.concat([BOXES, BOXES.with_columns(qi_0_high=pl.lit(30, pl.Int64))])
    none = pl.DataFrame(schema={"group_id": pl.Int64, "count": pl.Int64})
    with pytest.raises(ValueError, match="several boxes"):
        cells_of_groups(Published(twice, HELD, none), contract())


def test_ranges_cover_the_same_share_of_each_domain():
    workload = range_workload(contract(), 2000, 0.125, np.random.default_rng(1))
    assert workload.columns == ("qi_0", "qi_1", "value")
    covered = workload.high - workload.low + 1
    assert np.unique(covered, axis=0).tolist() == [[6, 2, 2]]  # half of 11 (5.5), of 3 (1.5) and of 4
    assert (workload.low.min(axis=0) == [20, 0, 0]).all()
    assert (workload.high.max(axis=0) == [30, 2, 3]).all()


def test_the_median_of_relative_errors():
    true, estimated = np.array([10, 4, 0, 0, 2]), np.array([11.0, 4, 0, 1, 1])
    # 0.1, 0, 0, infinite, 0.5
    assert median_relative_error(true, estimated) == pytest.approx(0.1)
