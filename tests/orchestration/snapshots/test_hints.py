"""What a publisher is told about identifiers and moments that are nearly right."""

import datetime as dt

import polars as pl
import pytest

from republish.anonymize.principles import parse_contract
from republish.orchestration.snapshots.no_identifier import WAYS_OUT, advice_on_many_rows, forms_of_none
from republish.orchestration.snapshots.validation import describe_faults

CONTRACT = parse_contract({
    "product": "members",
    "series": "v1",
    "releases": {"first": "2024-01-01"},
    "source": {"path": "{release}.parquet"},
    "identifier": "person",
    "quasi_identifiers": [{"name": "born", "kind": "date", "domain": ["1930-01-01", "2029-12-31"]}],
    "sensitive": {"name": "illness"},
    "principle": {"name": "m_invariance", "m": 2},
})  # fmt: skip
PEOPLE = 12


def faults(**columns):
    """What is said of twelve people, some of whose columns are others."""
    (identifier, _), (born, _), (value, _) = CONTRACT.column_names().items()
    as_usual = {
        "person": pl.Series([f"p{number}" for number in range(PEOPLE)]),
        "born": pl.Series([dt.date(1980, 1 + number, 1) for number in range(PEOPLE)]),
        "illness": pl.Series(["flu", "gout"] * (PEOPLE // 2)),
    } | columns
    names = {identifier: "person", born: "born", value: "illness"}
    return describe_faults(pl.DataFrame({ours: as_usual[name] for ours, name in names.items()}), CONTRACT)


def midnights(zone):
    """Midnights of January in a time zone, as moments of UTC."""
    days = [dt.date(1980, 1, 1 + number) for number in range(PEOPLE)]
    moments = pl.Series(days).cast(pl.Datetime("us")).dt.replace_time_zone(zone)
    return moments.dt.convert_time_zone("UTC")


@pytest.mark.parametrize("is_zoned", [True, False])
def test_midnights_of_another_zone_are_said_to_be_so(is_zoned):
    moments = midnights("Europe/Athens")
    (fault,) = faults(born=moments if is_zoned else moments.dt.replace_time_zone(None))
    assert "12 of 12 rows are not dates" in fault
    assert "all are at 22:00, as midnights of another zone are: name it under source (zone:" in fault
    assert ("midnights of UTC are dates" in fault) == is_zoned


def test_moments_at_all_hours_are_no_midnights():
    hours = pl.Series([dt.timedelta(hours=number + 1) for number in range(PEOPLE)])
    (fault,) = faults(born=midnights("UTC").dt.replace_time_zone(None) + hours)
    assert "12 of 12 rows are not dates" in fault
    assert "midnights" not in fault


def test_an_hour_that_few_have_is_not_named():
    moments = midnights("Europe/Athens").dt.replace_time_zone(None).to_list()
    moments[0] += dt.timedelta(hours=3)
    (fault,) = faults(born=pl.Series(moments))
    assert "all are at" not in fault


def test_two_people_whose_identifiers_differ_by_case_are_to_be_told_apart():
    several = pl.Series([f"p{number}" for number in range(PEOPLE - 1)] + ["P3"])
    (fault,) = faults(person=several)
    assert "1 of 12 rows repeat the identifier of another row; 1 of them differ by" in fault
    assert "if they are two people, write one of them otherwise" in fault
    (same,) = faults(person=several.replace("P3", "p3"))
    assert "1 of 12 rows repeat the identifier of another row; a snapshot has one row for each person" in same


NONE = {
    "words": ["Unknown", "WITHHELD", "non précisé", "keine Angabe", "don't know", "n/a", "(null)", "xxxx",
              " ", "\N{ZERO WIDTH SPACE}", "-", "***", "#N/A", "anonymous", "No ID"],
    "scientific": ["1.23E+05", "1,23E+05", "1e+05", "4.5D+17", "1.23457E9"],
    "stand-in": ["0", "-1", "999", "0000000", "0.0", "8888888"],
}  # fmt: skip
OTHERS = [f"p{number:04d}" for number in range(40)]


@pytest.mark.parametrize(("form", "odd"), [(form, odd) for form, all_odd in NONE.items() for odd in all_odd])
def test_identifiers_that_are_none_are_refused_by_their_form_and_count(form, odd):
    """Also one row of them: whoever has it in the next snapshot need not be the same."""
    (fault,) = faults(
        person=pl.Series([*OTHERS, odd]),
        born=pl.Series([dt.date(1980, 1, 1)] * 41),
        illness=pl.Series(["flu"] * 41),
    )
    assert "person: 1 of 41 rows have an identifier that is none" in fault
    assert WAYS_OUT[form] in fault
    assert not any(way in fault for other, way in WAYS_OUT.items() if other != form)


def of_none(identifiers, *, is_several=False):
    column = pl.Series("person", identifiers)
    forms = forms_of_none(pl.col("person"), is_text=column.dtype == pl.String, is_several=is_several)
    found = column.to_frame().select(rows.sum().alias(form) for form, rows in forms.items())
    return {form: rows for form, rows in found.row(0, named=True).items() if rows}


def test_a_line_of_totals_and_stand_ins_for_names_are_nobody():
    words = ["Total", "TOTALS", "Gesamt", "N.N.", "TEMP", "x", "no name", "Insgesamt:"]
    assert of_none([*OTHERS, *words]) == {"words": len(words)}


@pytest.mark.parametrize("missing", [[], ["Porto"]])
def test_a_label_that_is_split_is_said_to_be(missing):
    """If nobody has it any more, and all others are there: else nobody can say which one it was."""
    declared = CONTRACT.model_dump(mode="json", exclude_none=True)
    town = {"name": "town", "kind": "category", "order": ["Oslo", "Rome", "Kyiv", *missing]}
    schema = parse_contract(declared | {"quasi_identifiers": [town]})
    towns = ["Oslo", "Rome", "Kyiv east", "Kyiv west"] * 4
    table = {"person": [f"P{at}" for at in range(16)], "town": towns, "illness": ["flu", "gout"] * 8}
    own = {ours: pl.Series(table[name]) for ours, name in schema.column_names().items()}
    (fault,) = describe_faults(pl.DataFrame(own), schema)
    said = (
        "nobody has Kyiv, which the contract lists: if it was split, put its parts in its place there; else"
    )
    assert (said in fault) == (not missing)
    assert "8 of 16 rows lie outside the domain" in fault


@pytest.mark.parametrize(
    "base", [OTHERS, [f"{number:08x}" for number in range(40)], ["ab", "ac", "dk", "na"]]
)
def test_identifiers_that_only_look_odd_are_somebodys(base):
    """Codes and hexadecimal numbers with an E, numbered stand-ins, names, and initials among initials."""
    assert not of_none([*base, "12E5", "3e12", "unknown 3", "Nadia", "Null2", "p9999"])
    assert not of_none([*range(50)])
    assert not of_none([*range(990, 1_010)])


def test_numbers_that_a_spreadsheet_cut_are_found_if_all_of_them_are():
    long = [1_234_567_890_123_450 + 10 * number for number in range(30)]
    assert of_none(long) == {"cut": 30}
    assert of_none([str(number) for number in long]) == {"cut": 30}
    assert not of_none([*long, long[0] + 1])


def test_a_stand_in_that_many_rows_have_is_found_where_people_have_several():
    visits = [f"{number % 30 + 100}" for number in range(90)]
    assert of_none([*visits, *["000"] * 20], is_several=True) == {"stand-in": 20}
    assert not of_none([*visits, *["111"] * 3], is_several=True)


@pytest.mark.parametrize("stand_in", ["withheld", "999", "P0000", 0])
def test_an_identifier_that_many_rows_share_is_said_to_stand_in_for_several_people(stand_in):
    people = [number if stand_in == 0 else f"{number}" for number in range(101, 141)]
    found = faults(
        person=pl.Series([*people, *[stand_in] * 8]),
        born=pl.Series([dt.date(1980, 1, 1)] * 48),
        illness=pl.Series(["flu"] * 48),
    )
    assert "7 of 48 rows repeat the identifier of another row; 8 rows have one and the same" in found[0]
    assert "if it stands in for people whose own is not known, leave these rows out" in found[0]
    twice = faults(person=pl.Series([f"p{number // 2}" for number in range(PEOPLE)]))
    assert not any("one and the same" in fault for fault in twice)


def test_somebody_with_far_more_rows_than_anybody_else_is_asked_about():
    several = CONTRACT.model_copy(update={"rows": "several"})
    visits = pl.DataFrame({"identifier": [f"p{number % 30}" for number in range(60)] + ["p7"] * 40})
    assert "one identifier has 42 of 100 rows, and no other one more than 2" in advice_on_many_rows(
        visits, several, "rows"
    )
    assert advice_on_many_rows(visits[:60], several, "rows") is None
    assert advice_on_many_rows(visits, CONTRACT, "people") is None
