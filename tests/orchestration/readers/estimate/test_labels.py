"""Counts by a label of many, and by a number that some people lack: right as stated, and nobody is lost."""

import numpy as np
import polars as pl
import pytest

from benchmarks.measures.estimator import estimating
from benchmarks.series import Made, contract_of, released

PRINCIPLES = {
    "m_invariance": {"name": "m_invariance", "m": 3, "on_ineligible": "wait"},
    "global_guarantee": {"name": "global_guarantee", "l": 2, "strategy": "minimum", "on_ineligible": "wait"},
}


def first_release(table: pl.DataFrame, attributes: list[dict], principle: dict) -> Made:
    """The first release of a table with the columns `person` and `value`."""
    declared = {
        "product": "staff",
        "series": "v1",
        "releases": {"first": "2024-01-01"},
        "identifier": "person",
        "quasi_identifiers": attributes,
        "sensitive": {"name": "value", "values": table["value"].unique().sort().to_list()},
    }
    return next(iter(released([("2024-01-01", table)], contract_of(declared, **principle))))


def by(made: Made, column: str) -> pl.DataFrame:
    """Estimated people by a column, by the statements of `estimate.sql` alone."""
    with estimating(made.candidate.published, made.contract) as connection:
        return connection.sql(f"FROM estimate(true, split := {column})").pl()


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("principle", PRINCIPLES.values(), ids=PRINCIPLES)
def test_counts_by_a_frequent_label_of_many_are_right(principle):
    # Sizes by Zipf's law: large labels are often an end of an interval, and groups err alike at such ends.
    random, people, labels = np.random.default_rng(2), 8000, [f"T{number:03}" for number in range(400)]
    shares = 1 / np.arange(1, len(labels) + 1)
    town = random.permutation(labels)[random.choice(len(labels), people, p=shares / shares.sum())]
    values = [f"v{number}" for number in random.integers(0, 10, people)]
    table = pl.DataFrame({
        "person": np.arange(people), "age": random.integers(18, 90, people), "town": town, "value": values
    })  # fmt: skip
    made = first_release(
        table,
        [
            {"name": "age", "kind": "number", "domain": [0, 99]},
            {"name": "town", "kind": "category", "order": labels},
        ],
        principle,
    )
    there = table.filter(pl.col("person").is_in(made.linkage["person"].to_list()))
    counts = there.group_by(split="town").len().join(by(made, "town"), on="split")
    frequent = counts.filter(pl.col("len") >= 50)
    assert frequent.height > 20
    assert frequent.select(pl.col("len").is_between(pl.col("low"), pl.col("high")).mean()).item() > 0.9


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("staying", [0.8, 0])
@pytest.mark.parametrize("principle", PRINCIPLES.values(), ids=PRINCIPLES)
def test_counts_by_two_columns_are_right_whether_they_go_with_each_other_or_not(principle, staying):
    # Many people live where they were born; or a region of birth says nothing of the region of life.
    random, people, regions = np.random.default_rng(1), 2000, [f"R{number}" for number in range(9)]
    born, elsewhere = random.choice(9, (2, people), p=random.dirichlet([3] * 9))
    lives = np.where(random.random(people) < staying, born, elsewhere)
    table = pl.DataFrame(
        {
            "person": np.arange(people),
            "born": [regions[number] for number in born],
            "lives": [regions[number] for number in lives],
            "age": random.integers(18, 90, people),
            "value": [f"v{number}" for number in random.integers(0, 8, people)],
        }
    )
    made = first_release(
        table,
        [
            {"name": "born", "kind": "category", "order": regions},
            {"name": "lives", "kind": "category", "order": regions},
            {"name": "age", "kind": "number", "domain": [0, 99]},
        ],
        principle,
    )
    there = table.filter(pl.col("person").is_in(made.linkage["person"].to_list()))
    found = by(made, "born || ' ' || lives")
    counts = there.group_by(split=pl.format("{} {}", "born", "lives")).len().join(found, on="split")
    large = counts.filter(pl.col("len") >= 25)
    assert large.height >= 9
    is_right = pl.col("len").is_between(pl.col("low") - 0.5, pl.col("high") + 0.5)
    assert large.select(is_right.mean()).item() > 0.85
    # Intervals still tell something, also where the columns have nothing to do with each other.
    assert large.select(((pl.col("high") - pl.col("low")) / pl.col("people")).median()).item() < 1.5


@pytest.mark.slow("takes more than a second")
def test_people_whose_number_is_missing_are_a_part_of_their_own():
    random, people = np.random.default_rng(1), 600
    age = np.where(random.random(people) < 0.1, None, random.integers(18, 80, people))
    table = pl.DataFrame(
        {
            "person": range(people),
            "age": pl.Series(age.tolist(), dtype=pl.Int64),
            "value": [f"v{number}" for number in random.integers(0, 8, people)],
        }
    )
    attributes = [{"name": "age", "kind": "number", "domain": [0, 99], "missing": "publish"}]
    parts = by(first_release(table, attributes, PRINCIPLES["m_invariance"]), "age // 20")
    assert parts["people"].sum() == pytest.approx(people, abs=1)
    lacking = parts.filter(pl.col("split").is_null())
    assert lacking["low"].item() <= table["age"].null_count() <= lacking["high"].item()
