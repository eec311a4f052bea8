"""`republish person`: what a home holds of somebody, checked against the home itself."""

import json
import shutil

import polars as pl
import pytest
from typer.testing import CliRunner

from republish.orchestration.cli.app import app
from republish.orchestration.rights.find import find
from republish.orchestration.series.persons import comparable
from republish.orchestration.storage.log import LOG
from republish.orchestration.storage.store import read_table
from tests.hospital import IDENTIFIER, RELEASES, everything, make

FIRST, SECOND, THIRD = RELEASES


def ask(hospital, home, folder, who):
    words = ["person", str(hospital.contract), "--home", str(home), "--out", str(folder)]
    return CliRunner().invoke(app, words, input=f"{who}\n")


def members(hospital, release):
    return set(hospital.snapshot(release)["patient_id"])


@pytest.fixture
def stayed(hospital):
    """Somebody who is in both releases, and whose disease is the same in both."""
    both = hospital.snapshot(FIRST).join(hospital.snapshot(SECOND), on=["patient_id", "disease"])
    return both["patient_id"].min()


def test_releases_groups_and_values_are_those_that_were_published(hospital, home, series, stayed):
    (found,) = find(series, stayed).series
    assert [one.release for one in found.published] == [FIRST, SECOND]
    left = None
    for one in found.published:
        group = read_table(series.published(one.release) / "microdata.parquet").filter(group_id=one.group)
        mine = hospital.snapshot(one.release).filter(patient_id=stayed)
        assert group["age_low"][0] <= mine["age"][0] <= group["age_high"][0]
        assert set(one.values) == set(group["disease"]) >= set(mine["disease"])
        assert one.tuples == group.height
        left = set(one.values) if left is None else left & set(one.values)
        assert set(one.left) == left
    assert found.fewest == len(left) >= 3
    assert any("3" in sentence for sentence in found.promised)


def test_every_file_that_has_the_person_is_named_and_no_other(hospital, home, series, stayed):
    (found,) = find(series, stayed).series
    named = {one.file for one in found.held}
    assert f"private/hospital/v1/{FIRST}/snapshot.parquet" in named
    for file in (home / "private").rglob("*.parquet"):
        about = stayed.encode() in file.read_bytes() or _has_row(file, series, stayed)
        assert (f"{file.relative_to(home)}" in named) == about, file


def _has_row(file, series, who):
    snapshot = read_table(series.private(SECOND) / "snapshot.parquet")
    pseudonym = snapshot.filter(identifier=who)["pseudonym"][0]
    person = comparable(series.home, pl.Series([who]))[0]
    cells = {cell for column in read_table(file) if column.dtype in (pl.Binary, pl.String) for cell in column}
    return bool({pseudonym, person, who} & cells)


def test_another_spelling_is_the_same_person(series, stayed):
    assert find(series, f" {stayed.lower()} ").series == find(series, stayed).series


def test_somebody_who_came_later_left_or_never_was(hospital, home, series):
    new = min(members(hospital, SECOND) - members(hospital, FIRST))
    gone = min(members(hospital, FIRST) - members(hospital, SECOND))
    for who, releases in ((new, [SECOND]), (gone, [FIRST]), ("P99999999", [])):
        (found,) = find(series, who).series
        assert [one.release for one in found.published] == releases
        assert bool(found.held) == bool(releases)
        assert bool(found.promised) == bool(releases)


@pytest.mark.slow("takes more than a second")
def test_a_changed_value_begins_anew(hospital, home):
    """What stayed possible of the value before says nothing of the one after."""
    known = hospital.snapshot(SECOND)
    who = known["patient_id"].min()
    series = hospital.series(home)
    (before,) = find(series, who).series
    values = hospital.declare().snapshot(FIRST)["disease"].unique().sort()
    new = next(value for value in values if value not in before.published[-1].values)
    changed = pl.when(patient_id=who).then(pl.lit(new)).otherwise("disease").alias("disease")
    hospital.deliver(THIRD, known.with_columns(changed))
    hospital.declare(accept={THIRD: ["changed"]})
    make(hospital.series(home), THIRD)
    (found,) = find(hospital.series(home), who).series
    *_, last = found.published
    assert new in last.values
    assert last.left == last.values


def test_what_was_deleted_is_not_guessed(hospital, home, series, stayed):
    shutil.rmtree(series.private(FIRST))
    (found,) = find(series, stayed).series
    assert found.unknown == [FIRST]
    assert [one.release for one in found.published] == [SECOND]
    assert found.releases[0].in_snapshot is None


def test_the_sheet_is_written_and_the_home_notes_no_name(hospital, home, stayed, tmp_path):
    before = everything(home)
    result = ask(hospital, home, tmp_path / "sheet", stayed)
    assert result.exit_code == 0
    assert "hospital/v1  in 2 of 2 releases" in result.output
    assert not IDENTIFIER.search(result.output.encode())
    assert everything(home) == before
    log = (home / LOG).read_bytes()
    assert not IDENTIFIER.search(log)
    assert json.loads(log.splitlines()[-1])["what"] == "person"
    sheet, record = tmp_path / "sheet/person.html", tmp_path / "sheet/person.json"
    assert sheet.stat().st_mode & 0o077 == record.stat().st_mode & 0o077 == 0
    page = sheet.read_text()
    assert "You are in 2 of 2 releases" in page
    kept = json.loads(record.read_text())["series"][0]["rows"]
    assert {row["release"] for row in kept} == {FIRST, SECOND}
    for cell in kept[-1].values():
        assert f">{cell}</td>" in page


def test_nobody_is_found_and_that_is_an_answer(hospital, home, tmp_path):
    result = ask(hospital, home, tmp_path / "sheet", "P99999999")
    assert result.exit_code == 0
    page = (tmp_path / "sheet/person.html").read_text()
    assert "You are in none of its 2 releases" in page
    assert "No file of the publisher has a row about you" in page


@pytest.mark.parametrize(
    ("given", "words"), [("", "no identifier is given"), ("P00000001\nP00000002", "2 identifiers are given")]
)
def test_one_identifier_is_asked_for(hospital, home, tmp_path, given, words):
    result = ask(hospital, home, tmp_path / "sheet", given)
    assert words in str(result.exception)
    assert not (tmp_path / "sheet").exists()


PRINCIPLES = [
    {"name": "m_invariance", "m": 3, "format": "anatomy", "on_ineligible": "wait"},
    {"name": "e_equivalence", "m": 3, "e": 2},
    {"name": "global_guarantee", "l": 2, "strategy": "constant_ratio", "releases": 3},
    {"name": "streamliner", "l": 3},
]


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("principle", PRINCIPLES, ids=lambda principle: principle["name"])
def test_under_every_principle_own_values_are_among_those_found(hospital, tmp_path, principle):
    hospital.under(principle)
    series = hospital.series(tmp_path / "home of another")
    make(series, FIRST)
    who = read_table(series.private(FIRST) / "linkage.parquet")["patient_id"].min()
    (found,) = find(series, who).series
    (one,) = found.published
    assert hospital.snapshot(FIRST).filter(patient_id=who)["disease"][0] in one.values
    assert found.promised


def test_publication_is_noted_with_the_contract(hospital, home, series):
    lines = [json.loads(line) for line in (home / LOG).read_bytes().splitlines()]
    assert [(line["what"], line["series"], line["release"]) for line in lines] == [
        ("published", "hospital/v1", FIRST),
        ("published", "hospital/v1", SECOND),
    ]
    result = CliRunner().invoke(app, ["verify", str(home), "--log"])
    assert "2 lines, an unbroken chain" in result.output
