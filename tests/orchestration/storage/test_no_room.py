"""A disk that is full, or may only be read: its place is named with the way out, and nothing is half done."""

import errno
import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import duckdb
import polars as pl
import pytest

from republish.anonymize.errors import HomeError, LimitError
from republish.orchestration.dagster.instance import usable_tables
from republish.orchestration.readers.estimate.asking import fitting
from republish.orchestration.series.backup import back_up
from republish.orchestration.storage import home as storage
from republish.orchestration.storage import packed, store
from republish.orchestration.storage.history import History
from republish.orchestration.storage.home import Home, if_free, only_one
from republish.orchestration.storage.log import note
from republish.orchestration.storage.store import write_table, write_together
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


def test_a_backup_says_that_its_place_is_full(home, tmp_path, monkeypatch):
    before, place = everything(home), Home(home)
    with monkeypatch.context() as patch:
        patch.setattr(packed, "_add", saying(FULL))
        with pytest.raises(HomeError) as told:
            back_up(place, tmp_path / "out/monday.tar")
    where = tmp_path / "out/monday.tar"
    assert f"{told.value}".startswith(f"{where}: can't be written: No space left on device. ")
    assert "nothing was backed up" in f"{told.value}"
    assert everything(home) == before
    assert [path.name for path in (tmp_path / "out").iterdir()] == [".backup-lock"]


def test_an_estimate_that_fits_nowhere_says_so_and_other_errors_are_others(tmp_path):
    with pytest.raises(LimitError, match="Set TMPDIR to a folder with more room"), fitting(tmp_path):
        raise duckdb.IOException("Could not write file: No space left on device")
    with pytest.raises(duckdb.IOException), fitting(tmp_path):
        raise duckdb.IOException("Could not read file")


@pytest.fixture
def full_from(monkeypatch):
    """From which file on the disk is full: the first of them is number 0."""

    def full(number):
        written, sync = iter(range(1_000)), store.sync

        def fails(path):
            if next(written) >= number:
                saying(FULL)()
            sync(path)

        monkeypatch.setattr(store, "sync", fails)

    yield full
    monkeypatch.undo()


@pytest.mark.parametrize("number", range(4))
def test_of_files_that_belong_together_all_are_new_or_none_is(tmp_path, monkeypatch, full_from, number):
    folder = tmp_path / "out"
    write_together(folder, {"page.html": "old", "page.json": "old", "page.signature": b"old"})
    before = everything(folder)
    full_from(number)
    with pytest.raises(HomeError, match=r"/page\.\w+: can't be written: No space left on device. Make room"):
        write_together(folder, {"page.html": "new", "page.json": "new"}, gone=["page.signature"])
    assert everything(folder) == before
    with pytest.raises(HomeError):
        write_together(tmp_path / "another", {"page.html": "new"})
    assert not (tmp_path / "another").exists()
    monkeypatch.undo()
    write_together(folder, {"page.html": "new", "page.json": "new"}, gone=["page.signature"])
    assert {file.name: file.read_text() for file in folder.iterdir()} == dict.fromkeys(
        ["page.html", "page.json"], "new"
    )


def test_polars_says_of_a_full_disk_what_the_system_says(tmp_path, monkeypatch):
    error = "parquet: File out of specification: underlying IO error: No space left on device (os error 28)"

    def fails(*_given, **_named):
        raise pl.exceptions.ComputeError(error)

    monkeypatch.setattr(pl.DataFrame, "write_parquet", fails)
    with pytest.raises(
        HomeError, match=r"t.parquet: can't be written: No space left on device. Make room there"
    ):
        write_table(tmp_path / "t.parquet", pl.DataFrame({"a": [1]}))
    assert list(tmp_path.iterdir()) == []


def test_dagsters_tables_and_the_history_ask_for_room_and_for_nothing_else(tmp_path, monkeypatch):
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL
    with pytest.raises(HomeError) as told, usable_tables(tmp_path):
        raise error
    says = "can't be written: No space left on device. Make room there, and run again"
    assert f"{told.value}" == f"{tmp_path}: {says}"

    def fails(*_given, **_named):
        raise duckdb.IOException('Could not write file "history.duckdb.wal": No space left on device')

    monkeypatch.setattr(duckdb, "connect", fails)
    with pytest.raises(HomeError) as told:
        History(tmp_path / "history.duckdb").enter(dict.fromkeys(("product", "series", "release"), "a"), None)
    assert f"{told.value}" == f"{tmp_path / 'history.duckdb'}: {says}: what is published is untouched"


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no disk that is always full")
@pytest.mark.parametrize("words", [("schema",), ("status", "--help"), ("verify",)])
def test_an_output_that_finds_no_room_is_one_line_with_the_way_out(home, words):
    words += tuple(str(one) for one in home.glob("published/*/*")) if words == ("verify",) else ()
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "republish", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            text=True,
            timeout=60,
        )
    assert ran.returncode == 1
    told = (
        "republish: standard output, or the folder of temporary files: No space left on device. Make room"
        " there, and run again"
    )
    assert ran.stderr.splitlines() in ([], [told])


def test_a_backup_that_finds_no_room_to_be_unpacked_names_where(home, tmp_path, monkeypatch):
    back_up(Home(home), tmp_path / "monday.tar")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", saying(FULL))
        with pytest.raises(HomeError) as told:
            packed.unpack(tmp_path / "monday.tar", tmp_path / "new/home", lambda _: b"")
    says = "can't be written: No space left on device. Make room there, and run again; nothing was restored"
    assert f"{told.value}" == f"{tmp_path / 'new'}: {says}"
