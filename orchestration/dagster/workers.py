"""Who works on a run of a home's Dagster: a process that holds the run's lock until it ends, however it ends.

The number of a process says less: another one may have it by now, and every machine begins to count anew.
A command that makes nothing does not load Dagster, and neither does this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from filelock import FileLock

from republish.orchestration.storage.home import Home, if_free, private_folder, sync

WORKERS = ".workers"
"""In DAGSTER_HOME: a file for each run that is worked on, and for each that a killed process left."""
_held: dict[str, FileLock] = {}
"""The locks of this process, by run."""


def hold(home: Home, run: str) -> None:
    """Hold a run's lock until this process ends: all steps of a run are made by one process."""
    while run not in _held:
        file = private_folder(home.dagster / WORKERS) / run
        lock = FileLock(file, mode=0o600)
        lock.acquire()
        if file.exists():  # else somebody took it, just now, for one that was left
            _held[run] = lock
            sync(file.parent)  # it is to be found after a power cut


@contextmanager
def working(home: Home, run: str, is_over: Callable[[], bool]) -> Iterator[None]:
    """Hold a run's lock meanwhile; its file stays if Dagster could not note that the run is over."""
    hold(home, run)
    try:
        yield
    finally:
        with suppress(Exception):  # Dagster's tables may be of no use: the next command looks again
            if is_over():
                clear(home, run)
        _held.pop(run).release()


@contextmanager
def if_dead(home: Home, run: str) -> Iterator[bool]:
    """Whether nobody works on a run; nobody begins to meanwhile."""
    with if_free(private_folder(home.dagster / WORKERS), run) as is_free:
        yield is_free


def left(home: Home) -> list[str]:
    """The runs that have a file, and that nobody works on."""
    found = []
    for run in files(home):
        with if_dead(home, run) as is_dead:
            found += [run] if is_dead else []
    return found


def files(home: Home) -> list[str]:
    """The runs that somebody works or worked on."""
    folder = home.dagster / WORKERS
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def clear(home: Home, run: str) -> None:
    """Remove the file of a run that is over."""
    (home.dagster / WORKERS / run).unlink(missing_ok=True)
