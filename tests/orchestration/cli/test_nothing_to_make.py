"""A command that finds nothing to make loads nothing that makes releases, and still ends dead runs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest

from republish.anonymize.errors import HomeError, RepublishError
from republish.orchestration.cli.releasing import make_due_releases, releasing
from republish.orchestration.dagster import workers
from republish.orchestration.dagster.instance import dagster_instance, end_dead_runs
from republish.orchestration.dagster.names import job_name, series_tag
from republish.orchestration.storage.home import Home
from republish.orchestration.storage.store import read_json
from tests.hospital import RELEASES

FIRST, SECOND, THIRD = RELEASES
ROOT = Path(__file__).parents[3]
COMPUTES = ("numba", "scipy", "networkx", "sklearn")
SLOW = (*COMPUTES, "dagster", "great_expectations")
COMMAND_LINE = """
import json, sys
import republish.orchestration.cli.main as cli
import republish.orchestration.cli.releasing as releasing

releasing.start_judge = lambda: sys.exit("the judge is started")
sys.argv = ["republish", *sys.argv[1:]]
try:
    cli.main()
except SystemExit as end:
    print(json.dumps({"code": end.code or 0, "loaded": sorted({name.split(".")[0] for name in sys.modules})}))
"""


def loaded_by(script, *words):
    """What a script prints, and the packages that its process loaded."""
    command = [sys.executable, "-c", script, *map(str, words)]
    told = subprocess.run(command, cwd=ROOT, env={**os.environ}, capture_output=True, text=True, check=False)
    assert (told.returncode, told.stderr) == (0, "")
    *lines, last = told.stdout.splitlines()
    answer = json.loads(last)
    assert answer["code"] == 0
    return lines, set(answer["loaded"])


@pytest.mark.slow("takes more than a second")
def test_with_every_release_published_a_command_verifies_them_and_loads_nothing_else(hospital, home):
    lines, loaded = loaded_by(COMMAND_LINE, "release", hospital.contract, "--home", home, "--through", SECOND)
    assert lines == ["hospital/v1: every release that is due is published, and is as it was published"]
    assert not loaded & set(SLOW)
    assert read_json(home / "contracts.json") == {"hospital": os.path.relpath(hospital.contract, home)}


@pytest.mark.slow("takes more than a second")
def test_a_release_waits_for_its_snapshot_without_anything_that_would_make_it(hospital, home):
    hospital.file(THIRD).unlink()
    hospital.declare(upstream=["warehouse/patients"])
    lines, loaded = loaded_by(COMMAND_LINE, "release", hospital.contract, "--home", home, "--through", THIRD)
    where, line = lines
    assert where.startswith("hospital/v1 is published in ")
    assert line.startswith(f"{THIRD}  waits for its snapshot")
    assert not loaded & set(SLOW)


def run_of(series, status):
    """A run that Dagster takes to be under way."""
    with dagster_instance(series.home) as instance:
        run = instance.create_run_for_job(empty_job(series), tags=series_tag(series))
        if status is not dg.DagsterRunStatus.NOT_STARTED:
            instance.handle_run_event(run.run_id, dg.DagsterEvent("PIPELINE_START", run.job_name))
        if status is dg.DagsterRunStatus.CANCELING:
            instance.report_run_canceling(run)
        assert instance.get_run_by_id(run.run_id).status is status
        return run.run_id


def empty_job(series):
    return dg.JobDefinition(name=job_name(series.contract.product), graph_def=dg.GraphDefinition(name="none"))


def status(series, run):
    with dagster_instance(series.home) as instance:
        return instance.get_run_by_id(run).status


def killed(home, run):
    """Leave what a process leaves that is killed while it works on a run."""
    child = os.fork()
    if child == 0:
        workers.hold(Home(home), run)
        os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize("under_way", ["NOT_STARTED", "STARTED", "CANCELING"])
def test_the_command_after_a_process_that_was_killed_ends_its_run_with_nothing_to_make(
    hospital, home, under_way
):
    series = hospital.series(home)
    run, alive = (run_of(series, dg.DagsterRunStatus[under_way]) for _ in range(2))
    killed(home, run)
    with workers.working(series.home, alive, lambda: True):
        assert workers.left(series.home) == [run]
        with releasing(series):
            pass
        assert workers.files(series.home) == [alive]
    ended = dg.DagsterRunStatus.CANCELED if under_way == "CANCELING" else dg.DagsterRunStatus.FAILURE
    assert (status(series, run), status(series, alive)) == (ended, dg.DagsterRunStatus[under_way])
    assert not workers.files(series.home)


def test_a_run_that_nobody_has_begun_to_work_on_is_ended_once_it_had_time_to(hospital, home, monkeypatch):
    """So are runs that an older version left, which have no file."""
    series = hospital.series(home)
    run = run_of(series, dg.DagsterRunStatus.STARTED)
    for seconds, expected in ((600, dg.DagsterRunStatus.STARTED), (0, dg.DagsterRunStatus.FAILURE)):
        monkeypatch.setattr("republish.orchestration.dagster.instance.TIME_TO_BEGIN", seconds)
        with dagster_instance(series.home) as instance:
            end_dead_runs(series.home, instance)
        assert status(series, run) is expected


def test_a_command_is_at_work_on_its_run_until_dagster_has_noted_that_it_is_over(hospital, home):
    series = hospital.series(home)
    with workers.working(series.home, "a run", lambda: True):
        assert workers.files(series.home) == ["a run"]
        assert workers.left(series.home) == []
    assert workers.files(series.home) == []

    def no_tables():
        raise HomeError

    for is_over in (lambda: False, no_tables):
        with pytest.raises(KeyboardInterrupt), workers.working(series.home, "a run", is_over):
            raise KeyboardInterrupt
        assert workers.left(series.home) == ["a run"]


@pytest.mark.slow("takes more than a second")
def test_a_refused_release_leaves_no_run_for_the_next_command_to_end(hospital, home):
    hospital.declare(principle={"on_value_change": "refuse"})
    series = hospital.series(home)
    with pytest.raises(RepublishError, match="on_value_change: refuse"):
        make_due_releases(series.file, THIRD, home)
    assert not workers.files(series.home)
    with dagster_instance(series.home) as instance:
        runs = [record.dagster_run for record in instance.get_run_records()]
    assert {run.status for run in runs} <= {dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.SUCCESS}
