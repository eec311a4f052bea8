"""Dagster's daemon of a home, as a process: one at a time, which ends with the process that began it.

    python -m republish.orchestration.dagster.daemon HOME WORKSPACE [PARENT]

Two daemons of a home would each make its releases. PARENT is the number of the process that it ends with.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import entry_points
from pathlib import Path

from filelock import FileLock, Timeout

from republish.anonymize.errors import HomeError
from republish.orchestration.processes import wait_for_the_end_of
from republish.orchestration.storage.home import Home, with_room

LOCK = ".daemon-lock"
"""In DAGSTER_HOME: the daemon holds it until it ends, however it ends."""
RUNS = ".daemon"
"""Beside it: the number of the process. Where it is missing, that process is ending."""
LAST_STEPS = 60
"""Seconds that a daemon has to end in."""


def daemon_command(home: Home, workspace: Path, parent: int | None = None) -> list[str]:
    """The command that is a home's daemon; `parent` is the process that it ends with, if any."""
    # Without -P, what lies in the working folder would be imported.
    begin = [sys.executable, "-P", "-m", __name__, f"{home.path}", f"{workspace}"]
    return [*begin, *([] if parent is None else [f"{parent}"])]


@contextmanager
def only_daemon(home: Home) -> Iterator[None]:
    """Be the only daemon of a home whose DAGSTER_HOME is prepared; one that is ending is waited for.

    Raises HomeError, which names the other process, if there is another one.
    """
    lock, runs = FileLock(home.dagster / LOCK, mode=0o600), home.dagster / RUNS
    try:
        lock.acquire(timeout=0)
    except Timeout:
        _refuse(home, runs)
        try:
            lock.acquire(timeout=LAST_STEPS)
        except Timeout:
            _refuse(home, runs)
            raise HomeError(f"{home.path}: its daemon does not end. End it, and begin again") from None
    try:
        with with_room(runs):
            runs.write_text(f"{os.getpid()}\n", encoding="ascii")
        yield
    finally:
        runs.unlink(missing_ok=True)
        lock.release()


def _refuse(home: Home, runs: Path) -> None:
    with suppress(FileNotFoundError):
        process = runs.read_text(encoding="ascii").strip()
        raise HomeError(
            f"{home.path}: its daemon runs already, as process {process}, and a second one would make the"
            " same releases. End that one (if republish ui began it, end republish ui), or show the pages"
            " alone: republish ui --only webserver"
        ) from None


def _end_with(parent: int, home: Home) -> None:
    """End this process when the one that began it is gone: as by Ctrl-C, or at once if that takes long."""
    wait_for_the_end_of(parent)
    (home.dagster / RUNS).unlink(missing_ok=True)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(LAST_STEPS)
    os._exit(1)


def main() -> None:
    """Run the daemon until it is ended."""
    home, workspace, *parent = sys.argv[1:]
    place = Home(Path(home))
    if parent:
        threading.Thread(target=_end_with, args=(int(parent[0]), place), daemon=True).start()
    try:
        with only_daemon(place):
            sys.argv = ["dagster-daemon", "run", "--workspace", workspace]
            (command,) = entry_points(group="console_scripts", name="dagster-daemon")
            command.load()()
    except HomeError as error:
        raise SystemExit(f"republish: {error}") from None


if __name__ == "__main__":
    main()
