"""The order of rows, and the keys by which it is cut."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from republish.orchestration.engine.sorting import keys_of, sorted_table

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


@given(st.lists(ROWS, min_size=1, max_size=12), st.permutations([*SCHEMA][:-1]), st.data())
def test_rows_between_keys_are_a_stretch_of_the_whole_order(place, rows, columns, data):
    """Also of those that are alike in all but the last column."""
    table = pl.DataFrame([{**row, "at": at} for at, row in enumerate(rows)], schema=SCHEMA)
    by = [*columns, "at"]
    whole = sorted_table(table, by, place / "spilled")
    keys = keys_of(table, by, place / "spilled").to_list()
    assert keys == [keys_of(one, by, place / "spilled").item() for one in whole.iter_slices(1)]
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(rows) - 1)] * 2)))
    found = sorted_table(table, by, place / "spilled", keys[start], keys[end])
    assert found["at"].to_list() == whole["at"][start:end].to_list()
    assert found.schema == whole.schema


def test_null_comes_first_texts_by_their_bytes_and_lists_by_their_first_entries(tmp_path):
    table = pl.DataFrame({"a": ["b", None, "é", "Z"], "b": [[2], [1], [], [1, 5]]})
    assert sorted_table(table, ["a"], tmp_path / "spilled")["a"].to_list() == [None, "Z", "b", "é"]
    assert sorted_table(table, ["b"], tmp_path / "spilled")["b"].to_list() == [[], [1], [1, 5], [2]]
    assert not [*tmp_path.iterdir()]
