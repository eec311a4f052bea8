"""The log of a home: what was changed in it is found, and what a kill left of a line does no harm."""

import hashlib
import json
import shutil

import pytest
from typer.testing import CliRunner

from republish.anonymize.errors import HomeError
from republish.orchestration.cli.app import app
from republish.orchestration.storage.home import Home
from republish.orchestration.storage.log import LOG, note, note_once, verify_log
from republish.orchestration.storage.sealed import SEAL
from tests.hospital import noted

OTHER_KEY = "another key, made up as well"


@pytest.fixture
def home(tmp_path):
    """A home with three lines in its log."""
    home = Home.at(tmp_path / "home")
    for what in ("one", "two", "three"):
        note(home, what)
    return home


@pytest.fixture
def log(home):
    return home.path / LOG


def chained(lines):
    """Lines that follow one another, as anybody can write them."""
    before, written = None, b""
    for line in lines:
        text = json.dumps({**line, "before": before}).encode()
        before, written = hashlib.sha256(text).hexdigest(), written + text + b"\n"
    return written


def without_seals(log):
    """The log as an older version wrote it."""
    return chained([{name: it for name, it in line.items() if name != SEAL} for line in noted(log.parent)])


def says(home):
    result = CliRunner().invoke(app, ["verify", str(home.path), "--log"])
    assert result.exit_code == 0, result.exception
    return " ".join(result.output.split())


def test_a_line_that_was_changed_taken_out_or_put_in_is_noticed(home, log):
    assert len(verify_log(home).lines) == 3
    assert log.stat().st_mode & 0o077 == 0
    lines = log.read_bytes().splitlines(keepends=True)
    for changed in (
        lines[1:],
        [lines[0], lines[2]],
        [lines[0].replace(b"one", b"ONE"), *lines[1:]],
        [*lines[:2], b"{}\n", lines[2]],
    ):
        log.write_bytes(b"".join(changed))
        with pytest.raises(HomeError, match=f"{log}: line"):
            verify_log(home)


@pytest.mark.parametrize("seals", ["as they were", "of another key", "none in the end"])
def test_whoever_writes_the_chain_anew_without_the_key_is_found_out(home, log, seals, monkeypatch):
    lines = [line | {"what": line["what"].replace("two", "nothing")} for line in noted(home.path)]
    log.write_bytes(chained(lines[:2]))
    if seals == "none in the end":
        lines[1].pop(SEAL)
        log.write_bytes(chained(lines[:2]))
    if seals == "of another key":
        log.unlink()
        with monkeypatch.context() as patch:
            patch.setenv("REPUBLISH_KEY", OTHER_KEY)
            note(home, "one")
    with pytest.raises(HomeError, match=r"line [12] (is not sealed with the home's key|has no seal)"):
        verify_log(home)


def test_without_the_key_the_chain_is_checked_and_it_is_said_what_is_not(home, log, tmp_path, monkeypatch):
    copy = Home.at(tmp_path / "of an auditor")
    shutil.copy(log, copy.path)
    assert "not checked" not in says(copy)
    monkeypatch.delenv("REPUBLISH_KEY")
    assert "3 lines, an unbroken chain" in says(copy)
    assert "seals of 3 lines were not checked" in says(copy)
    assert [path.name for path in copy.path.iterdir()] == [LOG]  # no key was made
    (copy.path / LOG).write_bytes(log.read_bytes().replace(b"two", b"TWO"))
    with pytest.raises(HomeError, match="line 3 does not follow line 2"):
        verify_log(copy)


def test_the_lines_of_an_older_home_are_read_and_the_log_goes_on_with_seals(home, log):
    log.write_bytes(without_seals(log))
    assert "lines 1 to 3 have no seal" in says(home)
    note(home, "four")
    found = verify_log(home)
    assert (len(found.lines), found.unsealed) == (4, 3)
    log.write_bytes(without_seals(log) + b"\n".join(found.lines[3:]))
    with pytest.raises(HomeError, match="line 5"):
        verify_log(home)


@pytest.mark.parametrize("left", [1, 40, -2])
def test_the_torn_end_of_a_line_is_set_aside_with_a_line_on_it(home, log, left):
    whole = log.read_bytes()
    *_, last = whole.splitlines()
    log.write_bytes(whole[: -len(last) - 1] + last[:left])
    torn = last[:left]
    assert "the last line is torn" in says(home)
    assert "2 lines" in says(home)
    note(home, "four")
    assert [line["what"] for line in noted(home.path)] == ["one", "two", "torn line set aside", "four"]
    line = noted(home.path)[2]
    assert (log.parent / line["file"]).read_bytes() == torn
    assert line["sha256"] == hashlib.sha256(torn).hexdigest()
    assert (log.parent / line["file"]).stat().st_mode & 0o077 == log.stat().st_mode & 0o077 == 0
    assert len(verify_log(home).lines) == 4


def test_a_line_of_which_only_the_end_of_the_line_is_missing_stays(home, log):
    log.write_bytes(log.read_bytes()[:-1])
    assert len(verify_log(home).lines) == 3
    note(home, "four")
    assert [line["what"] for line in noted(home.path)] == ["one", "two", "three", "four"]
    verify_log(home)


def test_what_was_noted_is_not_noted_again(home):
    for more in ("one", "two"):
        note_once(home, {"what": "published", "release": "2024-01-01"}, more=more)
    note_once(home, {"what": "published", "release": "2024-04-01"})
    assert [line.get("more") for line in noted(home.path)][3:] == ["one", None]
