"""Risks of re-identification, counted by hand and by plain Python."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from republish.anonymize.contract import Schema
from republish.anonymize.formats.generalization import GENERALIZATION
from republish.anonymize.promise import KAnonymity, LDiversity, Promise
from republish.anonymize.promise.attacked import attack

SCHEMA = Schema.model_validate(
    {
        "identifier": "id",
        "quasi_identifiers": [
            {"name": "age", "kind": "number", "domain": [0, 99]},
            {"name": "sex", "kind": "category", "order": ["F", "M"]},
        ],
        "sensitive": {"name": "disease"},
    }
)


def attacked(rows, people, *promised, everything=True):
    """The attack on rows (group, age from, age to, sex, disease) about people (age, sex, disease)."""
    columns = ["group_id", "age_low", "age_high", "sex_low", "sex_high", "disease"]
    microdata = pl.DataFrame(
        [(group, low, high, sex, sex, disease) for group, low, high, sex, disease in rows],
        schema=columns,
        orient="row",
    )
    counterfeits = pl.DataFrame(schema={"group_id": pl.Int64, "count": pl.Int64})
    truth = pl.DataFrame(people, schema=["qi_0", "qi_1", "value"], orient="row").with_row_index("person")
    truth = truth.with_columns(identifier=pl.col("person").cast(pl.String))
    return attack(
        SCHEMA,
        GENERALIZATION,
        {"microdata": microdata, "counterfeits": counterfeits},
        truth,
        [Promise(*promised)],
        is_own_format=False,
        everything=everything,
    )


ROWS = [
    (1, 20, 29, "F", "flu"),
    (1, 20, 29, "F", "flu"),
    (2, 25, 39, "F", "flu"),
    (2, 25, 39, "F", "ulcer"),
    (2, 25, 39, "F", "angina"),
]
PEOPLE = [(21, "F", "flu"), (27, "F", "flu"), (28, "F", "flu"), (31, "F", "ulcer"), (39, "F", "angina")]
"""The class from 20 to 29 has 2 rows and may be about 3 people; that to 39 has 3 rows and 4 people."""


def test_risks_are_counted_by_rows_and_by_people():
    figures = attacked(ROWS, PEOPLE).figures
    assert (figures["smallest_class"], figures["fewest_values_of_a_class"]) == (2, 1)
    assert figures["prosecutor_risk"] == pytest.approx(1 / 2)
    assert figures["journalist_risk"] == pytest.approx(1 / 3)
    assert figures["marketer_risk"] == pytest.approx((2 / 3 + 3 / 4) / 5)


@pytest.mark.parametrize(("k", "l", "broken"), [(2, 1, (0, 0)), (3, 2, (2, 2)), (4, 4, (5, 5))])
def test_a_promise_of_another_tool_is_judged_by_its_rows(k, l, broken):
    found = attacked(ROWS, PEOPLE, KAnonymity(k), LDiversity(l), everything=False).findings
    rows = {row["promise"]: row for row in found.to_dicts()}
    assert tuple(rows[name]["broken"] for name in ("k-anonymity", "l-diversity")) == broken
    assert (rows["k-anonymity"]["found"], rows["l-diversity"]["found"]) == (2, 1)


def test_groups_with_the_same_quasi_identifiers_are_one_class():
    """An adversary can't tell them apart by what is known of a person."""
    apart = [(group, 20, 29, "F", disease) for group, disease in enumerate(["flu", "ulcer"], start=1)]
    figures = attacked(apart, PEOPLE[:2]).figures
    assert (figures["smallest_class"], figures["fewest_values_of_a_class"]) == (2, 2)


def test_a_counterfeit_is_one_more_whom_a_row_may_be_about():
    figures = attacked(ROWS[:2], PEOPLE[:1]).figures
    assert figures["journalist_risk"] == figures["prosecutor_risk"] == figures["marketer_risk"] == 1 / 2


def test_a_release_that_is_made_counts_none_of_it():
    """These are figures of audits: what a release keeps of its own audit is what it was."""
    figures = attacked(ROWS, PEOPLE, everything=False).figures
    assert not {"smallest_class", "prosecutor_risk", "fewest_values_of_a_class"} & figures.keys()


ages = st.integers(20, 26)
people_drawn = st.lists(
    st.tuples(ages, st.sampled_from("FM"), st.sampled_from("abc")), min_size=1, max_size=12
)


@pytest.mark.slow("takes more than a second")
@settings(max_examples=60)
@given(people_drawn, st.booleans())
def test_risks_are_those_of_plain_python(people, exact):
    def box(age):
        return (age, age) if exact else (age - age % 3, age - age % 3 + 3)  # these overlap

    rows = [(0, *box(age), sex, disease) for age, sex, disease in people]
    boxes = sorted({row[1:4] for row in rows})
    rows = [(boxes.index(row[1:4]) + 1, *row[1:]) for row in rows]
    sizes = {one: sum(row[1:4] == one for row in rows) for one in boxes}
    about = {
        (low, high, sex): sum(low <= age <= high and other == sex for age, other, _ in people)
        for low, high, sex in boxes
    }
    values = {one: len({row[4] for row in rows if row[1:4] == one}) for one in boxes}
    figures = attacked(rows, people).figures
    assert figures["smallest_class"] == min(sizes.values())
    assert figures["prosecutor_risk"] == pytest.approx(1 / min(sizes.values()))
    assert figures["journalist_risk"] == pytest.approx(1 / min(about.values()))
    assert figures["marketer_risk"] == pytest.approx(
        sum(sizes[one] / about[one] for one in boxes) / len(rows)
    )
    assert figures["fewest_values_of_a_class"] == min(values.values())
