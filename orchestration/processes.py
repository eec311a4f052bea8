"""Processes beside this one, each asked through a pipe."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any


def begin_process(
    work: Callable[..., None], *given: Any, **environment: str
) -> tuple[BaseProcess, Connection]:
    """A process that does `work(*given, questions)`, and the end of a pipe on which it is asked.

    It ends with this process, and, if its work ends when there is nobody left to ask, also when this one is
    killed. Ctrl-C is meant for the one who asks, so it does not reach this process.

    Parameters
    ----------
    environment
        Variables that it has besides this process's, for what reads them when it is imported.
    """
    context = get_context("spawn")  # a fork would have this process's locks, and none of its threads
    ours, questions = context.Pipe()
    # Python 3.11 would start it with the first process, and let Ctrl-C through to that process again.
    resource_tracker.ensure_running()
    process = context.Process(target=work, args=(*given, questions), daemon=True)
    with _environment(environment), _no_interruption():
        process.start()
    questions.close()
    return process, ours


def wait_for_the_end_of(parent: int) -> None:
    """Wait until the process that began this one is gone, however it ended; `parent` is its number."""
    while os.getppid() == parent:
        time.sleep(0.2)


@contextlib.contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name)
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _no_interruption() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
