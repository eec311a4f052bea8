"""In which home a product is published: said first, and asked where nobody has named it."""

import io
import shutil
import sys

import pytest
import typer

from republish.orchestration.cli.releasing import make_due_releases
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.storage.home import Home
from tests.hospital import RELEASES

pytestmark = pytest.mark.slow("starts processes")

FIRST = RELEASES[0]


@pytest.fixture
def above(hospital, tmp_path):
    """A home above the hospital's contract, in which another product may be."""
    (home := Home.at(tmp_path / "var")).key()
    (home.path / "secret.key").write_text("a key that is made up for tests\n")
    return home.path


def release(republish, hospital, *words):
    return republish("release", hospital.contract, "--through", FIRST, *words)


def test_a_first_release_in_a_home_above_the_contract_is_asked_about(republish, hospital, above, monkeypatch):
    code, out, err = release(republish, hospital)
    assert (code, out) == (2, [])
    assert f"{above} was found above {hospital.contract}" in " ".join(err)
    assert "--yes" in " ".join(err)
    assert [file.name for file in above.iterdir()] == ["secret.key"]
    code, _, _ = release(republish, hospital, "--yes")
    assert (code, republish.home_line) == (0, f"hospital/v1 is published in {above}")
    assert (above / "published/hospital/v1" / FIRST).is_dir()
    monkeypatch.delenv("REPUBLISH_HOME")  # a command tells the processes that it begins
    assert republish("release", hospital.contract, "--through", RELEASES[1])[0] == 0  # it is known now


def test_nobody_is_asked_about_a_home_that_is_named_or_beside_the_contract(
    republish, hospital, above, monkeypatch
):
    monkeypatch.chdir(hospital.folder.parent)
    hospital.file(FIRST).unlink()  # the home is said before a release waits for its snapshot
    release(republish, hospital, "--home", "named")
    assert republish.home_line == "hospital/v1 is published in named"
    shutil.rmtree("named", ignore_errors=True)
    shutil.copytree(above, hospital.folder / "var")
    release(republish, hospital)
    assert republish.home_line == "hospital/v1 is published in hospital/var"
    shutil.rmtree(hospital.folder / "var")
    monkeypatch.setenv("REPUBLISH_HOME", str(above))
    release(republish, hospital)
    assert republish.home_line == "hospital/v1 is published in var"


def test_a_no_at_the_terminal_changes_nothing(hospital, above, monkeypatch, capsys):
    (terminal := io.StringIO("n\n")).isatty = lambda: True
    monkeypatch.setattr(sys, "stdin", terminal)
    with pytest.raises(typer.Abort):
        make_due_releases(load_contract(hospital.contract), FIRST, None)
    assert f"for the first time in the home {above}" in capsys.readouterr().out
    assert [file.name for file in above.iterdir()] == ["secret.key"]
