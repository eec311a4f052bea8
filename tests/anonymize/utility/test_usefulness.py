"""What a release is worth: figures that can be counted by hand, and errors that follow the width of
groups."""

import numpy as np
import polars as pl
import pytest

from benchmarks.measures.queries import estimated_counts
from republish.anonymize.contract import NumberAttribute
from republish.anonymize.contract.combined import combine
from republish.anonymize.formats import ANATOMY, GENERALIZATION
from republish.anonymize.formats.published import Published, knowledge_table
from republish.anonymize.utility.queries import Workload
from republish.anonymize.utility.usefulness import grouped_counts, mean_widths, usefulness
from tests.anonymize.attack.attack_series import attacked_people, contract, publish, snapshots
from tests.anonymize.test_several_columns import contract as several


def released(m, count=600):
    (table,) = snapshots(seed=1, count=count, releases=1)
    declared = contract(m=m)
    (release,) = publish([table], declared)
    tables = GENERALIZATION.internal(release.tables, declared)
    published = GENERALIZATION.read(tables, declared)
    known = knowledge_table(attacked_people(table, declared), declared)
    return GENERALIZATION, tables, published, declared, known


def test_larger_groups_have_wider_intervals_and_worse_counts():
    small, large = usefulness(*released(2)), usefulness(*released(6))
    assert small.groups > large.groups
    assert small.mean_group < large.mean_group
    assert all(small.widths[column] <= large.widths[column] for column in small.widths)
    assert small.query_error < large.query_error < large.error_without


def test_figures_are_those_of_the_tables():
    _, tables, published, declared, known = material = released(3)
    found = usefulness(*material)
    microdata = tables["microdata"]
    assert found.groups == microdata["group_id"].n_unique()
    width = (microdata["qi_0_high"] - microdata["qi_0_low"] + 1).mean()
    assert found.widths["qi_0"] == pytest.approx(width)
    assert found.shares["qi_0"] == pytest.approx(width / 100)
    assert found.counterfeits == tables["counterfeits"]["count"].sum()
    assert found.held_back == 0
    assert usefulness(GENERALIZATION, tables, published, declared, known[:-1]).held_back == -1


def test_widths_of_a_large_domain_add_up_over_ten_million_people():
    furthest = 2**53 - 1
    balance = NumberAttribute(name="balance", kind="number", domain=(-furthest, furthest))
    ends = {"qi_0_low": [-furthest] * 2, "qi_0_high": [furthest] * 2}
    boxes = pl.DataFrame(ends | {"rows": [5_000_000] * 2}, schema_overrides={"rows": pl.UInt32})
    assert mean_widths(boxes, {"qi_0": balance}) == {"qi_0": 2.0**54}


def test_counts_of_groups_are_those_of_their_tuples():
    """On a generalization, both ways to estimate come to the same."""
    _, tables, published, declared, known = released(4)
    rng = np.random.default_rng(0)
    low = rng.integers(0, 50, (20, 1)).astype(float)
    values = tuple(known["value"].sample(20, seed=0))
    workload = Workload(("qi_0",), low, low + 30, values)
    boxes = published.boxes.with_columns(rows=pl.lit(1))
    microdata = tables["microdata"].select("value", "qi_0_low", "qi_0_high")
    estimated = estimated_counts(microdata, workload, declared)
    assert grouped_counts(boxes, published, workload, declared) == pytest.approx(estimated)


def test_exact_quasi_identifiers_leave_only_the_values_to_be_estimated():
    declared = contract(m=2)
    people = {"qi_0": [30, 30, 60], "qi_1": [1000, 1000, 9000], "qi_2": ["F", "M", "F"]}
    tables = {
        "quasi_identifiers": pl.DataFrame({"group_id": [1, 1, 1], **people}),
        "sensitive": pl.DataFrame({"group_id": [1, 1], "value": ["a", "b"], "count": [2, 1]}),
        "counterfeits": pl.DataFrame(schema={"group_id": pl.Int64, "count": pl.Int64}),
    }
    published = ANATOMY.read(tables, declared)
    assert isinstance(published, Published)
    known = pl.DataFrame({"value": ["a", "b", "a"], "qi_0": [30, 30, 60], "qi_1": [1000, 1000, 9000]})
    known = known.with_columns(qi_2=pl.Series([0, 1, 0]))
    found = usefulness(ANATOMY, tables, published, declared, known)
    assert found.widths == {"qi_0": 1, "qi_1": 1, "qi_2": 1}
    thirty = Workload(("qi_0",), np.array([[30.0]]), np.array([[30.0]]), ("a",))
    boxes = pl.DataFrame({"group_id": [1, 1], "qi_0_low": [30, 60], "qi_0_high": [30, 60], "rows": [2, 1]})
    # Two of the three people are 30, and two of the three values are a: 2/3 of 2.
    assert grouped_counts(boxes, published, thirty, declared) == pytest.approx([4 / 3])


def test_of_several_columns_counts_by_each_and_by_every_two_have_errors_of_their_own():
    """What age says of the illness is lost in one group of all ages, and it says nothing of the ward."""
    declared = several(sensitive=[{"name": "ill"}, {"name": "cure"}, {"name": "ward"}])
    ages = [0, 99] * 30
    values = {"value_0": ["flu", "gout"] * 30, "value_1": list("abcdef") * 10, "value_2": list("xyz") * 20}
    everybody = pl.DataFrame(values | {"qi_0": ages, "group_id": ages})
    microdata = everybody.with_columns(qi_0_low="qi_0", qi_0_high="qi_0").drop("qi_0")
    tables = {"microdata": combine(microdata, declared)}
    known = combine(everybody, declared).select("value", "qi_0")
    whole = usefulness(GENERALIZATION, tables, GENERALIZATION.read(tables, declared), declared, known)
    assert set(whole.errors_by_column.values()) == {0}
    wide = microdata.with_columns(group_id=0, qi_0_low=0, qi_0_high=99)
    tables = {"microdata": combine(wide, declared)}
    found = usefulness(GENERALIZATION, tables, GENERALIZATION.read(tables, declared), declared, known)
    names = ["ill", "cure", "ward", "ill, cure", "ill, ward", "cure, ward"]
    assert list(found.errors_by_column) == names
    assert found.errors_by_column["ward"] < found.errors_by_column["ill"]
    assert usefulness(*released(2)).errors_by_column == {}
