"""The figures that a check's words are made of."""

import polars as pl

from republish.anonymize.promise.check import Check, figures_of

SIZES = pl.DataFrame({"values": [2, 5, 4], "newcomers": [0, 3, 1]})


def test_of_people_who_are_owed_something_the_fewest_are_stated():
    """The group of two has nobody new in it; of the others, the one with four values decides."""
    found = figures_of(SIZES)
    assert [f"{found[name]}" for name in ("values_min", "values_new", "values_max")] == ["2", "4", "5"]
    assert (found["rows"], found["values_sum"]) == (3, 11)


def test_where_nobody_is_new_nothing_is_found():
    check = Check("sizes", "Groups are large.", "fewest found {values_new} of {rows}")
    assert check.describe(figures_of(SIZES.filter(newcomers=0))) == "fewest found none of 1"


def test_figures_are_plotted_under_names_that_a_reader_knows():
    check = Check("sizes", "Groups are large.", "{least_min} {values_min} {values_new} {values_max} {rows}")
    assert check.figures(figures_of(SIZES.with_columns(least=2))) == {
        "smallest values promised": 2,
        "smallest values": 2,
        "fewest values with newcomers": 4,
        "values": 5,
        "rows of evidence": 3,
    }
