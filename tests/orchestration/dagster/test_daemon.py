"""Dagster's daemon, a process of its own with its tables in PostgreSQL, makes releases on simulated dates.

Dagster asks two functions for the time, and republish one. In the processes begun here these read a file.
"""

import datetime as dt
import os
import shutil
import signal
import socketserver
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import dagster as dg
import pytest

from republish.orchestration.contracts.registry import register
from republish.orchestration.dagster.instance import OWN, dagster_instance, prepare_dagster_home
from republish.orchestration.demo.hospital import hospital_snapshots
from republish.orchestration.package_files import package_file
from republish.orchestration.series.series import Series
from tests.hospital import ROOT, make, published, several_threads
from tests.orchestration.dagster.test_postgres import SETTINGS, dagster_address
from tests.orchestration.dagster.test_tell import Mailbox, serving, webhook

pytestmark = pytest.mark.slow("starts a daemon or a server")

PATIENCE = 180
"""Seconds by the real clock that anything may take."""
DATES = int(os.environ.get("REPUBLISH_TEST_DATES", "1"))
"""How many the daemon makes: the first fails at first, every second one is made by the schedule."""
FAILS = 0 if DATES < 5 else 4
AT_THE_TIME_OF_A_FILE = """\
import datetime, pathlib, sys, time
from dagster import _time
from republish.orchestration.series import calendar
def seconds():
    return time.time() + float(pathlib.Path({file!r}).read_text())
def now():
    return datetime.datetime.fromtimestamp(seconds(), datetime.UTC)
_time._mockable_get_current_timestamp = seconds
_time._mockable_get_current_datetime = now
calendar.now = now
if "republish.orchestration.dagster.daemon" in sys.orig_argv:  # it waits between looks by the real clock
    from dagster._core.run_coordinator.queued_run_coordinator import QueuedRunCoordinator
    from dagster._daemon import sensor
    from dagster._scheduler import scheduler
    QueuedRunCoordinator.dequeue_interval_seconds = sensor.MIN_INTERVAL_LOOP_TIME = 1
    scheduler._get_next_scheduler_iteration_time = lambda begun: begun + 1
"""


@dataclass(frozen=True)
class Clock:
    """A clock that can be moved on, and ticks from there; read by every Python that has it on its path."""

    folder: Path

    @property
    def file(self):
        return self.folder / "ahead"

    def move_to(self, date, seconds=0):
        self._write(dt.datetime.fromisoformat(f"{date}T00:00Z").timestamp() + seconds - time.time())

    def move_on(self, seconds):
        self._write(float(self.file.read_text()) + seconds)

    def _write(self, ahead):
        (beside := self.folder / "new").write_text(str(ahead))
        beside.replace(self.file)

    def environment(self):
        return several_threads() | {"PYTHONPATH": f"{self.folder}{os.pathsep}{ROOT}"}


def command(clock, *words):
    """A command at the time of the clock, which has to end well."""
    ended = subprocess.run(
        [sys.executable, "-m", *map(str, words)],
        env=clock.environment(), cwd=ROOT, timeout=PATIENCE, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr


@contextmanager
def daemon(clock, home, log):
    """The daemon, begun and ended as the unit in docs/how-to/systemd says."""
    words = ["republish", "ui", "--only", "daemon", "--home", str(home.path)]
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", *words],
            env=clock.environment(), cwd=ROOT, stdout=output, stderr=output, start_new_session=True,
        )  # fmt: skip
    try:
        yield
    finally:
        process.send_signal(signal.SIGINT)  # it ends the daemon, whose session is another one
        try:
            assert process.wait(PATIENCE) == 0
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(PATIENCE)


@dataclass(frozen=True)
class Office:
    """A home whose releases the daemon makes, and what can be seen of that."""

    series: Series
    clock: Clock
    log: Path
    instance: dg.DagsterInstance

    def until(self, is_true, *of, passing=0):
        """Wait until something is true; in each second so many of the simulated time pass besides."""
        deadline = time.monotonic() + PATIENCE
        while not is_true(*of):
            assert time.monotonic() < deadline, f"{is_true} {of}\n{self.log.read_text()[-6000:]}"
            time.sleep(0.25)
            self.clock.move_on(passing / 4)

    def skips(self):
        """How often the sensor had nothing to do."""
        return self.log.read_text().count("Sensor release_hospital_v1_arrival skipped")

    def waits_for(self, release):
        return f"the snapshot of {release} has not arrived" in self.log.read_text()

    def runs(self, release):
        asked = dg.RunsFilter(tags={"dagster/partition": release})
        return [run for run in reversed(self.instance.get_runs(asked)) if run.is_finished]

    def has_failed(self, release):
        return any(run.is_failure for run in self.runs(release))

    def is_made(self, release):
        return self.series.is_published(release) and any(run.is_success for run in self.runs(release))

    def come_to(self, release):
        """Let the sensor look for the last time before a date, and the date begin."""
        self.clock.move_to(release, -20)
        before = self.skips()
        self.until(lambda: self.skips() > before)
        return partial(self.clock.move_to, release, 1)

    def found(self, release):
        """Of each run of a release how it ended, and who began it."""
        by_schedule = "dagster/schedule_name"
        return [
            (run.status.name, "schedule" if by_schedule in run.tags else "sensor")
            for run in self.runs(release)
        ]


@pytest.fixture
def told(monkeypatch):
    """What is posted, and what is mailed."""
    posted, mailed = [], []
    mailbox = type("OfThisTest", (Mailbox,), {"kept": mailed})
    with webhook(posted) as hook, serving(socketserver.TCPServer(("127.0.0.1", 0), mailbox)) as port:
        monkeypatch.setenv("REPUBLISH_WEBHOOK", hook)
        monkeypatch.setenv("REPUBLISH_MAIL", f"smtp://127.0.0.1:{port}?from=a@example.org&to=b@example.org")
        yield posted, mailed


@pytest.fixture
def office(hospital, postgresql, told, tmp_path, monkeypatch):
    """The daemon of a home whose first release is made, with schedule and sensor turned on."""
    monkeypatch.setenv("DAGSTER_POSTGRES", dagster_address(postgresql))
    shutil.rmtree(hospital.folder / "snapshots")
    (hospital.folder / ".hospital.yaml.home").unlink()
    (first, snapshot), *_ = hospital_snapshots(DATES + 1, 300)
    hospital.deliver(first, snapshot)
    clock, log = Clock(tmp_path / "clock"), tmp_path / "log"
    clock.folder.mkdir()
    (clock.folder / "sitecustomize.py").write_text(AT_THE_TIME_OF_A_FILE.format(file=str(clock.file)))
    clock.move_to(first, 60)
    series = hospital.series(tmp_path / "daemon")
    (prepare_dagster_home(series.home) / OWN).write_text(SETTINGS)
    make(series, first)
    register(series.home, series.file)
    with dagster_instance(series.home) as instance, daemon(clock, series.home, log):
        workspace = ["--workspace", package_file("workspace.yaml")]
        turn_on = partial(command, clock, "dagster")
        with ThreadPoolExecutor() as both:
            schedule = both.submit(turn_on, "schedule", "start", "release_hospital_v1_schedule", *workspace)
            turn_on("sensor", "start", "release_hospital_v1_arrival", *workspace)
            schedule.result()
        yield Office(series, clock, log, instance)


@pytest.mark.postgres
@pytest.mark.timeout(PATIENCE * (4 + DATES))
def test_dates_make_themselves_one_of_them_after_its_snapshot_is_mended(hospital, office, told, tmp_path):
    """The sensor makes every second release, and the schedule the others."""
    posted, mailed = told
    (first, _), *later = hospital_snapshots(DATES + 1, 300)
    for number, (release, snapshot) in enumerate(later):
        begin = office.come_to(release)
        if is_by_schedule := number % 2 == 1:
            hospital.deliver(release, snapshot)
            begin()
        elif number == FAILS:
            hospital.deliver(release, snapshot.drop("age"))
            begin()
            office.until(office.has_failed, release, passing=30)
            office.until(lambda: posted and mailed, passing=40)
        else:
            begin()
            office.until(office.waits_for, release)
        if not is_by_schedule:
            hospital.deliver(release, snapshot)
        office.until(office.is_made, release, passing=0 if is_by_schedule else 15)
    office.until(lambda: len(posted) == len(mailed) == 2, passing=40)
    made = {release: office.found(release) for release, _ in later}
    print(*made.items(), *posted, *mailed, sep="\n")  # noqa: T201 - for docs/how-to/run.md, with pytest -s
    for release, runs in made.items():
        # A run that was asked for first and waited for its turn may find the mended snapshot.
        ended = {status for status, _ in runs}
        assert ended == {"SUCCESS", *(["FAILURE"] if release == later[FAILS][0] else [])}
    by_whom = {by for runs in made.values() for _, by in runs}
    assert DATES < 5 or by_whom == {"schedule", "sensor"}  # of few dates the sensor may be first on all
    assert [one["ok"] for one in posted] == [False, True]
    assert "the column age is missing" in posted[0]["text"]
    assert "the column age is missing" in mailed[0].replace("=\n", "")
    assert "is well again" in mailed[1]
    assert not (office.series.home.dagster / "history").exists()
    (hospital.folder / ".hospital.yaml.home").unlink()
    by_hand = make(hospital.series(tmp_path / "by hand"), first, *made)
    assert published(by_hand.home.path) == published(office.series.home.path)
