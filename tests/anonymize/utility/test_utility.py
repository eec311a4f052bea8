"""Measures of published tables, on tables small enough to count by hand."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.adversaries.every_table import all_partitions
from benchmarks.measures.penalties import least_discernibility, normalized_certainty_penalty
from benchmarks.measures.queries import estimated_counts
from republish.anonymize.contract import NumberAttribute
from republish.anonymize.people.codes import code_domain
from republish.anonymize.utility.discernibility import discernibility
from republish.anonymize.utility.queries import (
    Workload,
    random_workload,
    true_counts,
    workload_error,
    workload_of_people,
)
from tests.anonymize.streamliner.streamliner_tables import make_contract

SCHEMA = make_contract().table_schema


@given(st.lists(st.integers(0, 3), min_size=2, max_size=7), st.integers(2, 3))
def test_the_least_discernibility_is_that_of_the_best_of_all_partitions(values, l):
    counts = np.bincount(values)
    if counts.max() * l > len(values):
        with pytest.raises(ValueError, match=f"not {l}-eligible"):
            least_discernibility(counts, l)
        return
    safe = [
        [len(group) for group in partition]
        for partition in all_partitions(range(len(values)))
        if all(max(Counter(values[i] for i in group).values()) * l <= len(group) for group in partition)
    ]
    assert least_discernibility(counts, l) == min(discernibility(np.array(sizes)) for sizes in safe)


def test_the_penalty_is_the_mean_share_of_the_domains():
    boxes = pl.DataFrame(
        {
            "group_id": [1, 2],
            "qi_0_low": [0, 5],
            "qi_0_high": [99, 5],
            "qi_1_low": [0, 3],
            "qi_1_high": [0, 6],
        }
    )
    sizes = pl.DataFrame({"group_id": [1, 2], "size": [3, 1]})
    assert normalized_certainty_penalty(boxes, sizes, SCHEMA) == pytest.approx((3 * 0.5 + 1 / 6) / 4)


PEOPLE = pl.DataFrame({"qi_0": [10, 11, 13, 50], "qi_1": [1, 2, 1, 1], "value": ["a", "a", "b", "a"]})
TUPLES = pl.DataFrame(
    {"qi_0_low": [10, 10, 10, 50], "qi_0_high": [13, 13, 13, 50], "qi_1_low": 1, "qi_1_high": [2, 2, 2, 1],
     "value": ["a", "a", "b", "a"]}
)  # fmt: skip


def asked(columns, low, high, value):
    return Workload(tuple(columns), np.array([low], float), np.array([high], float), (value,))


def test_counts_and_their_estimates():
    query = asked(["qi_0"], [10], [11], "a")
    assert true_counts(PEOPLE, query).tolist() == [2]
    assert estimated_counts(TUPLES, query, SCHEMA).tolist() == [1.0]
    both = asked(["qi_0", "qi_1"], [10, 1], [60, 1], "a")
    assert true_counts(PEOPLE, both).tolist() == [2]
    assert estimated_counts(TUPLES, both, SCHEMA).tolist() == [2.0]
    anybody = asked(["qi_1"], [1], [1], None)
    assert true_counts(PEOPLE, anybody).tolist() == [3]
    assert estimated_counts(TUPLES, anybody, SCHEMA).tolist() == [2.5]
    nobody = asked(["qi_0"], [0], [99], "c")
    assert true_counts(PEOPLE, nobody).tolist() == estimated_counts(TUPLES, nobody, SCHEMA).tolist() == [0]


def test_the_error_is_relative_to_the_count_or_to_delta_of_all_people():
    assert workload_error(np.array([100, 0]), np.array([150.0, 1.0]), 1000) == pytest.approx((0.5 + 0.2) / 2)


@pytest.mark.parametrize("width", [0.05, 0.3, 1])
def test_random_queries_lie_in_the_domains(width):
    rng = np.random.default_rng(1)
    workload = random_workload(SCHEMA, ["qi_0", "qi_1"], pl.Series(["a", "b"]), 500, width, rng)
    assert (workload.low >= 0).all()
    assert (workload.high <= [99, 9]).all()
    assert (workload.low <= workload.high).all()
    assert set(workload.value) == {"a", "b"}
    assert len(np.unique(workload.high - workload.low, axis=0)) == 1
    assert random_workload(SCHEMA, ["qi_0"], None, 3, width, rng).value == (None,) * 3


def test_exact_tables_have_no_error():
    rng = np.random.default_rng(2)
    workload = random_workload(SCHEMA, ["qi_0", "qi_1"], pl.Series(["a", "b"]), 50, 0.5, rng)
    exact = PEOPLE.select(
        "value",
        *(pl.col(column).alias(f"{column}_{end}") for column in ("qi_0", "qi_1") for end in ("low", "high")),
    )
    assert estimated_counts(exact, workload, SCHEMA).tolist() == true_counts(PEOPLE, workload).tolist()


@given(st.data())
def test_questions_about_people_are_answered_by_somebody(data):
    """Also where quasi-identifiers are many for the people, and in whichever order these are."""
    age, other = st.integers(0, 9), st.sampled_from(["flu", "gout", "none"])
    rows = data.draw(st.lists(st.tuples(age, other), min_size=1, max_size=20))
    columns = dict(SCHEMA.attributes())
    people = pl.DataFrame({"value": [value for _, value in rows]}).with_columns(
        pl.Series(column, [low + at * (high - low) // 9 for at, _ in rows])
        for column, (low, high) in ((name, code_domain(qi)) for name, qi in columns.items())
    )
    width = data.draw(st.sampled_from([0.1, 0.5, 1.0]))
    asked = workload_of_people(SCHEMA, people, 30, width, np.random.default_rng(1))
    assert true_counts(people, asked).min() >= 1
    for position, attribute in enumerate(columns.values()):
        lowest, highest = code_domain(attribute)
        assert (asked.low[:, position] >= lowest).all()
        assert (asked.high[:, position] <= highest).all()
    again = workload_of_people(SCHEMA, people[::-1], 30, width, np.random.default_rng(1))
    assert (again.low == asked.low).all()
    assert again.value == asked.value


def test_somebody_without_a_value_is_asked_about_only_if_all_are():
    declared = several_missing()
    there, without = {"value": "flu", "qi_0": 4.0}, {"value": "gout", "qi_0": None}
    people = pl.DataFrame([there, without, without])
    asked = workload_of_people(declared, people, 9, 0.5, np.random.default_rng(1))
    assert set(asked.value) == {"flu"}
    assert true_counts(people, asked).min() == 1
    nobody = workload_of_people(declared, people[1:], 9, 0.5, np.random.default_rng(1))
    assert set(true_counts(people, nobody)) == {0}


def several_missing():
    return SimpleNamespace(
        attributes=lambda: [
            ("qi_0", NumberAttribute(name="dose", kind="number", domain=(0.5, 9.5), missing="publish"))
        ]
    )
