"""A rehearsal reads the real home as it is between the writes of others, and leaves nothing there."""

import subprocess
import sys

import duckdb
import pytest

from republish.orchestration.chain.rehearsal import rehearsal
from republish.orchestration.storage import history
from tests.hospital import RELEASES, make

WRITER = """
import sys, duckdb
connection = duckdb.connect(sys.argv[1])
print("open", flush=True)
sys.stdin.readline()
connection.execute("CREATE TABLE written AS SELECT 1")
connection.close()
"""


@pytest.mark.slow("takes more than a second")
def test_a_rehearsal_waits_for_a_history_that_is_being_written(hospital, tmp_path, monkeypatch):
    series = make(hospital.series(tmp_path / "home"), RELEASES[0])
    command = [sys.executable, "-c", WRITER, str(series.home.history)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout.readline() == "open\n"
        # Whoever waits for the file lets the writer finish.
        monkeypatch.setattr(history.time, "sleep", lambda _: writer.poll() or writer.communicate("go on\n"))
        with (
            rehearsal(series) as tried,
            duckdb.connect(tried.home.history, read_only=True) as connection,
        ):
            assert "written" in [name for (name,) in connection.execute("SHOW TABLES").fetchall()]
