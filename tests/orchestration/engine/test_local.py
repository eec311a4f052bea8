"""The local engine: what becomes of its processes. It imports little: each of them imports it, too."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from republish.anonymize.errors import HomeError, NotEligible
from republish.orchestration.engine import engine as engines
from republish.orchestration.engine.local import Local, workers_kept

ROOT = Path(__file__).parents[3]


def killed_once(job):
    folder, number = job
    if number == 1 and not (folder / "killed").exists():
        (folder / "killed").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * 10


def killed_always(_job):
    os.kill(os.getpid(), signal.SIGKILL)


def refused(job):
    time.sleep(0.01)
    raise NotEligible(f"nobody in {job}")


def broken(job):
    raise ValueError(f"a value of {job}")


@pytest.mark.slow("takes more than a second")
def test_a_process_that_is_killed_is_replaced_once(tmp_path):
    jobs = [(tmp_path, number) for number in range(5)]
    assert list(Local(2).run(killed_once, jobs)) == [0, 10, 20, 30, 40]
    with pytest.raises(HomeError, match=r"process of shard \d ended by signal 9, twice"):
        list(Local(2).run(killed_always, [0, 1]))


def its_process(_job):
    return os.getpid()


@pytest.mark.slow("takes more than a second")
def test_processes_that_are_kept_do_the_next_jobs_and_end_with_the_work():
    with workers_kept():
        first, second = (set(Local(2).run(its_process, range(4))) for _ in range(2))
    other = set(Local(2).run(its_process, range(4)))
    assert first | second == first
    assert not first & other
    assert not any(is_there(pid) for pid in first)


@pytest.mark.slow("takes more than a second")
def test_a_kept_process_that_was_killed_is_replaced():
    with workers_kept():
        for pid in set(Local(2).run(its_process, range(2))):
            os.kill(pid, signal.SIGKILL)
        assert len(list(Local(2).run(its_process, range(2)))) == 2


def sleeping(folder):
    (folder / f"{os.getpid()}").touch()
    time.sleep(60)


@pytest.mark.slow("takes more than a second")
def test_no_process_outlives_the_one_that_began_it(tmp_path):
    program = (
        "from pathlib import Path; from republish.orchestration.engine.local import Local;"
        " from tests.orchestration.engine.test_local import sleeping;"
        f" list(Local(2).run(sleeping, [Path({str(tmp_path)!r})] * 2))"
    )
    driver = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT)
    deadline = time.monotonic() + 60
    while len(workers := [int(file.name) for file in tmp_path.iterdir()]) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    driver.kill()
    driver.wait()
    while any(is_there(pid) for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(workers) == 2
    assert not any(is_there(pid) for pid in workers)


def is_there(pid):
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def test_what_a_shard_refuses_is_refused_and_a_librarys_words_are_kept_back():
    with pytest.raises(NotEligible, match=r"nobody in \d"):
        list(Local(2).run(refused, [0, 1, 2]))
    with pytest.raises(HomeError, match=r"unexpected ValueError in .*test_local.py, line \d+$"):
        list(Local(2).run(broken, [0, 1]))


@pytest.mark.parametrize("name", ["sparks", "spark[]", "local[two]", ""])
def test_an_engine_that_is_none_is_said(name, monkeypatch):
    monkeypatch.setenv(engines.VARIABLE, name)
    with pytest.raises(HomeError, match="is no engine"):
        engines.the_engine()
