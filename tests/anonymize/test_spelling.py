"""Values and identifiers that only differ by how they are written have one form."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from republish.anonymize.spelling import identifier_forms, normal_form, twins, value_form

COMPOSED = "H\N{LATIN SMALL LETTER E WITH ACUTE}patite C"
TWINS = {
    "decomposed": (COMPOSED, "He\N{COMBINING ACUTE ACCENT}patite C"),
    "zero width": ("flu", "fl\N{ZERO WIDTH SPACE}u"),
    "byte order mark": ("flu", "\N{ZERO WIDTH NO-BREAK SPACE}flu"),
    "soft hyphen": ("influenza", "influ\N{SOFT HYPHEN}enza"),
    "no-break space": ("flu b", "flu\N{NO-BREAK SPACE}b"),
    "double space": ("flu b", "flu  b"),
    "tabulator": ("flu b", "flu\tb"),
    "around": ("flu", " flu "),
    "NUL": ("flu", "flu\0"),
    "wide letters": ("flu", "\N{FULLWIDTH LATIN SMALL LETTER F}lu"),
    "capital letters": ("flu", "Flu"),
}
NUMBERS = [
    ("7", "07"),
    ("7", "7.0"),
    ("7.5", "7.50"),
    ("+7", "7"),
    ("0", "00"),
    ("-7", "-07"),
    ("0.5", "00.5"),
]
OTHERS = [
    ("flu", "flu b"),
    ("7", "70"),
    ("7", "-7"),
    ("7.5", "75"),
    ("A07", "A7"),
    ("1.2.0", "1.2"),
    ("e", "\xe9"),
]


@pytest.mark.parametrize("case", TWINS)
def test_what_looks_the_same_is_one_value_and_one_identifier(case):
    both = pl.Series(TWINS[case])
    assert both.to_frame("a").select(normal_form(pl.col("a")))["a"].n_unique() == 1
    assert twins(both) == [sorted(TWINS[case])]


@pytest.mark.parametrize("both", NUMBERS)
def test_numbers_that_are_equal_are_one_value_and_not_one_identifier(both):
    table = pl.DataFrame({"a": both})
    assert table.select(value_form(pl.col("a")))["a"].n_unique() == 1
    assert table.select(normal_form(pl.col("a")))["a"].n_unique() == 2


@pytest.mark.parametrize("both", OTHERS)
def test_what_differs_in_more_are_two(both):
    assert twins(pl.Series(both)) == []


def test_numbers_by_type_have_no_twins():
    assert twins(pl.Series([7, 70])) == []


@given(
    st.lists(
        st.none() | st.text("aAZ09.+-_\t \xad\xe9") | st.integers().map(str) | st.from_regex(r"[A-z][!-~]*")
    )
)
def test_the_short_way_to_the_form_of_an_identifier_leads_to_the_same(identifiers):
    for some in (identifiers, identifiers[:1]):
        text = pl.Series(some, dtype=pl.String)
        assert identifier_forms(text).equals(pl.select(value_form(pl.lit(text))).to_series())
    numbers = pl.Series([0, -7, 12, None, 2**63 - 1, -(2**63)])
    assert identifier_forms(numbers).equals(
        pl.select(value_form(pl.lit(numbers.cast(pl.String)))).to_series()
    )


@given(st.lists(st.from_regex(r"[ -~]*", fullmatch=True)))
def test_ascii_has_the_same_form_alone_as_beside_other_text(plain):
    alone, beside = (
        pl.select(normal_form(pl.lit(pl.Series(some, dtype=pl.String)))).to_series()
        for some in (plain, [*plain, " \xe9"])
    )
    assert alone.equals(beside[:-1])
