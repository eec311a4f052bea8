"""A sensitive number in bins, and candidates that are far apart: what the chain, readers and audit say."""

import itertools
import json
import zlib

import polars as pl
import pytest

from republish.anonymize.errors import AuditFailed, SnapshotError
from republish.anonymize.m_invariance import release as module
from republish.anonymize.m_invariance.combinations import combinations_of
from republish.orchestration.readers.estimate.command import Measure, estimate, prepared
from tests import findings as fi
from tests.hospital import RELEASES, audited, make, manifest

FIRST, SECOND, _ = RELEASES
EDGES = [0, 200, 500, 1000, 2000, 5000.5]
COST = {"name": "cost", "kind": "number", "bins": EDGES, "values": None, "unit": "EUR"}
NAMED = "cost in ('0 to under 200', '200 to under 500')"
PRINCIPLE = {
    "name": "m_invariance",
    "m": 3,
    "on_value_change": "hold_back",
    "on_ineligible": "defer",
    "spread": {"cost": 0.1},
}


@pytest.fixture
def costs(hospital):
    """A hospital whose patients cost something."""
    for release in (FIRST, SECOND):
        table = hospital.snapshot(release)
        # Not by polars' own hash, which differs from version to version.
        cost = pl.Series([zlib.crc32(patient.encode()) % 46 for patient in table["patient_id"]])
        hospital.deliver(release, table.with_columns(cost=(cost.cast(pl.Float64) ** 2).round(1)))
    return hospital.under(PRINCIPLE, sensitive=COST)


def test_numbers_are_published_as_bins_estimated_and_audited(costs, tmp_path):
    series = make(costs.series(tmp_path / "home"), FIRST, SECOND)
    folder = series.published(SECOND)
    rows = pl.read_parquet(folder / "microdata.parquet")
    assert set(rows["cost"]) <= {f"{low} to under {high}" for low, high in itertools.pairwise(EDGES)}
    stated = manifest(tmp_path / "home", SECOND)
    assert stated["principle"]["spread"] == {"cost": 0.1}
    assert "lies at least 10 % of the range of all bins" in (folder / "README.md").read_text()
    package = json.loads((folder / "datapackage.json").read_text())["republish"]
    assert package["sensitive"]["bins"] == EDGES
    code, found = audited(costs, series, tmp_path / "report")
    assert code == 0
    assert found[fi.HOST_SPREAD]["found"] >= 0.1
    assert audited(costs, series, tmp_path / "handout", private=False)[0] == 0

    truth = costs.snapshot(SECOND)
    for measure, true in (
        (Measure("cost"), truth["cost"].mean()),
        (Measure("cost", is_sum=True), truth["cost"].sum()),
        (Measure("cost", place=0.5), truth["cost"].median()),
    ):
        found = estimate(folder, measure=measure).row(0, named=True)
        assert found["low"] <= true <= found["high"]
    by_number, by_name = (estimate(folder, where)["people"].item() for where in ("cost < 500", NAMED))
    assert by_number == by_name > 0


def true_people(table, condition):
    return table.sql(f"SELECT count(*) FROM self WHERE {condition}").item()  # noqa: S608 - of this file


def test_a_number_that_is_no_edge_is_compared_between_the_edges_of_its_bin(costs, tmp_path):
    series = make(costs.series(tmp_path / "home"), FIRST, SECOND)
    folder, truth = series.published(SECOND), costs.snapshot(SECOND)
    for where in (
        "cost > 300",
        "NOT cost > 300",
        "cost BETWEEN 550 AND 700",
        "cost / 2 < 350",
        "cost = 1369",
    ):
        found = estimate(folder, where).row(0, named=True)
        true = true_people(truth, where)
        assert found["low"] <= true <= found["high"]
        assert found["standard_error"] >= (found["high"] - found["low"]) / 4 > 0
    fewest, inside, most = (
        estimate(folder, f"cost < {number}").row(0, named=True) for number in (200, 300, 500)
    )
    assert fewest["people"] < inside["people"] < most["people"] <= inside["high"]
    by_sex = estimate(folder, "cost > 300", by="sex")
    for sex, low, high in by_sex.select("sex", "low", "high").rows():
        assert low <= true_people(truth, f"sex = '{sex}' AND cost > 300") <= high
    assert by_sex["share"].sum() == pytest.approx(1, abs=0.001)
    within = ("estimate_drawn(cost) {}", "estimate_lower(cost) >= {}", "estimate_upper(cost) > {}")
    three = ", ".join(within).format("> 300", 300, 300)
    figures = ["people", "standard_error", "low", "high"]
    with prepared(folder, (folder / "estimate.sql").read_text()) as connection:
        for asked, by in (("", ()), (", split := sex", "sex")):
            by_sql = connection.sql(f"FROM estimate_within({three}{asked})").pl().select(figures)
            assert by_sql.equals(estimate(folder, "cost > 300", by=by).select(figures))
        (nobody,) = connection.sql(
            "FROM estimate_within(estimate_drawn(cost) = 1369, false, estimate_lower(cost) = 1000)"
        ).fetchall()
    assert nobody[2:] == tuple(estimate(folder, "cost = 1369").select(figures).row(0))
    age = estimate(folder, "cost > 300", measure=Measure("age")).row(0, named=True)
    assert age["low"] <= truth.filter(pl.col("cost") > 300)["age"].mean() <= age["high"]
    change = estimate(series.published_folder, "cost = 1369", change=True).row(0, named=True)
    before = costs.snapshot(FIRST)
    true = true_people(truth, "cost = 1369") - true_people(before, "cost = 1369")
    assert change["low"] <= true <= change["high"]


def test_a_candidate_whose_numbers_are_too_close_is_not_published(costs, tmp_path, monkeypatch):
    monkeypatch.setattr(
        module, "combinations_of", lambda values, columns, _: combinations_of(values, columns)
    )
    series = costs.series(tmp_path / "home")
    with pytest.raises(AuditFailed, match="spread"):
        make(series, FIRST)
    assert not series.published(FIRST).exists()


def test_a_number_in_no_bin_is_refused_with_the_way_out(costs, tmp_path):
    table = costs.snapshot(FIRST)
    costs.deliver(FIRST, table.with_columns(cost=pl.when(pl.col("cost") > 1000).then(9e5).otherwise("cost")))
    with pytest.raises(
        SnapshotError, match=r"cost: \d+ of \d+ rows lie outside the domain \(0 to under 5000\.5\)"
    ):
        make(costs.series(tmp_path / "home"), FIRST)
