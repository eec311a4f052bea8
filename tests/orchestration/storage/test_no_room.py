"""A disk that is full, or may only be read: its place is named with the way out, and nothing is half done."""

import errno
import os
import re
import sqlite3

import duckdb
import pytest

from republish.anonymize.errors import HomeError, LimitError
from republish.orchestration.readers.estimate.command import fitting
from republish.orchestration.series import backup
from republish.orchestration.series.backup import back_up
from republish.orchestration.storage import home as storage
from republish.orchestration.storage import packed
from republish.orchestration.storage.home import Home, if_free, only_one
from republish.orchestration.storage.log import note
from tests.hospital import everything

FULL, READ_ONLY = errno.ENOSPC, errno.EROFS


def saying(error):
    """What the system does in place of writing. Of most errors it names no file, or the one that was read."""

    def fails(*_given, **_named):
        raise OSError(error, os.strerror(error))

    return fails


@pytest.mark.parametrize(
    ("error", "way_out"),
    [(FULL, "No space left on device. Make room there"), (READ_ONLY, "Read-only file system. Mount it so")],
)
def test_a_line_of_the_log_or_a_lock_that_can_t_be_written_names_its_place(
    tmp_path, monkeypatch, error, way_out
):
    home = Home.at(tmp_path / "home")
    note(home, "something")
    log, here = (
        re.escape(f"{path}: can't be written: {way_out}") for path in (home.path / "log.jsonl", home.path)
    )
    before = everything(home.path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", saying(error))
        with pytest.raises(HomeError, match=log):
            note(home, "another thing")
    with monkeypatch.context() as patch:
        patch.setattr(storage.FileLock, "acquire", saying(error))
        for locked in (only_one(home.path, "a home"), if_free(home.path, ".lock")):
            with (
                pytest.raises(HomeError, match=here),
                locked,
            ):
                pass
    assert everything(home.path).keys() == before.keys()


@pytest.mark.parametrize("full", ["home", "Dagster's tables", "out"])
def test_a_backup_says_which_of_its_two_places_is_full(home, tmp_path, monkeypatch, full):
    (home / "dagster").mkdir(exist_ok=True)
    sqlite3.connect(home / "dagster/runs.db").close()
    before, place = everything(home), Home(home)
    with monkeypatch.context() as patch:
        if full == "home":
            patch.setattr(backup.shutil, "copyfile", saying(FULL))
        elif full == "out":
            patch.setattr(packed, "_add", saying(FULL))
        else:
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL

            def connect(*_given, **_named):
                raise error

            patch.setattr(backup.sqlite3, "connect", connect)
        with pytest.raises(HomeError) as told:
            back_up(place, tmp_path / "out/monday.tar")
    where = tmp_path / "out/monday.tar" if full == "out" else home
    assert f"{told.value}".startswith(f"{where}: can't be written: No space left on device. ")
    assert "nothing was backed up" in f"{told.value}"
    assert everything(home) == before
    assert [path.name for path in (tmp_path / "out").iterdir()] == [".backup-lock"]


def test_an_estimate_that_fits_nowhere_says_so_and_other_errors_are_others(tmp_path):
    with pytest.raises(LimitError, match="Set TMPDIR to a folder with more room"), fitting(tmp_path):
        raise duckdb.IOException("Could not write file: No space left on device")
    with pytest.raises(duckdb.IOException), fitting(tmp_path):
        raise duckdb.IOException("Could not read file")
