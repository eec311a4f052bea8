"""The engine of Spark: each shard is a task, of executors that are on this machine or many others."""

from __future__ import annotations

import os
import pickle
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, partial
from importlib.util import find_spec
from subprocess import DEVNULL
from typing import Any, TypeVar
from warnings import catch_warnings

from republish.anonymize.errors import HomeError
from republish.orchestration import limits
from republish.orchestration.engine.answers import Answer, answer, counted, opened
from republish.orchestration.engine.local import TRIES
from republish.orchestration.storage.home import HOME_VARIABLE, KEY_VARIABLE

J = TypeVar("J")
R = TypeVar("R")
AT_A_TIME = 256
"""How many shards Spark is asked for at a time; it has as many worked on as there are cores."""
LOCAL = re.compile(r"local(?:\[(?P<cores>\d+|\*)\])?")
VARIABLES = (KEY_VARIABLE, HOME_VARIABLE, limits.VARIABLE)
"""Variables that tasks have from this process's environment."""
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.io.encryption.enabled": "true",  # Spark may put results on disk, and they name people
}
ON_THIS_MACHINE = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.authenticate": "true",  # other accounts of this machine can reach 127.0.0.1
}


class Spark:
    """Executors of a Spark master. Spark begins shards again whose executor or process ended."""

    def __init__(self, master: str | None = None):
        """Name the master; without one, it is that of Spark's own configuration, or else `local[*]`.

        Raises HomeError if pyspark or Java is not installed.
        """
        if find_spec("pyspark") is None:
            raise HomeError("pyspark is not installed, which runs Spark: pip install 'republish[spark]'")
        home = os.environ.get("JAVA_HOME")  # it goes before the PATH
        if shutil.which("java", path=f"{home}/bin" if home else None) is None:
            raise HomeError("Java is not installed, which Spark needs: install Java 17, or set JAVA_HOME")
        self._master = master

    def run(
        self,
        function: Callable[[J], R],
        jobs: Sequence[J],
        people: int = 0,  # noqa: ARG002
        what: str = "shard",
    ) -> Iterator[R]:
        """As `Engine.run` says; a single job is done in this process."""
        if len(jobs) == 1:
            return map(function, jobs)
        return counted(self._mapped(function, jobs, what), len(jobs), what)

    def _mapped(self, function: Callable[[J], R], jobs: Sequence[J], what: str) -> Iterator[R]:
        context = _started(self._master)
        packed = context.parallelize([pickle.dumps((function, job)) for job in jobs], len(jobs))
        environment = {name: os.environ[name] for name in VARIABLES if name in os.environ}
        asked = partial(_asked, context, packed, partial(_work, environment), what)
        pool, is_whole = ThreadPoolExecutor(min(len(jobs), AT_A_TIME)), False
        try:
            for answered in pool.map(asked, range(len(jobs))):
                yield opened(answered)
            is_whole = True
        finally:
            if not is_whole:  # what is still worked on would write into the home
                _end(context)
            pool.shutdown(cancel_futures=True)


def _work(environment: Mapping[str, str], packed: Iterator[bytes]) -> Iterator[Answer]:
    """Do a task, in a process of its executor."""
    for name in VARIABLES:
        os.environ.pop(name, None)
    os.environ.update(environment)
    for one in packed:
        function, job = pickle.loads(one)  # noqa: S301 - packed by the process that asked
        yield answer(function, job)


def _asked(
    context: Any, packed: Any, work: Callable[..., Iterator[Answer]], what: str, number: int
) -> Answer:
    """The outcome of one job. Raises HomeError if Spark has no answer."""
    from py4j.protocol import Py4JError  # noqa: PLC0415

    try:
        return Answer(*context.runJob(packed, work, [number])[0])
    except (Py4JError, OSError, EOFError) as error:
        raise HomeError(f"{what} {number}: {_reason(str(error))}") from None


def _reason(words: str) -> str:
    """Why Spark has no answer, by its own words: these are many lines, and may be of anything."""
    if "PythonException" in words or "Cannot run program" in words:
        return (
            "Spark's executors can't run it. They need republish and the Python that it is installed for:"
            " PYSPARK_PYTHON says where"
        )
    if "Job aborted due to stage failure" in words:
        return (
            "each process of Spark that worked on it ended before it was done. If memory ran out: fewer"
            " shards at a time, spark[local[1]] say, or executors with more (spark.executor.memoryOverhead)"
        )
    return "Spark ended before it was done, or its master can't be reached"


@cache
def _started(master: str | None) -> Any:
    """The context of Spark in this process, with a Java process of its own."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        with catch_warnings(action="ignore"):  # they are about packages that Spark does not need here
            return _context(master)
    except Exception as error:  # noqa: BLE001 - of Python, of py4j or of Java
        raise HomeError(
            f"Spark can't be started ({type(error).__name__}): it needs Java 17 or newer (JAVA_HOME) and a"
            " master that can be reached, spark[local[2]] or spark[spark://HOST:7077]"
        ) from None


def _context(master: str | None) -> Any:
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415
    from pyspark.java_gateway import launch_gateway  # noqa: PLC0415

    # What Spark says is no output of ours: it would quote paths and commands.
    gateway = launch_gateway(popen_kwargs={"stdout": DEVNULL, "stderr": DEVNULL})
    conf = SparkConf(_jvm=gateway.jvm).setAppName("republish")
    if master:
        conf.setMaster(master)
    settings = dict(SETTINGS)
    if local := LOCAL.fullmatch(conf.get("spark.master", "")):
        settings |= ON_THIS_MACHINE
        settings["spark.master"] = f"local[{local['cores'] or 1},{TRIES}]"  # without it, one
        settings["spark.executorEnv.PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    settings["spark.executorEnv.POLARS_MAX_THREADS"] = conf.get("spark.task.cpus", "1")
    for name, value in settings.items():
        conf.set(name, value)
    return SparkContext(conf=conf, gateway=gateway)


def _end(context: Any) -> None:
    """End the context, its Java process, and all that works for it on this machine."""
    from pyspark import SparkContext  # noqa: PLC0415

    _started.cache_clear()
    process = SparkContext._gateway.proc  # noqa: SLF001 - it has no other name
    with suppress(Exception):  # the process may have ended; then only what is in this one is to be stopped
        context.stop()
    context.stop()
    if process is not None:
        process.stdin.close()
        process.wait()
    SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001
