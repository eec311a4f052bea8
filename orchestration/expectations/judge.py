"""The process that Great Expectations runs in.

It takes seconds to import, so it is imported beside other work, once for all releases of a run; and
whatever happens inside it, an exception or an end of the process, is no promise kept.
"""

from __future__ import annotations

import gc
import importlib.util
import os
import signal
import sys
import threading
from collections.abc import Mapping
from functools import cache
from multiprocessing.connection import Connection
from pickle import UnpicklingError
from types import ModuleType
from typing import Any

import polars as pl

from republish.orchestration.expectations.verdict import Verdict, no_verdict
from republish.orchestration.processes import begin_process

DISTRIBUTIONS, DRAWINGS = "scipy.stats", "altair"
"""What Great Expectations imports and no suite of ours uses: two fifths of its import."""
NOT_USED = ("boto3", "psycopg2", "pyspark", "rfc3987_syntax", "sqlalchemy")
"""What it imports where others installed it, and does without. It takes as long again; pyspark would end the
process."""
Evidence = Mapping[str, pl.DataFrame]
"""Tables of counts by promise."""


class Judge:
    """A running process, asked one question at a time.

    It ends when there is nobody left to ask it, also when this process is killed: then its pipe is closed.
    """

    def __init__(self) -> None:
        _, self._pipe = begin_process(_answer)
        self._asking = threading.Lock()

    def ask(self, evidence: Evidence, parameters: Mapping[str, Any]) -> list[Verdict]:
        """Its verdicts; EOFError or OSError if it has ended."""
        with self._asking:
            self._pipe.send((dict(evidence), dict(parameters)))
            verdicts: list[Verdict] = self._pipe.recv()
            return verdicts


the_judge = cache(Judge)
"""One process for all releases of a run."""


def start_judge() -> None:
    """Start the process, if it isn't there, so that it is ready when there is evidence to judge."""
    the_judge()


def judge(evidence: Evidence, parameters: Mapping[str, Any]) -> list[Verdict]:
    """A verdict for every table of evidence, by the suite of its name.

    Parameters
    ----------
    evidence
        Tables of counts by promise.
    parameters
        What the suites' `$PARAMETER`s stand for.
    """
    try:
        return the_judge().ask(evidence, parameters)
    except (EOFError, OSError, UnpicklingError):
        the_judge.cache_clear()  # whatever is left of it, the next question is for another
        ended = "Great Expectations ended before it gave a verdict."
        return [no_verdict(promise, ended) for promise in evidence]


def _answer(questions: Connection) -> None:
    """What the process does: answer (evidence, parameters) with verdicts, until nobody asks."""
    is_told_to_end = threading.Event()

    def end(*_: object) -> None:
        """Tidy up and end: semaphores that libraries made would outlive a process that was killed."""
        is_told_to_end.set()  # what is raised here is lost where a library passes over every error
        sys.exit()

    signal.signal(signal.SIGTERM, end)
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    os.dup2(2, 1)  # what a library prints is no output of ours
    _import_when_used(DISTRIBUTIONS)
    sys.modules[DRAWINGS] = ModuleType(DRAWINGS)  # `import` looks into a lazy module, which loads it
    sys.modules |= dict.fromkeys(NOT_USED)  # type: ignore[arg-type] # as if they were not installed
    gc.disable()  # a fifth: to look over again and again what is imported, none of which is garbage
    from republish.orchestration.expectations.suites import verdict  # noqa: PLC0415 - takes two seconds

    gc.freeze()
    gc.enable()
    while not is_told_to_end.is_set():
        try:
            evidence, parameters = questions.recv()
        except EOFError:
            return
        verdicts = []
        for promise, table in evidence.items():
            try:
                verdicts.append(verdict(promise, table, parameters))
            except Exception as error:  # noqa: BLE001 - and none of them may be taken for a pass
                broken = f"Great Expectations failed with {type(error).__name__}."
                verdicts.append(no_verdict(promise, broken))
        try:
            questions.send(verdicts)
        except OSError:  # whoever asked was killed
            return


def _import_when_used(name: str) -> None:
    """Let a module be imported at the first use of what is in it, not at its mention."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        return
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    parent, _, child = name.rpartition(".")
    sys.modules[name] = module
    if parent:
        setattr(sys.modules[parent], child, module)
    spec.loader.exec_module(module)
