"""A home has one daemon, whoever begins it, and that one ends with the `republish ui` that began it."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import pytest

from republish.anonymize.errors import HomeError
from republish.orchestration.dagster import daemon
from republish.orchestration.dagster.daemon import daemon_command, only_daemon
from republish.orchestration.package_files import package_file
from republish.orchestration.storage.home import Home
from tests.hospital import several_threads

IDLE = """
import os, sys, threading, time
from pathlib import Path
from republish.orchestration.dagster import daemon
home = daemon.Home(Path(sys.argv[1]))
threading.Thread(target=daemon._end_with, args=(os.getppid(), home), daemon=True).start()
with daemon.only_daemon(home):
    print(os.getpid(), flush=True)
    time.sleep(600)
"""
BEGIN = (
    "import subprocess, sys; subprocess.Popen([sys.executable, *sys.argv[1:]], start_new_session=True).wait()"
)


@pytest.fixture
def home(tmp_path):
    made = Home.at(tmp_path / "home")
    made.dagster.mkdir()
    return made


@contextmanager
def parent_of(words):
    """A process that begins another one, in a session of its own, and waits for it."""
    with subprocess.Popen(
        [sys.executable, "-c", BEGIN, *words], stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


def is_gone(pid):
    """Whether a process ends before long."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with suppress(ProcessLookupError):
            os.kill(pid, 0)
            time.sleep(0.1)
            continue
        return True
    return False


def test_a_second_daemon_is_refused_at_once_with_the_number_of_the_first(home, monkeypatch):
    monkeypatch.setattr(daemon, "LAST_STEPS", 0)
    with parent_of(["-c", IDLE, str(home.path)]) as begun:
        first = int(begun.stdout.readline())
        with (
            pytest.raises(HomeError, match=f"its daemon runs already, as process {first}, "),
            only_daemon(home),
        ):
            pass
        os.kill(first, signal.SIGKILL)  # the lock does not outlast it, nor does what it wrote of itself count
        assert is_gone(first)
        with only_daemon(home):
            assert (home.dagster / ".daemon").read_text() == f"{os.getpid()}\n"
    assert not (home.dagster / ".daemon").exists()


@pytest.mark.slow("takes more than a second")
def test_a_daemon_ends_when_what_began_it_is_killed_and_the_next_waits_for_that(home):
    with parent_of(["-c", IDLE, str(home.path)]) as begun:
        first = int(begun.stdout.readline())
        begun.kill()
        begun.wait()
        until = time.monotonic() + 60
        while (home.dagster / ".daemon").exists() and time.monotonic() < until:
            time.sleep(0.05)
        with only_daemon(home):  # it may still be ending: that is waited for
            assert is_gone(first)


def test_a_daemon_that_does_not_end_is_said_so(home, monkeypatch):
    monkeypatch.setattr(daemon, "LAST_STEPS", 0)
    with parent_of(["-c", IDLE, str(home.path)]) as begun:
        begun.stdout.readline()
        (home.dagster / ".daemon").unlink()
        with pytest.raises(HomeError, match="its daemon does not end"), only_daemon(home):
            pass


def test_the_command_of_a_second_daemon_says_so_in_one_line(home):
    with only_daemon(home):
        words = daemon_command(home, package_file("workspace.yaml"), os.getpid())
        ended = subprocess.run(words, capture_output=True, text=True, check=False, env=several_threads())
    assert ended.returncode == 1
    assert ended.stderr.startswith(
        f"republish: {home.path}: its daemon runs already, as process {os.getpid()}"
    )
    assert ended.stderr.count("\n") == 1
