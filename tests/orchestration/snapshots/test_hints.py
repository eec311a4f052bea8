"""What a publisher is told about identifiers and moments that are nearly right."""

import datetime as dt

import polars as pl
import pytest

from republish.anonymize.principles import parse_contract
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
    assert "all are at 22:00, as midnights of another zone are: write days" in fault
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
