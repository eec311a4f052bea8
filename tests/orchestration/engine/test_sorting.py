"""The order of rows, whatever table and batch they are in."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from republish.orchestration.engine.sorting import in_order

TEXTS = st.none() | st.text("aZé\U0001f600\uffff\x01", max_size=3)
NUMBERS = st.none() | st.integers(-2, 2)
ROWS = st.fixed_dictionaries(
    {
        "text": TEXTS,
        "number": NUMBERS,
        "fraction": st.none() | st.sampled_from([-1.5, -0.0, 0.0, 2.0, float("inf"), float("nan")]),
        "texts": st.lists(TEXTS, max_size=3),
        "row": st.fixed_dictionaries({"a": NUMBERS, "b": TEXTS}),
        "rows": st.lists(st.fixed_dictionaries({"a": NUMBERS, "b": TEXTS}), max_size=3),
    }
)
SCHEMA = {
    "text": pl.String,
    "number": pl.Int64,
    "fraction": pl.Float64,
    "texts": pl.List(pl.String),
    "row": pl.Struct({"a": pl.Int64, "b": pl.String}),
    "rows": pl.List(pl.Struct({"a": pl.Int64, "b": pl.String})),
    "at": pl.Int64,
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("sorted")


def in_one(tables, place, rows=100):
    return pl.concat(in_order(tables, place / "spilled", rows))


@pytest.mark.slow("takes more than a second")
@given(st.lists(ROWS, max_size=12), st.permutations([*SCHEMA][:-1]), st.integers(0, 12), st.integers(1, 4))
def test_rows_of_several_tables_are_in_the_order_of_one(place, rows, columns, cut, at_a_time):
    """Also those that are alike in all but the last column."""
    table = pl.DataFrame([{**row, "at": at} for at, row in enumerate(rows)], schema=SCHEMA)
    table = table.select(*columns, "at")
    whole = in_one([table], place)
    assert in_one([table[cut:], table[:0], table[:cut]], place, at_a_time).equals(whole)
    assert whole.schema == table.schema
    assert sorted(whole["at"]) == table["at"].to_list()


def test_null_comes_first_texts_by_their_bytes_and_lists_by_their_first_entries(tmp_path):
    texts = pl.DataFrame({"a": ["b", None, "é", "Z"]})
    lists = pl.DataFrame({"b": [[2], [1], [], [1, 5]]})
    assert in_one([texts], tmp_path)["a"].to_list() == [None, "Z", "b", "é"]
    assert in_one([lists], tmp_path)["b"].to_list() == [[], [1], [1, 5], [2]]
    assert not [*tmp_path.iterdir()]
