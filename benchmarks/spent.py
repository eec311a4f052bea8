"""What a command takes: `python -m benchmarks.spent COMMAND …` runs it, and prints that as JSON.

It is a process of its own because it waits for all that the command leaves behind, Great Expectations say.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of Linux: processes that a child leaves behind become children of this one."""


def spent(*command: str) -> dict[str, float]:
    """Processor seconds of a command and all that it starts, seconds by the clock, and memory.

    Returns
    -------
    dict
        `processor`, `clock`, and `memory`: the most that one of the processes had, in MiB.

    Raises
    ------
    subprocess.CalledProcessError
        If the command does not end well.
    """
    words = [sys.executable, "-m", "benchmarks.spent", *command]
    found: dict[str, float] = json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)
    return found


def _run(command: Sequence[str]) -> int:
    """Run a command and print what it took; returns its exit code."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    began, clock, processor, memory, code = time.perf_counter(), 0.0, 0.0, 0, 0
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    with suppress(ChildProcessError):  # until there is none left
        while True:
            ended, status, usage = os.wait4(-1, 0)
            if ended == process.pid:
                clock, code = time.perf_counter() - began, os.waitstatus_to_exitcode(status)
                process.returncode = code
            processor += usage.ru_utime + usage.ru_stime
            memory = max(memory, usage.ru_maxrss // 1024)
    print(json.dumps({"processor": processor, "clock": clock, "memory": memory}))
    return code


if __name__ == "__main__":
    sys.exit(_run(sys.argv[1:]))
