"""Folders for a while: what a killed process leaves is deleted by the next one, and nobody else's is."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager

import pytest

from republish.orchestration.storage import scratch
from republish.orchestration.storage.scratch import scratch_folder

WORK = """
import time
from republish.orchestration.storage.scratch import scratch_folder
with scratch_folder() as folder:
    (folder / "people.parquet").write_text("people")
    print(folder, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_a_folder_that_its_process_deletes_meanwhile_is_in_nobodys_way(temporary, monkeypatch):
    ended = temporary / "republish-ended"
    (ended / "files").mkdir(parents=True)
    (ended / ".lock").touch()

    @contextmanager
    def too_late(folder, _):
        shutil.rmtree(folder)
        yield (folder / ".lock").stat()

    monkeypatch.setattr(scratch, "if_free", too_late)
    with scratch_folder():
        assert not ended.exists()


def test_what_a_killed_process_leaves_is_deleted_and_what_is_in_use_is_not(temporary):
    (temporary / "republish-of-somebody-else").mkdir()
    with subprocess.Popen([sys.executable, "-c", WORK], stdout=subprocess.PIPE, text=True) as working:
        place = working.stdout.readline().strip()
        with scratch_folder() as folder:
            assert folder.stat().st_mode & 0o777 == folder.parent.stat().st_mode & 0o777 == 0o700
            assert sorted(temporary.glob("*/*/people.parquet"))
        working.send_signal(signal.SIGKILL)
    assert sorted(temporary.glob("*/*/people.parquet"))
    with scratch_folder() as folder:
        assert str(folder) != place
        assert {path.name for path in temporary.iterdir()} == {
            "republish-of-somebody-else",
            folder.parent.name,
        }
    assert {path.name for path in temporary.iterdir()} == {"republish-of-somebody-else"}


def test_who_clears_up_is_in_nobodys_way(temporary, monkeypatch):
    """Another process locks a folder anew between the end of its lock and its own end."""
    unlink = os.unlink

    def locked_anew(path, *, dir_fd=None):
        unlink(path, dir_fd=dir_fd)
        if os.fspath(path).endswith(".lock"):
            (here,) = temporary.iterdir()
            (here / ".lock").touch()

    with scratch_folder() as folder:
        (folder / "people.parquet").write_text("people")
        monkeypatch.setattr(os, "unlink", locked_anew)
    assert [path.name for path in temporary.rglob("*") if path.is_file()] == [".lock"]


@pytest.mark.slow("starts several processes")
def test_many_at_once_lose_no_folder(temporary):
    """Processes that make and delete folders, and others that clear up, as fast as they can."""
    work = """
import sys, time
from republish.orchestration.storage.scratch import clear_scratch, scratch_folder
end = time.monotonic() + 2
while time.monotonic() < end:
    clear_scratch()
    if sys.argv[1] == "works":
        with scratch_folder() as folder:
            (folder / "people").write_text("people")
            assert (folder / "people").read_text() == "people"
"""
    running = [
        subprocess.Popen([sys.executable, "-c", work, part], stderr=subprocess.PIPE, text=True)
        for part in ("works", "works", "clears", "clears")
    ]
    said = [process.communicate()[1] for process in running]
    assert [process.returncode for process in running] == [0] * 4, said
    assert list(temporary.iterdir()) == []
