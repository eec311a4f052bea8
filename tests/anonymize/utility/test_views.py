"""What a view is worth: by hand on a few records, and against counting person by person."""

import itertools

import numpy as np
import polars as pl
import pytest

from republish.anonymize.contract import View
from republish.anonymize.utility.queries import random_workload
from republish.anonymize.utility.usefulness import QUERIES, WIDTH
from republish.anonymize.utility.views import view_usefulness

JOBS = [("nurse", "health", "ANY"), ("doctor", "health", "ANY"), ("cook", "ANY", "ANY")]
AGE = {"name": "age", "kind": "number", "domain": [0, 9]}
JOB = {"name": "job", "kind": "category", "hierarchy": JOBS}
PAID = {"name": "paid", "kind": "category", "order": ["no", "yes"], "keep": True}


def view_of(*columns):
    return View.model_validate({"identifier": "id", "columns": list(columns)})


def table(**columns):
    return pl.DataFrame({f"column_{place}": values for place, values in enumerate(columns.values())})


PEOPLE = table(
    age=[0, 1, 2, 5, 7, 9],
    job=["nurse", "doctor", "cook", "cook", "nurse", "doctor"],
    paid=["no", "yes", "yes", "no", "yes", "yes"],
)


def test_a_view_of_values_as_they_are_is_exact():
    found = view_usefulness(
        PEOPLE.with_columns(pl.col("column_0").cast(pl.String)), view_of(AGE, JOB, PAID), PEOPLE, 0
    )
    assert (found.query_error, found.groups, found.mean_group) == (0.0, 6, 1.0)
    assert (found.widths, found.counterfeits) == ({"column_0": 1.0, "column_1": 1.0}, 0)
    assert found.error_without > 0.1


def test_widths_and_groups_by_hand():
    published = table(
        age=["[0-5)"] * 3 + ["[5-9]"] * 3,
        job=["health", "health", "cook", "ANY", "ANY", "ANY"],
        paid=["no", "yes", "yes", "no", "yes", "yes"],
    )
    found = view_usefulness(published, view_of(AGE, JOB, PAID), PEOPLE, 2)
    assert (found.groups, found.mean_group, found.held_back) == (3, 2.0, 2)
    assert found.widths == {"column_0": 5.0, "column_1": (2 + 2 + 1 + 3 * 3) / 6}
    assert found.shares == {"column_0": 0.5, "column_1": pytest.approx(14 / 18)}
    assert found.discernibility == 2**2 + 1 + 3**2


def test_counts_are_those_of_records_spread_over_what_their_labels_cover():
    """Each record is spread out by hand, a part for each combination of values below its labels."""
    published = table(
        age=["[0-5)"] * 3 + ["[5-9]"] * 3,
        job=["health", "health", "cook", "ANY", "ANY", "ANY"],
        paid=["no", "yes", "yes", "no", "yes", "yes"],
    )
    schema = view_of(AGE, JOB, PAID)
    below = {"health": [0, 1], "cook": [2], "ANY": [0, 1, 2], "no": [0], "yes": [1]}
    below |= {"[0-5)": [0, 1, 2, 3, 4], "[5-9]": [5, 6, 7, 8, 9]}
    spread = [
        (codes, 1 / len(combinations))
        for row in published.iter_rows()
        for combinations in [list(itertools.product(*(below[label] for label in row)))]
        for codes in combinations
    ]
    jobs, answers = ["nurse", "doctor", "cook"], ["no", "yes"]
    truth = [((age, jobs.index(job), answers.index(paid)), 1) for age, job, paid in PEOPLE.iter_rows()]
    pairs, rng, errors = [(0, 1), (0, 2), (1, 2)], np.random.default_rng(0), []
    for pair in pairs:
        columns = [f"column_{place}" for place in pair]
        workload = random_workload(schema, columns, None, -(-QUERIES // 3), WIDTH, rng)
        for low, high in zip(workload.low, workload.high, strict=True):

            def counted(cells, pair=pair, low=low, high=high):
                return sum(
                    part
                    for codes, part in cells
                    if all(low[i] <= codes[place] <= high[i] for i, place in enumerate(pair))
                )

            true = counted(truth)
            errors.append(abs(true - counted(spread)) / max(true, 0.005 * 6))
    found = view_usefulness(published, schema, PEOPLE, 0)
    assert found.query_error == pytest.approx(np.mean(errors))
    assert found.query_error > 0.05


@pytest.mark.parametrize("columns", [[AGE], [PAID], [{"name": "x", "kind": "number", "domain": [0.5, 0.5]}]])
def test_a_view_of_one_column(columns):
    people = PEOPLE.select(column_0=pl.Series([0.5] * 6) if columns[0]["name"] == "x" else pl.col("column_0"))
    people = people if columns != [PAID] else PEOPLE.select(column_0="column_2")
    found = view_usefulness(people, view_of(*columns), people, 0)
    assert found.query_error == 0.0


def test_a_label_of_no_column_is_refused():
    with pytest.raises(ValueError, match="job has a label that is none of its own"):
        view_usefulness(PEOPLE.with_columns(column_1=pl.lit("gardener")), view_of(AGE, JOB, PAID), PEOPLE, 0)
