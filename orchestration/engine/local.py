"""The local engine: as many shards at a time as this machine's cores and memory allow."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, TypeVar

from republish.anonymize.errors import HomeError
from republish.orchestration.engine.answers import answer, counted, opened
from republish.orchestration.processes import begin_process, wait_for_the_end_of
from republish.orchestration.variables import VARIABLES

J = TypeVar("J")
R = TypeVar("R")
BASE, PER_PERSON = 500 * 2**20, 1_700
"""Bytes of memory that a process takes, and that each person of its shard takes beside; measured."""
WORTH = 100_000
"""People of a shard from which on a process of its own is worth its two seconds of imports."""
TRIES = 2
"""How often a job is begun whose process ends before it is done."""
_kept: list[_Worker] | None = None
"""Processes that wait for the next jobs, while they are kept."""


@contextlib.contextmanager
def workers_kept() -> Iterator[None]:
    """Work through jobs in the same processes meanwhile: each begins with two seconds of imports."""
    global _kept  # noqa: PLW0603 - the processes are this one's
    _kept = []
    try:
        yield
    finally:
        _end_kept()
        _kept = None


def _end_kept() -> None:
    while _kept:
        _kept.pop().end()


class Local:
    """Several processes of this machine; with one worker, this process itself."""

    def __init__(self, workers: int | None = None):
        self._workers = workers

    def run(
        self, function: Callable[[J], R], jobs: Sequence[J], people: int = 0, what: str = "shard"
    ) -> Iterator[R]:
        """As `Engine.run` says."""
        workers = min(len(jobs), self._workers or _at_a_time(people))
        if workers <= 1:
            return counted(map(function, jobs), len(jobs), what)
        return counted(_several(function, jobs, workers, what), len(jobs), what)


def _at_a_time(people: int) -> int:
    """How many shards of so many people fit."""
    if people < WORTH:
        return 1
    cores, each = os.cpu_count() or 1, BASE + PER_PERSON * people
    if _available() < cores * each:
        _end_kept()  # their memory is for the next ones
    return max(1, min(cores, _available() // each))


def _available() -> int:
    """Bytes of memory that processes can still have."""
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


class _Worker:
    """A process that does one job at a time, and ends when there is nobody left to ask it."""

    def __init__(self, threads: int):
        self.threads = threads
        self.process, self.pipe = begin_process(
            _work,
            POLARS_MAX_THREADS=str(threads),  # together, the workers have as many as there are cores
            **VARIABLES,
        )

    def end(self) -> None:
        self.pipe.close()
        self.process.kill()
        self.process.join()


def _worker(threads: int) -> _Worker:
    """One that was kept, or a new one."""
    kept = _kept or []
    same = next((worker for worker in kept if worker.threads == threads), None)
    if same is None:
        return _Worker(threads)
    kept.remove(same)
    return same


def _let_go(idle: list[_Worker]) -> None:
    """Keep them, or end them."""
    if _kept is None:
        for worker in idle:
            worker.end()
    else:
        _kept.extend(idle)


def _work(asked: Connection) -> None:
    """Do a job after the other, until nobody asks."""
    os.dup2(2, 1)  # what a library prints is no output of ours
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    while True:
        try:
            function, job = asked.recv()
        except EOFError:
            return
        asked.send(answer(function, job))


def _end_with(parent: int) -> None:
    """End this process when the one that began it is gone: what it writes would be in the next one's way."""
    wait_for_the_end_of(parent)
    os._exit(1)


def _several(function: Callable[[J], R], jobs: Sequence[J], workers: int, what: str) -> Iterator[R]:
    """The results in the order of the jobs, each as soon as it and those before it are there."""
    threads = max(1, (os.cpu_count() or 1) // workers)
    waiting, tries = list(range(len(jobs)))[::-1], [0] * len(jobs)
    found: dict[int, Any] = {}
    busy: dict[Any, tuple[int, _Worker]] = {}
    idle: list[_Worker] = []

    def begin(worker: _Worker) -> None:
        number = waiting.pop()
        tries[number] += 1
        busy[worker.pipe] = number, worker
        with contextlib.suppress(OSError):  # one that has ended says so when it is waited for
            worker.pipe.send((function, jobs[number]))

    try:
        for _ in range(workers):
            begin(_worker(threads))
        for wanted in range(len(jobs)):
            while wanted not in found:
                for pipe in wait(list(busy)):
                    number, worker = busy.pop(pipe)
                    try:
                        found[number] = opened(worker.pipe.recv())
                    except (EOFError, OSError):
                        worker.end()
                        if tries[number] == TRIES:
                            raise _ended(f"{what} {number}", worker) from None
                        waiting.append(number)
                        worker = _Worker(threads)
                    if waiting:
                        begin(worker)
                    else:
                        idle.append(worker)
            yield found.pop(wanted)
    finally:
        _let_go(idle)
        for _, worker in busy.values():
            worker.end()


def _ended(job: str, worker: _Worker) -> HomeError:
    code = worker.process.exitcode
    killed = f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"
    return HomeError(
        f"the process of {job} ended {killed}, twice. If memory ran out: fewer at a time,"
        " REPUBLISH_ENGINE=local[1], or another machine"
    )
