"""Numbers that two machines, and two versions of any library, have alike."""

import polars as pl

from republish.anonymize.attack.hashes import content_numbers, plain_hashes
from republish.anonymize.kernels.splitmix import numbers_drawn, rows_drawn


def test_hashes_of_names_are_those_of_siphash_with_a_key_of_zeros():
    """SipHash-2-4 of `flu`, and of numbers as they are written."""
    flu, again, number = plain_hashes(pl.Series(["flu", "flu", "7"])).tolist()
    assert flu == again == plain_hashes(pl.Series([b"flu"])).item()
    assert number == plain_hashes(pl.Series([7])).item()
    assert flu == 8898744714395480805


def test_rows_with_texts_have_the_same_number_for_ever():
    rows = pl.DataFrame({"person": ["a", "b", "a"], "value": ["flu", "flu", "gout"]})
    numbers = content_numbers(rows)
    assert numbers.n_unique() == 3
    assert numbers.to_list() == content_numbers(rows.reverse()).reverse().to_list()
    assert numbers[0] == 1476309471932262953


def test_draws_are_those_of_splitmix64():
    """The first outputs of its reference implementation from the seed 0."""
    first = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert numbers_drawn(0, 3).tolist() == first
    assert numbers_drawn(1, 3).tolist() == first[1:]
    assert rows_drawn(3, 2).tolist() == [2, 1]
    assert sorted(rows_drawn(100, 200).tolist()) == list(range(100))
