"""Folders for a while: what a killed process leaves is deleted by the next one, and nobody else's is."""

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
    ended.mkdir()
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
