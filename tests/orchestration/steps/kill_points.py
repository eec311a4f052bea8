"""Kills a release at every step it takes in the file system, and runs it again. Started by test_killed.py.

A process of its own, so that it can be forked: nothing here may start a thread before a fork. The judge is
taken for granted: what is killed is the work between its verdicts.

    python kill_points.py HOSPITAL HOME RELEASE FIRST STEP

HOME is where a series stands before RELEASE; the kill points are FIRST, FIRST + STEP, …. Prints every one
that made a difference, and at the end how many there are.
"""
# ruff: noqa: T201 - what it prints is its answer

import hashlib
import json
import os
import shutil
import signal
import sys
import tempfile
import traceback
from pathlib import Path

import numba

from orchestration.expectations import Verdict
from orchestration.steps import audit, candidate, delta, snapshot
from orchestration.storage.manifest import verify_series
from tests.hospital import Hospital, make, published

WRITES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.truncate"}
OPEN_TO_WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Countdown:
    """Counts what is written under a folder, and kills the process before the k-th."""

    def __init__(self, folder, k):
        self.folder, self.left, self.count = str(folder), k, 0
        sys.addaudithook(self.hook)
        os.fsync = self.counting(os.fsync)

    def hook(self, event, arguments):
        writes = event in WRITES or (event == "open" and arguments[2] & OPEN_TO_WRITE)
        if writes and str(arguments[0]).startswith(self.folder):
            self.tick()

    def counting(self, function):
        def counted(*arguments):
            self.tick()
            return function(*arguments)

        return counted

    def tick(self):
        self.count += 1
        if self.count == self.left:
            os.kill(os.getpid(), signal.SIGKILL)


def forked(work, *arguments):
    """The exit status of a process that does a piece of work, and its number."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, work(*arguments).encode())
            os._exit(0)
        except BaseException:  # noqa: BLE001 - told to the parent, whatever it is
            traceback.print_exc()
            os._exit(1)
    os.close(writer)
    _, status = os.waitpid(child, 0)
    answer = os.read(reader, 100_000).decode()
    os.close(reader)
    return os.waitstatus_to_exitcode(status), answer


def trust(evidence, parameters):
    return [Verdict(promise, passed=True, figures={}) for promise in evidence]


def release(hospital, home, name, kill_at=0):
    """Make a release; returns how many times something was written, and what the home is like after it."""
    countdown = Countdown(home, kill_at)
    series = make(hospital.series(home), name)
    verify_series(series.published_folder)
    return json.dumps(
        [
            countdown.count,
            {
                "history": series.history.releases("hospital", "v1").drop("seconds").rows(),
                "leftovers": [str(path.relative_to(home)) for path in home.rglob("*.partial")],
                "published": {
                    path: hashlib.sha256(content).hexdigest() for path, content in published(home).items()
                },
            },
        ],
        sort_keys=True,
    )


def main():
    hospital, before, name = Hospital(Path(sys.argv[1])), Path(sys.argv[2]), sys.argv[3]
    first, step = int(sys.argv[4]), int(sys.argv[5])
    numba.njit(lambda x: x)(1)  # what numba loads at its first call is loaded once, before all forks
    audit.judge = delta.judge = snapshot.judge = trust
    candidate.start_judge = lambda: None
    work = Path(tempfile.mkdtemp(dir=before.parent))

    def copy(target):
        return shutil.copytree(before, work / target) if before.exists() else work / target

    home = copy("undisturbed")
    _, undisturbed = forked(release, hospital, home, name)
    count, expected = json.loads(undisturbed)
    for k in range(first, count + 1, step):
        home = copy("killed")
        status, _ = forked(release, hospital, home, name, k)
        whole = all((folder / "manifest.json").exists() for folder in home.glob("published/*/*/[!.]*"))
        _, again = forked(release, hospital, home, name)
        if status != -signal.SIGKILL or not whole or json.loads(again or "[0, 0]")[1] != expected:
            print(f"kill point {k}: {status=} {whole=}\n  {again}\n  instead of\n  {expected}")
        shutil.rmtree(home)
    print(f"{count} kill points")


if __name__ == "__main__":
    main()
