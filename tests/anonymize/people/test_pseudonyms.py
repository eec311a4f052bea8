import hashlib

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from republish.anonymize.people.pseudonyms import pseudonyms

KEY = b"a key of some thirty bytes or so"


def reference(identifiers, key=KEY):
    return [hashlib.blake2b(each, key=key, digest_size=16).digest() for each in identifiers]


@pytest.mark.parametrize("length", [0, 1, 7, 8, 127, 128, 129, 255, 256, 257, 1000])
def test_is_blake2b_at_every_block_boundary(length):
    identifier = bytes(i % 251 for i in range(length))
    assert pseudonyms(pl.Series([identifier]), KEY).to_list() == reference([identifier])


@given(st.lists(st.binary(max_size=300)), st.lists(st.text(max_size=40)), st.binary(min_size=1, max_size=64))
def test_is_blake2b_of_any_bytes_under_any_key_and_text_is_taken_as_utf_8(identifiers, words, key):
    series = pl.Series(identifiers, dtype=pl.Binary)
    assert pseudonyms(series, key).to_list() == reference(identifiers, key)
    text = pl.Series(words, dtype=pl.String)
    assert pseudonyms(text, key).to_list() == reference((each.encode() for each in words), key)


def test_a_slice_of_a_column_has_the_pseudonyms_of_its_own_rows():
    column = pl.Series(["Ærø", "", "Zoë" * 60, "日本", "last"])
    assert pseudonyms(column[1:4], KEY).to_list() == pseudonyms(column, KEY)[1:4].to_list()


def test_a_column_in_several_chunks_keeps_its_order():
    column = pl.concat([pl.Series(["a", "b"]), pl.Series(["c"])], rechunk=False)
    assert pseudonyms(column, KEY).to_list() == reference([b"a", b"b", b"c"])


def test_a_number_and_its_text_are_one_person():
    text = pseudonyms(pl.Series(["7", "12"]), KEY).to_list()
    for dtype in (pl.Int64, pl.UInt8, pl.Categorical):
        values = pl.Series(["7", "12"]).cast(dtype)
        assert pseudonyms(values, KEY).to_list() == text


def test_the_result_is_binary_and_bears_the_columns_name():
    result = pseudonyms(pl.Series("patient_id", [], dtype=pl.String), KEY)
    assert (result.name, result.dtype, len(result)) == ("patient_id", pl.Binary, 0)


def test_another_key_gives_other_pseudonyms():
    people = pl.Series(["Ann", "Bob"])
    assert not set(pseudonyms(people, b"one")) & set(pseudonyms(people, b"other"))


def test_a_null_has_no_pseudonym():
    with pytest.raises(ValueError, match="1 identifiers are null"):
        pseudonyms(pl.Series(["Ann", None]), KEY)


@pytest.mark.parametrize("key", [b"", b"x" * 65])
def test_a_key_outside_the_algorithms_range_is_refused(key):
    with pytest.raises(ValueError, match="1 to 64 bytes"):
        pseudonyms(pl.Series(["Ann"]), key)
