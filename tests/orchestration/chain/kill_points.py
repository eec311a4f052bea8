"""Takes what a release leaves when it is killed at any of its steps in the file system, and runs it again.

Started by test_killed.py as a process of its own, so that it can be forked: nothing here may start a thread
before a fork. A killed process leaves its files as they are at that moment, so that one run is enough: before
each of its writes, the home is copied. The judge is taken for granted: what is killed is the work between its
verdicts.

What the kernels of a release are called with is learnt from the undisturbed run, so that they are loaded once
and not again by every process that is forked.

    python kill_points.py HOSPITAL HOME RELEASE [NUMBER SEED]

HOME is where a series stands before RELEASE. Every home that a kill can leave is tried, or NUMBER that SEED
draws. Prints each kill point that made a difference, and at the end how many there are and how many
different homes they leave.
"""
# ruff: noqa: T201 - what it prints is its answer

import base64
import hashlib
import importlib
import json
import os
import pickle
import pkgutil
import random
import shutil
import sys
import tempfile
import traceback
from pathlib import Path

import numba
from numba.core.dispatcher import Dispatcher

from republish.anonymize import kernels as folder_of_kernels
from republish.orchestration.chain import audit, candidate, delta, snapshot
from republish.orchestration.expectations import Verdict
from republish.orchestration.storage.manifest import verify_series
from tests.hospital import Hospital, entered, make, noted, published

WRITES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.truncate"}
OPEN_TO_WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Copies:
    """Counts what is written under a folder, and keeps a copy of it as it is before each write."""

    def __init__(self, folder, copies):
        self.folder, self.copies, self.count, self.last, self.is_busy = folder, copies, 0, None, False
        sys.addaudithook(self.hook)
        os.fsync = self.counting(os.fsync)

    def hook(self, event, arguments):
        if self.is_busy:
            return
        writes = event in WRITES or (event == "open" and arguments[2] & OPEN_TO_WRITE)
        if writes and str(arguments[0]).startswith(str(self.folder)):
            self.tick()

    def counting(self, function):
        def counted(*arguments):
            self.tick()
            return function(*arguments)

        return counted

    def tick(self):
        self.count += 1
        self.is_busy = True
        if self.folder.exists() and (now := content(self.folder)) != self.last:
            shutil.copytree(self.folder, self.copies / str(self.count), symlinks=True)
            self.last = now
        self.is_busy = False


def content(folder):
    """All there is in a folder: the names of folders, and the content of files."""
    return {path: path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


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


def kernels():
    """Every kernel that starts no threads, by its name."""
    names = [module.name for module in pkgutil.iter_modules(folder_of_kernels.__path__)]
    return {
        f"{name}.{kernel.__name__}": kernel
        for name in names
        for kernel in vars(importlib.import_module(f"republish.anonymize.kernels.{name}")).values()
        if isinstance(kernel, Dispatcher) and not kernel.targetoptions.get("parallel")
    }


def called():
    """What each kernel was called with, as text."""
    types = {name: kernel.signatures for name, kernel in kernels().items()}
    return base64.b64encode(pickle.dumps(types)).decode()


def load(told):
    """Load the kernels for what they were `called` with."""
    of = kernels()
    for name, signatures in pickle.loads(base64.b64decode(told)).items():  # noqa: S301 - from our own fork
        for signature in signatures:
            of[name].compile(signature)


def trust(evidence, parameters):
    return [Verdict(promise, passed=True, figures={}) for promise in evidence]


def release(hospital, home, name, copies=None):
    """Make a release; returns how often something was written, what the home is like, and what was called."""
    counter = Copies(home, copies) if copies else None
    series = make(hospital.series(home), name)
    verify_series(series.published_folder)
    return json.dumps(
        [
            counter.count if counter else None,
            {
                "history": entered(home).drop("seconds").rows(),
                "noted": [line["release"] for line in noted(home)],
                "leftovers": [str(path.relative_to(home)) for path in home.rglob("*.partial")],
                "published": {
                    path: hashlib.sha256(content).hexdigest() for path, content in published(home).items()
                },
            },
            called(),
        ],
        sort_keys=True,
    )


def main():
    folder, home_before, name, *draw = sys.argv[1:]
    hospital, before = Hospital(Path(folder)), Path(home_before)
    numba.njit(lambda x: x)(1)  # what numba loads at its first call is loaded once, before all forks
    audit.judge = candidate.judge = delta.judge = snapshot.judge = trust
    candidate.start_judge = lambda: None
    work = Path(tempfile.mkdtemp(dir=before.parent))
    home, copies = work / "undisturbed", work / "copies"
    copies.mkdir()
    if before.exists():
        shutil.copytree(before, home)
    _, undisturbed = forked(release, hospital, home, name, copies)
    count, expected, types = json.loads(undisturbed)
    load(types)
    killed = sorted(copies.iterdir(), key=lambda folder: int(folder.name))
    for folder in random.Random(int(draw[1])).sample(killed, int(draw[0])) if draw else killed:
        whole = all((each / "manifest.json").exists() for each in folder.glob("published/*/*/[!.]*"))
        status, again = forked(release, hospital, folder, name)
        if status or not whole or json.loads(again)[1] != expected:
            print(f"kill point {folder.name}: {status=} {whole=}\n  {again}\n  instead of\n  {expected}")
        shutil.rmtree(folder)
    print(f"{count} kill points, {len(killed)} different homes")


if __name__ == "__main__":
    main()
