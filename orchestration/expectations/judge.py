"""The process that Great Expectations runs in.

It takes seconds to import, so it is imported beside other work, once for all releases of a run; and
whatever happens inside it, an exception or an end of the process, is no promise kept.
"""

from __future__ import annotations

import atexit
import io
import os
import pickle
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import IO, Any

import polars as pl

from orchestration.expectations.verdict import Verdict, no_verdict

_LENGTH = struct.Struct(">Q")


class _Judge:
    """A running process, asked one question at a time."""

    def __init__(self):
        self._process = subprocess.Popen(
            [sys.executable, "-m", "orchestration.expectations"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "GX_ANALYTICS_ENABLED": "false"},
            start_new_session=True,  # Ctrl-C is meant for the one who asks
        )
        # It ends when there is nobody left to ask it: also when this process is killed.
        atexit.register(self._process.stdin.close)

    @property
    def is_there(self) -> bool:
        return self._process.poll() is None

    def ask(self, question: Any) -> list[Verdict]:
        send(self._process.stdin, question)
        return receive(self._process.stdout)


_judge: _Judge | None = None
_asking = threading.Lock()


def start_judge() -> None:
    """Start the process, if it isn't there, so that it is ready when there is evidence to judge."""
    with _asking:
        _running()


def judge(evidence: Mapping[str, pl.DataFrame], parameters: Mapping[str, Any]) -> list[Verdict]:
    """A verdict for every table of evidence, by the suite of its name.

    Parameters
    ----------
    evidence
        Tables of counts by promise.
    parameters
        What the suites' `$PARAMETER`s stand for.
    """
    global _judge  # noqa: PLW0603 - as below
    tables = {promise: _to_bytes(table) for promise, table in evidence.items()}
    with _asking:
        try:
            return _running().ask((tables, dict(parameters)))
        except (EOFError, OSError, pickle.UnpicklingError):
            _judge = None  # whatever is left of it, the next question is for another
            return [
                no_verdict(promise, "Great Expectations ended before it gave a verdict.")
                for promise in evidence
            ]


def _running() -> _Judge:
    global _judge  # noqa: PLW0603 - one process for all releases of a run
    if _judge is None or not _judge.is_there:
        _judge = _Judge()
    return _judge


def _to_bytes(table: pl.DataFrame) -> bytes:
    stream = io.BytesIO()
    table.write_ipc(stream)
    return stream.getvalue()


def send(stream: IO[bytes], message: Any) -> None:
    """Write a message for the other half."""
    content = pickle.dumps(message)
    stream.write(_LENGTH.pack(len(content)) + content)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Read a message of the other half; EOFError when it has ended."""
    header = stream.read(_LENGTH.size)
    if len(header) < _LENGTH.size:
        raise EOFError
    return pickle.loads(stream.read(*_LENGTH.unpack(header)))  # noqa: S301 - from our own other half
