"""No letter in a path is a pattern: a home is read, and never its neighbour."""

import shutil

import polars as pl
import pytest

from republish.anonymize.errors import HomeError
from republish.orchestration.readers.estimate.command import estimate
from republish.orchestration.storage.home import Home
from tests.hospital import RELEASES, Hospital, make, published

PLACES = {
    "clients [1-9]": "clients 1",
    "home*": "home2",
    "{a,b}": "a",
    "**": "x",
    "release=2020-01-01": "release=2021-01-01",
    "[!a]": "b",
    "100%": "1000",
    "~": "root",
    "$HOME": "x",
}
"""A home's name, and that of a neighbour that it would be a pattern of."""


@pytest.fixture(scope="module")
def expected(_built, tmp_path_factory):
    """What is published in a home of an ordinary name, and an estimate of it; it has the key of all tests."""
    folder = tmp_path_factory.mktemp("ordinary")
    shutil.copytree(_built / "hospital", folder / "hospital")
    shutil.copytree(_built / "home", folder / "home")
    series = make(Hospital(folder / "hospital").series(folder / "home"), RELEASES[2])
    return published(series.home.path), estimate(series.published_folder, "age < 40", by="sex")


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("name", PLACES)
def test_a_home_of_any_name_is_read_and_its_neighbour_is_not(name, hospital, home, expected, tmp_path):
    ours, theirs = tmp_path / "all" / name, tmp_path / "all" / PLACES[name]
    shutil.copytree(home, ours)
    shutil.copytree(home, theirs)
    for file in theirs.glob("**/*.parquet"):
        table = pl.read_parquet(file)
        pl.concat([table, table.head(3)]).write_parquet(file)
    make(hospital.series(ours), RELEASES[2])
    assert published(ours) == expected[0]
    assert estimate(hospital.series(ours).published_folder, "age < 40", by="sex").equals(expected[1])
    assert Home.at(ours).path == ours


@pytest.mark.parametrize(
    ("name", "words"),
    [("h?me", r"question mark\."), ("my%20home", "reads %20 as one letter"), ("%2f", "%2f")],
)
def test_a_home_that_a_database_finds_elsewhere_is_refused_before_anything_is_made(tmp_path, name, words):
    with pytest.raises(HomeError, match=f"{words}.* Name another folder by --home"):
        Home.at(tmp_path / name)
    assert not any(tmp_path.iterdir())
    Home.at(tmp_path / "50% of it")
