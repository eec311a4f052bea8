"""Killed at any moment and run again, a series has the same published bytes as if nothing had been."""

import json
import signal
import time
from pathlib import Path

import dagster as dg
import pytest

from republish.orchestration.cli.releasing import releases_to_make
from republish.orchestration.dagster.instance import dagster_instance
from republish.orchestration.dagster.workers import files, left
from republish.orchestration.rights.forget import forget
from republish.orchestration.storage.home import Home
from tests.hospital import RELEASES, begin, entered, make, noted, published
from tests.killed import kill_points

pytestmark = pytest.mark.slow("kills processes")

FIRST, SECOND, THIRD = RELEASES


@pytest.mark.parametrize(
    ("release", "shards"),
    [pytest.param(FIRST, 1), (SECOND, 1), pytest.param(SECOND, 2)],
    ids=["the first release", "a release built on another", "a release of people who are divided"],
)
def test_killed_at_every_step_in_the_file_system(hospital, tmp_path, release, shards, seed_of_run):
    """Before every file or folder that is written, synced, renamed or removed. Some are drawn, and tried."""
    hospital.declare(shards=shards)
    if release == SECOND:
        make(hospital.series(tmp_path / "before"), FIRST)
    some = ["5" if shards == 1 else "3", str(seed_of_run)]
    script = Path(__file__).with_name("kill_points.py")
    points, homes = kill_points(script, hospital.folder, tmp_path / "before", release, *some)
    assert points > 50
    assert homes > 25


@pytest.mark.parametrize("goes_on", ["release", "forget"])
def test_killed_before_its_line_in_the_log_a_release_is_noted_by_the_next_command(
    hospital, home, monkeypatch, goes_on
):
    def killed(*_words, **_more):
        raise KeyboardInterrupt

    series = hospital.series(home)
    with monkeypatch.context() as patch:
        patch.setattr("republish.orchestration.chain.publication.note", killed)
        with pytest.raises(KeyboardInterrupt):
            make(series, THIRD)
    assert series.is_published(THIRD)
    if goes_on == "release":
        assert releases_to_make(series, THIRD) == []
    else:
        forget(series, hospital.snapshot(FIRST)["patient_id"].to_list()[:3], again=True)
    lines = [line for line in noted(home) if line["what"] == "published"]
    assert [line["release"] for line in lines] == [*RELEASES]
    assert [line.get("late") for line in lines] == [None, None, True]
    assert lines[2]["contract_sha256"] == lines[1]["contract_sha256"]
    assert noted(home)[2]["what"] == "published"


def kill_when(process, happened, by=signal.SIGKILL):
    """Kill a process as soon as something has happened; what it started is left alone."""
    deadline = time.monotonic() + 120
    while not happened() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    assert process.poll() is None, process.communicate()
    process.send_signal(by)
    return (*process.communicate(), process.returncode)


def started_by(process):
    """The processes that a process has started, as soon as there are any."""
    folder = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    deadline = time.monotonic() + 60
    while not (found := folder.read_text().split()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert found
    return [Path(f"/proc/{pid}") for pid in found]


def ended(folders):
    """Whether processes are gone, or nothing is left of them but their number."""
    return all(
        not (folder / "stat").exists() or (folder / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
        for folder in folders
    )


def test_the_command_interrupted_killed_and_run_again(hospital, home, tmp_path):
    undisturbed = home.rename(tmp_path / "undisturbed")
    make(hospital.series(undisturbed), THIRD)
    (hospital.folder / ".hospital.yaml.home").unlink()  # two homes of a series, for once on purpose
    private = home / "private/hospital/v1"

    process = begin(hospital.contract, home, THIRD)
    told = kill_when(process, (private / FIRST / "snapshot.parquet").exists, by=signal.SIGINT)
    assert told == (f"hospital/v1 is published in {home}\n".encode(), b"", 130)  # Ctrl-C: no traceback
    process = begin(hospital.contract, home, THIRD)
    judges = started_by(process)
    kill_when(process, (private / SECOND / "linkage.parquet").exists)
    assert len(left(Home(home))) == 1

    assert published(home).items() <= published(undisturbed).items()
    done = begin(hospital.contract, home, THIRD)
    out, err = done.communicate()
    assert done.returncode == 0, err
    assert published(home) == published(undisturbed)
    assert not files(Home(home))
    _, *lines = out.decode().splitlines()
    assert [line.split()[0] for line in lines] in ([SECOND, THIRD], [*RELEASES])
    releases = entered(home)
    assert releases["status"].to_list() == ["published"] * 3
    assert json.loads(releases["figures"][2])["people"] == 300
    assert ended(judges)
    with dagster_instance(hospital.series(home).home) as instance:
        states = [run.status for run in instance.get_runs()]
    assert states.count(dg.DagsterRunStatus.SUCCESS) == 3
    assert len(states) == 5
    assert all(state.name in ("SUCCESS", "FAILURE", "CANCELED") for state in states)  # none runs for ever
