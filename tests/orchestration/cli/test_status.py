"""`republish status`: where a series stands, in numbers that a program may keep."""

import datetime as dt
import json
import shutil

from republish.orchestration.contracts.registry import register
from republish.orchestration.series import calendar
from tests.hospital import RELEASES, everything

FIRST, SECOND, THIRD = RELEASES


def test_counts_of_the_last_release_and_what_is_late(republish, hospital, home, series, monkeypatch):
    monkeypatch.setattr(calendar, "now", lambda: dt.datetime(2024, 7, 2, tzinfo=dt.UTC))
    before = everything(home)
    code, lines, _ = republish("status", hospital.contract, "--home", home, "--json")
    (found,) = json.loads("\n".join(lines))["series"]
    assert (code, found["last_release"], found["next_due"], found["late"]) == (0, SECOND, THIRD, [THIRD])
    assert (found["n"], found["people"], found["checks"]["failed"]) == (2, 300, 0)
    assert found["groups"] == found["figures"]["groups"]
    assert not hospital.identifiers_in("\n".join(lines).encode())
    assert everything(home) == before
    register(series.home, series.file)
    code, lines, _ = republish("status", home, "--strict")
    assert code == 1
    assert lines[0].startswith(f"hospital/v1  2 releases, the last is {SECOND}, 300 people")
    assert lines[0].endswith(f"; late: {THIRD}")
    assert (found["not_released"], "not released" in lines[0]) == ({}, False)  # nobody: nothing is said
    assert republish("status", "--home", home)[1] == lines
    monkeypatch.setenv("REPUBLISH_HOME", str(home))
    assert republish("status")[1] == lines


def test_a_series_without_a_release_or_without_working_files(
    republish, hospital, home, tmp_path, monkeypatch
):
    monkeypatch.setattr(calendar, "now", lambda: dt.datetime(2034, 4, 2, tzinfo=dt.UTC))
    (line, _) = republish("status", hospital.contract, "--home", home)[1]
    assert line.endswith(f"; late: {THIRD}, 2024-10-01, …, 2034-04-01")
    monkeypatch.setattr(calendar, "now", lambda: dt.datetime(2024, 4, 1, tzinfo=dt.UTC))
    shutil.rmtree(home / f"private/hospital/v1/{SECOND}")
    code, lines, _ = republish("status", hospital.contract, "--home", home, "--json")
    (found,) = json.loads("\n".join(lines))["series"]
    assert (code, found["tuples"] >= 300, "people" in found, found["late"]) == (0, True, False, [])
    code, lines, _ = republish("status", hospital.contract, "--home", tmp_path / "none")
    assert (code, lines[0]) == (0, f"hospital/v1  no release yet; late: {FIRST}")
    assert lines[1].startswith("Where no more releases will come, name the last one")
    assert not (tmp_path / "none").exists()


def test_a_published_folder_that_is_gone_is_named(republish, hospital, home, series):
    shutil.rmtree(series.published(SECOND))
    code, lines, _ = republish("status", hospital.contract, "--home", home)
    assert code == 0
    assert f"the folders of {SECOND} are gone: put them back" in lines[0]
    assert f"1 release, the last is {FIRST}" in lines[0]


def test_a_folder_that_nothing_was_released_from(republish, tmp_path):
    code, out, err = republish("status", tmp_path)
    assert (code, err) == (0, [])
    assert out == [
        f"{tmp_path}: nothing was released from here yet; name a contract, or the home of its releases"
    ]
    assert republish("status", tmp_path, "--json")[1][1].strip() == '"series": []'
