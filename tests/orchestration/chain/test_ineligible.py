"""A batch of new people of whom too many share a value: what the manifest and the next releases say of it."""

import json

import polars as pl
import pytest

from republish.orchestration.dagster import metadata
from tests.hospital import RELEASES, make

FIRST, SECOND, THIRD = RELEASES


@pytest.fixture
def crowd(hospital):
    """The second snapshot is the first with 30 new people, most of whom have the flu."""
    return with_crowd(hospital, 24)


@pytest.fixture
def half(hospital):
    """The same, with 12 people who have the flu: one third is 10, and half is 15."""
    return with_crowd(hospital, 12)


def with_crowd(hospital, flu):
    known, later = hospital.snapshot(FIRST), hospital.snapshot(SECOND)
    new = pl.concat([later, hospital.snapshot(THIRD)]).unique("patient_id", keep="first", maintain_order=True)
    new = new.join(known, on="patient_id", how="anti")[:30]
    diseases = ["flu"] * flu + [("asthma", "stroke")[n % 2] for n in range(30 - flu)]
    hospital.deliver(SECOND, pl.concat([known, new.with_columns(disease=pl.Series(diseases))]))
    return hospital


def manifest(series, release):
    return json.loads((series.published(release) / "manifest.json").read_text())


@pytest.mark.slow("takes more than a second")
def test_people_exposed_by_counterfeits_and_beside_them_are_stated(half, tmp_path):
    """Readers can count the latter themselves."""
    series = make(half.series(tmp_path / "home"), FIRST, SECOND)
    assert "exposed" not in manifest(series, FIRST)
    stated = manifest(series, SECOND)
    assert stated["counterfeits"] > 0
    assert stated["exposed"] >= 12
    committed = series.committed(SECOND)
    shown = metadata.of_candidate(series, SECOND, committed)["audit"]
    assert shown["people exposed by counterfeits"] == stated["exposed"]
    folder = series.published(SECOND)
    sizes = pl.read_parquet(folder / "microdata.parquet").group_by("group_id").len("rows")
    forged = pl.read_parquet(folder / "counterfeits.parquet").select("group_id", "count")
    people = sizes.join(forged, on="group_id", how="left").with_columns(
        people=pl.col("rows").cast(pl.Int64) - pl.col("count").fill_null(0)
    )
    assert stated["beside_counterfeits"] == people.filter(pl.col("count") > 0)["people"].sum() > 0
    assert stated["fewest_people"] == people["people"].min() == 2
    said = " ".join((folder / "README.md").read_text().split())
    assert f"{stated['beside_counterfeits']} people share a group with a counterfeit" in said
    assert "at most one in 2 has the same value" in said


@pytest.mark.slow("takes more than a second")
def test_a_crowd_of_whom_more_than_half_share_a_value_waits_for_company(crowd, tmp_path):
    stated = manifest(make(crowd.series(tmp_path / "home"), FIRST, SECOND), SECOND)
    assert (stated["held_back"], stated["counterfeits"]) == (30, 0)


@pytest.mark.slow("takes more than a second")
def test_people_who_wait_are_stated_exposed_by_nothing_and_released_with_later_people(crowd, tmp_path):
    crowd.declare(principle={"on_ineligible": "wait"})
    series = make(crowd.series(tmp_path / "home"), FIRST, SECOND)
    stated = manifest(series, SECOND)
    assert (stated["held_back"], stated["tuples"] - stated["counterfeits"]) == (30, 300)
    assert "exposed" not in stated
    linked = pl.read_parquet(series.private(SECOND) / "linkage.parquet")["patient_id"]
    assert set(linked) == set(crowd.snapshot(FIRST)["patient_id"])
    waiting, others = (
        crowd.snapshot(SECOND),
        crowd.snapshot(THIRD).join(crowd.snapshot(SECOND), on="patient_id", how="anti"),
    )
    values = ["angina", "cataract", "stroke", "gastritis"]
    later = others.with_columns(disease=pl.Series([values[n % 4] for n in range(others.height)]))
    assert others.height > 10
    more = [later.with_columns(patient_id=pl.col("patient_id") + suffix) for suffix in ("", "b", "c")]
    crowd.deliver(THIRD, pl.concat([waiting, *more]))
    make(series, THIRD)
    assert manifest(series, THIRD)["held_back"] == 0
    assert manifest(series, THIRD)["tuples"] >= waiting.height + 3 * others.height
