"""The home of a contract's series, if nobody names one; and the file beside the contract that names it."""

import json
import shutil

import pytest

from republish.anonymize.errors import HomeError
from republish.orchestration.series.homes import default_home, refuse_other_home
from tests.hospital import RELEASES, make, make_by_dagster

FIRST, SECOND, THIRD = RELEASES


def begin(folder):
    (folder / "var").mkdir(parents=True)
    (folder / "var/secret.key").write_text("sixteen letters!")
    return folder / "var"


def test_without_any_home_it_is_below_the_working_folder_or_beside_the_contract(
    hospital, tmp_path, monkeypatch
):
    file = hospital.series(tmp_path / "home").file
    for here, home in (
        (hospital.folder, hospital.folder),
        (tmp_path, tmp_path),
        (hospital.folder / "snapshots", hospital.folder),
    ):
        monkeypatch.chdir(here)
        assert default_home(file) == home / "var"


def test_the_nearest_home_above_the_contract_is_taken_from_anywhere(hospital, tmp_path, monkeypatch):
    file = hospital.series(tmp_path / "home").file
    monkeypatch.chdir(hospital.folder)
    (hospital.folder / "var").mkdir()  # a folder of something else
    above = begin(tmp_path)
    assert default_home(file) == above
    (hospital.folder / "var").rmdir()
    beside = begin(hospital.folder)
    monkeypatch.chdir(tmp_path)
    assert default_home(file) == beside


def test_a_series_in_the_working_folder_s_home_goes_on_there(hospital, home, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    shutil.move(home, tmp_path / "elsewhere/var")
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert default_home(hospital.series(tmp_path / "x").file) == tmp_path / "elsewhere/var"


def test_only_a_home_with_releases_of_the_series_is_in_the_way_of_another(hospital, home, tmp_path):
    marker = hospital.folder / ".hospital.yaml.home"
    assert json.loads(marker.read_text()) == {"hospital/v1": "../home", "last": {"hospital/v1": SECOND}}
    refuse_other_home(hospital.series(home))
    with pytest.raises(HomeError, match="two publications of the same people give them away"):
        refuse_other_home(hospital.series(tmp_path / "second"))
    refuse_other_home(hospital.declare(series="v2").series(tmp_path / "second"))
    hospital.declare()
    shutil.rmtree(home / "published")
    refuse_other_home(hospital.series(tmp_path / "second"))


def test_a_run_of_dagster_in_another_home_is_refused_too(hospital, home, tmp_path):
    second = hospital.series(tmp_path / "second")
    with pytest.raises(HomeError, match=f"hospital/v1 has releases in another home, {home}"):
        make_by_dagster(second, FIRST)
    assert not second.private_folder.exists()


def test_a_folder_that_takes_no_file_is_no_failure(hospital, tmp_path):
    marker = hospital.folder / ".hospital.yaml.home"
    marker.unlink()
    marker.mkdir()
    series = make(hospital.series(tmp_path / "new"), FIRST)
    refuse_other_home(hospital.series(tmp_path / "second"))
    assert series.is_published(FIRST)
