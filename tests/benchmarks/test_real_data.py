import itertools

import polars as pl
import pytest

from benchmarks.real_data import (
    WHY_NOT,
    adult,
    adult_contract,
    adult_series,
    data_folder,
    receipts_contract,
    receipts_series,
)
from benchmarks.series import contract_of, pseudonymous
from republish.anonymize.contract import CategoryAttribute

pytestmark = pytest.mark.skipif(data_folder() is None, reason=WHY_NOT)


@pytest.fixture(scope="module")
def folder():
    return data_folder()


def test_adult_has_30162_rows_without_missing_values(folder):
    people = adult(folder)
    assert people.height == 30_162
    assert people.null_count().sum_horizontal().item() == 0
    most_frequent = people["occupation"].value_counts()["count"].max()
    assert most_frequent / people.height == pytest.approx(0.134, abs=0.0005)


def test_adult_made_dynamic_replaces_1500_of_15000(folder):
    series = dict(adult_series(folder))
    assert len(series) == 10
    for last, now in itertools.pairwise(series.values()):
        assert now.height == 15_000
        assert len(set(now["person_id"]) - set(last["person_id"])) == 1500


def test_every_value_of_adult_is_in_its_hierarchy(folder):
    contract, people = contract_of(adult_contract(folder)), adult(folder)
    assert pseudonymous(people, contract).height == 30_162
    for attribute in contract.quasi_identifiers:
        if isinstance(attribute, CategoryAttribute):
            assert set(people[attribute.name]) == set(attribute.labels)


def test_receipts_are_twelve_half_years_of_those_treated(folder):
    contract = contract_of(receipts_contract())
    series = dict(receipts_series(folder))
    assert (min(series), max(series), len(series)) == ("2016-01-01", "2021-07-01", 12)
    for snapshot in series.values():
        people = pseudonymous(snapshot, contract)
        assert people.height == snapshot.height == snapshot["person_id"].n_unique()
    assert series["2021-01-01"].height == 515


def test_a_persons_chapter_is_that_of_their_latest_receipt(folder):
    receipts = pl.read_csv(folder / "receipts" / "receipt.csv", infer_schema=False)
    snapshot = dict(receipts_series(folder))["2021-01-01"]
    in_half = receipts.filter(pl.col("treatment_ym").is_between(pl.lit("2021/01"), pl.lit("2021/06")))
    latest = in_half.filter(pl.col("treatment_ym") == pl.col("treatment_ym").max().over("iid"))
    possible = set(latest.select("iid", "icd10").iter_rows())
    assert set(snapshot.select("person_id", "chapter").iter_rows()) <= possible


def test_people_of_the_receipts_return_and_change(folder):
    series = [
        dict(snapshot.select("person_id", "chapter").iter_rows()) for _, snapshot in receipts_series(folder)
    ]
    absent = [
        first.keys() & third.keys() - second.keys()
        for first, second, third in zip(series, series[1:], series[2:], strict=False)
    ]
    assert sum(map(len, absent)) > 10
    for last, now in itertools.pairwise(series):
        assert any(last[person] != now[person] for person in last.keys() & now.keys())
