import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from republish.anonymize.attack.numbers import Numbers, is_repeated, joined

DENSE = st.lists(st.integers(0, 9), max_size=12)
NUMBERS = DENSE | st.lists(
    st.one_of(st.none(), st.integers(0, 9), st.sampled_from([-1, 10**12])), max_size=12
)
VALUES = st.sampled_from(["flu", "gout", None])


@given(NUMBERS, NUMBERS, st.data(), st.sampled_from(["inner", "left", "semi", "anti"]))
@settings(max_examples=100)
def test_a_lookup_by_number_is_a_join(numbers, others, data, how):
    left, right = (
        pl.DataFrame(
            {"person": one, "value": [data.draw(VALUES) for _ in one], own: range(len(one))},
            schema={"person": pl.Int64, "value": pl.String, own: pl.Int64},
        )
        for one, own in ((numbers, "a"), (others, "b"))
    )
    for key in (["person"], ["person", "value"]):
        # People are once in most tables; a table in which somebody is twice is joined by polars.
        for other in (right, right.unique("person", keep="first", maintain_order=True)):
            expected = left.join(other, on=key, how=how, maintain_order="left_right")
            assert_frame_equal(joined(left, other, on=key, how=how), expected, check_row_order=how != "inner")


@given(NUMBERS)
@settings(max_examples=50)
def test_numbers_that_are_there_twice_are_found(numbers):
    column = pl.Series(numbers, dtype=pl.Int64)
    assert is_repeated(column).to_list() == [numbers.count(one) > 1 for one in numbers]


@pytest.mark.parametrize("size", [0, 1, 10, 3_000])
def test_everybody_has_one_number_and_gets_their_name_back(size):
    names = [f"person {number}".encode() for number in range(2 * size)]
    people = pl.DataFrame({"person": names[:size]}, schema={"person": pl.Binary})
    several = names[size // 2 :] * 2
    others = pl.DataFrame(
        {"person": several, "of": range(len(several))}, schema_overrides={"person": pl.Binary}
    )
    numbers = Numbers(people["person"])
    assert numbers.numbered(people)["person"].to_list() == list(range(size))
    numbered = numbers.numbered(others)
    assert numbered["person"].n_unique() == others["person"].n_unique()
    assert numbered["person"].max() in (None, 2 * size - 1)
    assert numbers.named(numbered).equals(others)
    assert numbers.named(numbers.numbered(people)).equals(people)
