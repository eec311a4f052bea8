"""The paper's experiments on few people: what is measured, and what stands in the tables."""

import json

import numpy as np
import polars as pl
import pytest

from benchmarks import papers
from benchmarks.census import DOMAINS, QUASI_IDENTIFIERS, census_series
from benchmarks.estimator import estimated_cells, estimating
from benchmarks.measures.cells import cells_of_groups, cells_of_people
from benchmarks.measures.queries import range_workload
from benchmarks.papers_series import Asked, Case, case_contract, measure, read
from benchmarks.papers_tables import counterfeits, errors, seconds
from benchmarks.series import released

CASE = Case("occupation", 4, 100, 1_000)


@pytest.fixture(scope="module")
def release():
    contract = case_contract(CASE)
    snapshots = census_series(3_000, CASE.live, CASE.r, releases=3)
    *_, (people, candidate) = released(snapshots, contract)
    return contract, people, candidate.published


def test_what_the_product_estimates_is_the_sum_over_cells(release):
    contract, _, published = release
    workload = range_workload(contract, 5, 0.3, np.random.default_rng(1))
    found = estimated_cells(published, contract).counts(workload)
    names = [*QUASI_IDENTIFIERS, "occupation"]
    with estimating(published, contract) as connection:
        for query, count in enumerate(found):
            low, high = workload.low[query].copy(), workload.high[query].copy()
            low[-1], high[-1] = low[-1] + DOMAINS["occupation"][0], high[-1] + DOMAINS["occupation"][0]
            ranges = zip(names, low, high, strict=True)
            condition = " AND ".join(f"{name} BETWEEN {start:g} AND {end:g}" for name, start, end in ranges)
            (row,) = connection.sql(f"FROM estimate({condition})").fetchall()
            assert count == pytest.approx(row[2], abs=0.06)


def test_every_reading_of_a_release_has_as_many_people_as_the_table(release):
    contract, people, published = release
    everything = range_workload(contract, 1, 1, np.random.default_rng(1))
    readings = cells_of_groups(read(published, contract), contract), estimated_cells(published, contract)
    for cells in (cells_of_people(people, contract), *readings):
        assert cells.counts(everything) == pytest.approx([1_000])


@pytest.fixture(scope="module")
def rows():
    asked = Asked((0.1, 0.5), every=2, estimated=3)
    first = list(measure(Case("occupation", 10, 100, 2_000), 4, asked))
    other = list(measure(Case("occupation", 4, 100, 2_000), 2, Asked((0.1,))))
    return first + other


def test_counts_are_asked_for_when_they_are_due(rows):
    evenly = [row["release"] for row in rows[:4] if "evenly" in row]
    estimated = [row["release"] for row in rows[:4] if "estimated" in row]
    assert (evenly, estimated) == ([1, 3], [1, 4])
    assert set(rows[0]["evenly"]) == set(rows[0]["estimated"]) == {"0.1", "0.5"}
    assert all(0 < error < 1 for row in rows for error in row.get("evenly", {}).values())
    assert all(row["seconds"] > 0 and 0 < row["ncp"] < 1 for row in rows)


def test_larger_groups_have_longer_intervals_and_larger_errors(rows):
    of_ten, of_four = rows[0], rows[4]
    assert of_ten["ncp"] > of_four["ncp"]
    assert of_ten["evenly"]["0.1"] > of_four["evenly"]["0.1"]


def frames(tables, rows):
    return [frame for _, frame in tables(pl.DataFrame(rows, infer_schema_length=None))]


def test_series_with_different_m_are_compared_in_the_releases_that_both_have(rows):
    *_, of_m = frames(counterfeits, rows)
    assert of_m.select("m", "releases").rows() == [(4, 2), (10, 2)]
    assert [frame["releases"].max() for frame in frames(seconds, rows)] == [4, 2]
    over_time, *_ = frames(errors, rows)
    assert over_time["release"].to_list() == [1]


def test_estimators_are_compared_in_the_releases_that_were_asked_of_both(rows):
    *_, of_selectivity, _ = frames(errors, rows)
    assert of_selectivity["selectivity"].to_list() == ["10%", "50%"]
    assert of_selectivity["asked"].to_list() == [1, 1]
    for estimator in ("evenly", "estimated"):
        assert of_selectivity[estimator].to_list() == list(rows[0][estimator].values())


def test_what_the_paper_says_stands_beside():
    row = {
        "sensitive": "income",
        "m": 10,
        "live": 200_000,
        "ncp": 0.1,
        "seconds": 1.0,
        "evenly": {"0.1": 0.05},
    }
    measured = [
        row | {"r": r, "release": release, "counterfeits": counterfeits}
        for r in (5_000, 20_000)
        for release, counterfeits in ((1, 0), (2, 30))
    ]
    over_time, of_r, _ = frames(counterfeits, measured)
    assert over_time.row(0) == ("income", 2, 15.0, 30, 1, "12", "33 of 81")
    assert of_r["paper: mean"].to_list() == ["figure, not in the text", "0"]


@pytest.mark.thorough
def test_a_series_that_is_in_the_file_is_not_measured_again(tmp_path, monkeypatch, capsys):
    file = tmp_path / "measured.jsonl"
    small = ["--only", "counterfeits", "--sensitive", "income", "--rows", "1000", "--releases", "2", "--m"]
    monkeypatch.setattr("sys.argv", ["papers", *small, "--json", str(file)])
    papers.main()
    measured = file.read_text()
    rows = [json.loads(line) for line in measured.splitlines()]
    assert [(row["r"], row["release"]) for row in rows] == [
        (r, release) for r in (25, 50, 100, 200) for release in (1, 2)
    ]
    assert not any("evenly" in row for row in rows)
    papers.main()
    assert file.read_text() == measured
    monkeypatch.setattr("sys.argv", ["papers", "--from", str(file), "--plot", str(tmp_path)])
    papers.main()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "counterfeits.svg",
        "measured.jsonl",
        "seconds.svg",
    ]
    assert "Figure 5" in capsys.readouterr().out
