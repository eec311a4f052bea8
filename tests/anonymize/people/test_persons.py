import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from republish.anonymize.people.persons import PERSON_BYTES, joined_by_names, sorted_by_names


@pytest.mark.parametrize("own", [0, 8])
@given(st.lists(st.tuples(st.sampled_from([0, 1, 127, 128, 255]), st.integers(0, 2**20)), max_size=30))
def test_rows_are_in_the_order_of_the_bytes_of_their_names(own, drawn):
    names = [
        bytes([first]) + np.random.default_rng(seed % 7).bytes(PERSON_BYTES - 1) + seed.to_bytes(8)[8 - own :]
        for first, seed in drawn
    ]
    rows = pl.DataFrame({"name": pl.Series(names, dtype=pl.Binary)})
    assert sorted_by_names(rows, "name")["name"].to_list() == sorted(names)


@pytest.mark.parametrize("how", ["inner", "left"])
@pytest.mark.parametrize("size", [PERSON_BYTES, PERSON_BYTES + 8, 3])
@given(
    several=st.tuples(
        *[st.lists(st.tuples(st.sampled_from([0, 1, 255]), st.integers(0, 5)), max_size=12)] * 2
    ),
    is_sorted=st.tuples(st.booleans(), st.booleans()),
)
def test_tables_are_joined_by_names_as_polars_joins_them(how, size, several, is_sorted):
    names = [
        [
            bytes([first]) + bytes(size - 2) + bytes([last])
            for first, last in (sorted(one) if ordered else one)
        ]
        for one, ordered in zip(several, is_sorted, strict=True)
    ]
    left, right = (
        pl.DataFrame({"name": pl.Series(one, dtype=pl.Binary), "row": range(len(one))}) for one in names
    )
    expected = left.join(right, on="name", how=how)
    assert joined_by_names(left, right, how, "name").sort(pl.all()).equals(expected.sort(pl.all()))


def test_tables_are_joined_by_names_that_are_text():
    left, right = (pl.DataFrame({"name": one}) for one in (["Ann", "Bob"], ["Bob", "Cid"]))
    assert joined_by_names(left, right, column="name")["name"].to_list() == ["Bob"]
