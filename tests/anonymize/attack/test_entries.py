"""Rows that can't be read are left out of the attacks and counted; all others are attacked."""

import polars as pl
import pytest

from republish.anonymize.attack.entries import readable_rows
from republish.anonymize.formats import GENERALIZATION
from tests.series import make_contract

CONTRACT = make_contract(["age", "sex"], values=["flu", "gout", "mumps"])
MICRODATA = pl.DataFrame(
    {
        "group_id": [1, 1, 2, 2],
        "qi_0_low": [20, 20, 40, 40],
        "qi_0_high": [29, 29, 49, 49],
        "qi_1_low": ["M", "M", "F", "F"],
        "qi_1_high": ["F", "F", "F", "F"],
        "value": ["flu", "gout", "flu", "mumps"],
    }
)
COUNTERFEITS = pl.DataFrame({"group_id": [1, 2], "count": [1, 1]})


def read(microdata=MICRODATA, counterfeits=COUNTERFEITS, earlier=()):
    tables = {"microdata": microdata, "counterfeits": counterfeits}
    left, found = readable_rows(tables, GENERALIZATION, CONTRACT, earlier)
    return left, (found.people, found.broken)


def test_what_can_be_read_is_left_as_it_is():
    left, counted = read()
    assert left["microdata"].equals(MICRODATA)
    assert left["counterfeits"].equals(COUNTERFEITS)
    assert counted == (6, 0)


@pytest.mark.parametrize(
    ("column", "entry"),
    [
        ("group_id", None),
        ("qi_0_low", None),
        ("qi_0_low", 30),  # above the interval's end
        ("qi_1_high", "X"),
        ("qi_1_high", None),
        ("value", "unheard of"),
        ("value", None),
    ],
)
def test_a_row_that_can_not_be_read_is_left_out_and_no_other(column, entry):
    first = pl.int_range(pl.len()) == 0
    changed = pl.when(first).then(pl.lit(entry, MICRODATA.schema[column])).otherwise(column).alias(column)
    left, counted = read(MICRODATA.with_columns(changed))
    assert left["microdata"].equals(MICRODATA[1:])
    assert counted == (6, 1)


@pytest.mark.parametrize(
    ("groups", "counts", "kept"), [([1, 2], [0, 1], [2]), ([1, 1, 2], [1, 2, 1], [1, 2])]
)
def test_a_count_below_one_or_stated_again_is_left_out(groups, counts, kept):
    left, counted = read(counterfeits=pl.DataFrame({"group_id": groups, "count": counts}))
    assert left["counterfeits"]["group_id"].to_list() == kept
    assert counted == (4 + len(groups), 1)


def test_a_value_of_an_earlier_release_can_be_read():
    changed = MICRODATA.with_columns(pl.col("value").replace("flu", "grippe"))
    assert read(changed)[1] == (6, 2)
    assert read(changed, earlier=("grippe",))[1] == (6, 0)
