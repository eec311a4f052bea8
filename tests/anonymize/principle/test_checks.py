"""The figures that a check's words are made of."""

import polars as pl

from anonymize.promise.check import Check, figures_of

SIZES = pl.DataFrame({"values": [2, 5, 4], "newcomers": [0, 3, 1]})


def test_of_people_who_are_owed_something_the_fewest_are_stated():
    """The group of two has nobody new in it; of the others, the one with four values decides."""
    found = figures_of(SIZES)
    assert [f"{found[name]}" for name in ("values_min", "values_new", "values_max")] == ["2", "4", "5"]
    assert (found["rows"], found["values_sum"]) == (3, 11)


def test_where_nobody_is_new_nothing_is_found():
    check = Check("sizes", "Groups are large.", "fewest found {values_new} of {rows}")
    assert check.describe(figures_of(SIZES.filter(newcomers=0))) == "fewest found none of 1"
