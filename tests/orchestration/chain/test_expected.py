"""Errors that `republish validate` expects: those of a researcher who gets the release, once it is out."""

import json
import math
from itertools import pairwise

import polars as pl
import pytest

from republish.anonymize.contract.bins import bin_names
from republish.orchestration.chain import expected
from republish.orchestration.chain.expected import expected_errors
from republish.orchestration.chain.rehearsal import rehearsal, rehearse
from republish.orchestration.chain.snapshot import take_snapshot
from republish.orchestration.cli.expecting import CANT_TELL, MOST, say_expected
from republish.orchestration.readers.estimate.command import estimate
from tests.hospital import KEY, everything, make
from tests.test_golden import CASES, GOLDEN, QUICK, RELEASES, SLOW, delivered

FIRST, SECOND, _ = RELEASES
BINS = dict(zip(bin_names(EDGES := (0, 100, 200, 400, 800, 1600, 3200)), pairwise(EDGES), strict=True))
WHENS = [f"WHEN cost < {high} THEN '{name}'" for name, (_, high) in BINS.items()]
OF_BINS = f"CASE {' '.join(WHENS)} END"
GOLDEN_SAYS = json.loads(GOLDEN.read_text())
RELEASED = [one for one in CASES if "refused" not in GOLDEN_SAYS[one][FIRST]]


@pytest.fixture(autouse=True)
def one_key(monkeypatch):
    monkeypatch.setenv("REPUBLISH_KEY", KEY)


def errors_of(series, release):
    """What is expected of a release that is not published."""
    with rehearsal(series) as tried:
        take_snapshot(tried, release)
        return expected_errors(tried, release, rehearse(tried, release))


@pytest.mark.parametrize("case", [pytest.param(one, marks=[] if one in QUICK else SLOW) for one in RELEASED])
def test_what_is_expected_is_what_a_researcher_finds_and_nothing_is_left(case, tmp_path, monkeypatch):
    monkeypatch.setattr(expected, "FEWEST", 20)
    series = delivered(case, tmp_path / "case")
    before = everything(tmp_path)
    found = errors_of(series, FIRST)
    assert everything(tmp_path) == before
    if case.startswith("sequential"):
        assert found is None
        return
    make(series, FIRST)
    table = pl.read_parquet(series.file.path.with_name(f"{FIRST}.parquet"))
    columns = found["column"].unique(maintain_order=True).to_list()
    assert columns == ["town", *(one.name for _, one in series.contract.sensitive_columns())]
    for column in columns:
        binned = column == "cost"
        answer = estimate(series.published(FIRST), by=OF_BINS if binned else column)
        told = {str(row[1]): row[2:6] for row in answer.rows()}
        true = dict(_true(table[column], binned=binned))
        for one in found.filter(column=column).iter_rows(named=True):
            people, _, low, high = told.get(one["value"], (0, 0, 0, 0))
            assert one["people"] == true[one["value"]]
            assert one["estimate"] == pytest.approx(people, abs=0.051)
            assert (low, high) == (
                max(0, math.floor(one["estimate"] - one["half_width"])),
                math.ceil(one["estimate"] + one["half_width"]),
            )


def _true(values, *, binned):
    """True counts, in Python alone."""
    counted = {}
    for value in values:
        name = value
        if binned:
            (name,) = (one for one, (low, high) in BINS.items() if low <= value < high)
        counted[name or "(missing)"] = counted.get(name or "(missing)", 0) + 1
    return counted


def test_labels_of_few_people_are_left_out_and_sensitive_values_are_not(tmp_path):
    found = errors_of(delivered("m_invariance, refuses of disease in 1", tmp_path / "case"), FIRST)
    assert set(found["column"]) == {"disease"}
    assert found["people"].to_list() == sorted(found["people"], reverse=True)
    assert found["people"].min() < 100


def test_a_release_that_follows_one_that_was_rehearsed_only_is_counted_too(tmp_path):
    series = delivered("m_invariance, refuses of disease in 1", tmp_path / "case")
    with rehearsal(series) as tried:
        for release in (FIRST, SECOND):
            take_snapshot(tried, release)
            made = rehearse(tried, release)
        assert expected_errors(tried, SECOND, made).height == 9


def test_what_is_counted_is_what_is_published_byte_by_byte(tmp_path, monkeypatch):
    series, written = delivered("m_invariance of disease in 1", tmp_path / "case"), {}
    write = expected.write_folder

    def noted(folder, *how):
        write(folder, *how)
        written.update({file.name: file.read_bytes() for file in folder.iterdir()})

    monkeypatch.setattr(expected, "write_folder", noted)
    errors_of(series, FIRST)
    published = make(series, FIRST).published(FIRST)
    assert written == {file.name: file.read_bytes() for file in published.iterdir()}


def said(*rows, counted="people"):
    schema = {"column": pl.String, "value": pl.String, "people": pl.Int64, "estimate": pl.Float64}
    lines = []
    table = pl.DataFrame(rows, {**schema, "half_width": pl.Float64}, orient="row")
    say_expected(table, FIRST, counted, lines.append)
    return [line.split("  ") for line in lines[2:]], lines


def test_figures_are_rounded_and_say_what_they_are():
    rows, lines = said(
        ("town", "Ayton", 1234, 1300.0, 61.7),
        ("town", "Bee\x1bford", 8766, 8700.0, 40.0),
        ("disease", "flu", 10_000, 10_000.0, 0.0),
    )
    assert lines[0].startswith(f"  {FIRST}: what readers would estimate of each sensitive value")
    words = [[entry.strip() for entry in row if entry.strip()] for row in rows]
    assert words == [
        ["town", "Ayton", "1,200", "± 62 (5 %)", "5 %"],
        ["town", "Bee\\x1bford", "8,800", "± 40 (0.5 %)", "0.8 %"],
        ["disease", "flu", "10,000", "exact", "0 %"],
    ]
    assert len({len(line) for line in lines[1:]}) == 1


def test_an_interval_that_is_wider_than_half_of_all_people_tells_nothing():
    rows, _ = said(("town", "Ayton", 600, 500.0, 260.0), ("town", "Beeford", 400, 500.0, 240.0))
    assert [CANT_TELL in "  ".join(row) for row in rows] == [True, False]


def test_of_many_labels_the_rest_is_one_line():
    rows, _ = said(*(("town", f"T{at}", 500 - at, 510.0 - at, 25.0) for at in range(MOST + 5)))
    assert len(rows) == MOST + 1
    assert [entry.strip() for entry in rows[-1] if entry.strip()] == [
        *("town", "5 more (median)", "480 or fewer", "± 5 %", "2 %")
    ]


def test_rows_of_a_view_are_counted_as_they_are():
    lines = []
    say_expected(None, FIRST, "people", lines.append)
    assert lines == [f"  {FIRST}: its rows are people under labels: readers count these exactly"]
