import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from republish.anonymize.people.persons import PERSON_BYTES, sorted_by_names


@pytest.mark.parametrize("own", [0, 8])
@given(st.lists(st.tuples(st.sampled_from([0, 1, 127, 128, 255]), st.integers(0, 2**20)), max_size=30))
def test_rows_are_in_the_order_of_the_bytes_of_their_names(own, drawn):
    names = [
        bytes([first]) + np.random.default_rng(seed % 7).bytes(PERSON_BYTES - 1) + seed.to_bytes(8)[8 - own :]
        for first, seed in drawn
    ]
    rows = pl.DataFrame({"name": pl.Series(names, dtype=pl.Binary)})
    assert sorted_by_names(rows, "name")["name"].to_list() == sorted(names)
