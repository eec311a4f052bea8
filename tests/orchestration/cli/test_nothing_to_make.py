"""A command that finds nothing to make loads nothing that makes releases, and still ends dead runs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest

from anonymize.errors import HomeError, RepublishError
from orchestration.cli.releasing import UNFINISHED, make_due_releases, releasing
from orchestration.dagster.instance import dagster_instance
from orchestration.dagster.names import COMMAND, job_name, series_tag
from orchestration.storage.store import read_json
from tests.hospital import RELEASES

pytestmark = pytest.mark.sampled

FIRST, SECOND, THIRD = RELEASES
ROOT = Path(__file__).parents[3]
COMPUTES = ("numba", "scipy", "networkx", "sklearn", "matplotlib")
SLOW = (*COMPUTES, "dagster", "great_expectations")
COMMAND_LINE = """
import json, sys
import orchestration.cli.main as cli
import orchestration.cli.releasing as releasing

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


@pytest.mark.parametrize("module", ["contracts.contract_file", "series.series", "cli.releasing"])
def test_a_contract_is_read_and_its_series_looked_at_without_what_computes(module):
    script = (
        f"import json, sys, orchestration.{module}\n"
        'print(json.dumps({"code": 0, "loaded": [name.split(".")[0] for name in sys.modules]}))'
    )
    _, loaded = loaded_by(script)
    assert "polars" in loaded
    assert not loaded & set(SLOW)


def test_with_every_release_published_a_command_verifies_them_and_loads_nothing_else(hospital, home):
    lines, loaded = loaded_by(COMMAND_LINE, "release", hospital.contract, "--home", home, "--through", SECOND)
    assert lines == ["hospital/v1: every release that is due is published, and is as it was published"]
    assert not loaded & set(SLOW)
    assert read_json(home / "contracts.json") == {"hospital": os.path.relpath(hospital.contract, home)}


def test_a_release_waits_for_its_snapshot_without_anything_that_would_make_it(hospital, home):
    hospital.file(THIRD).unlink()
    hospital.declare(upstream=["warehouse/patients"])
    lines, loaded = loaded_by(COMMAND_LINE, "release", hospital.contract, "--home", home, "--through", THIRD)
    (line,) = lines
    assert line.startswith(f"{THIRD}  waits for its snapshot")
    assert not loaded & set(SLOW)


def dead_run(series):
    """A run that Dagster takes to be running, of a command that was killed."""
    with dagster_instance(series.home) as instance:
        tags = {**COMMAND, **series_tag(series)}
        run = instance.create_run_for_job(empty_job(series), tags=tags)
        instance.handle_run_event(run.run_id, dg.DagsterEvent("PIPELINE_START", run.job_name))
        return run.run_id


def empty_job(series):
    return dg.JobDefinition(name=job_name(series.contract.product), graph_def=dg.GraphDefinition(name="none"))


def status(series, run):
    with dagster_instance(series.home) as instance:
        return instance.get_run_by_id(run).status


def test_the_command_after_one_that_was_killed_ends_its_runs_with_nothing_to_make(hospital, home):
    series = hospital.series(home)
    run = dead_run(series)
    (series.private_folder / UNFINISHED).touch()
    with releasing(series):
        pass
    assert status(series, run) is dg.DagsterRunStatus.FAILURE
    assert not (series.private_folder / UNFINISHED).exists()


def test_a_command_that_opened_dagster_is_unfinished_until_it_has_ended_well(hospital, home):
    series = hospital.series(home)
    unfinished = series.private_folder / UNFINISHED
    with releasing(series) as dagster:
        assert not unfinished.exists()
        assert dagster() is dagster()
        assert unfinished.exists()
    assert not unfinished.exists()
    interrupted = releasing(series)
    interrupted.__enter__()()
    assert not interrupted.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert unfinished.exists()


def test_a_refused_release_leaves_no_run_for_the_next_command_to_end(hospital, home):
    hospital.declare(principle={"on_value_change": "refuse"})
    series = hospital.series(home)
    with pytest.raises(RepublishError, match="on_value_change: refuse"):
        make_due_releases(series.file, THIRD, home)
    assert not (series.private_folder / UNFINISHED).exists()
    with dagster_instance(series.home) as instance:
        runs = [record.dagster_run for record in instance.get_run_records()]
    assert {run.status for run in runs} <= {dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.SUCCESS}


def test_after_an_error_of_dagsters_own_tables_a_command_is_unfinished(hospital, home):
    series = hospital.series(home)
    full = releasing(series)
    full.__enter__()()
    error = HomeError("Dagster's own tables can't be written")
    assert not full.__exit__(HomeError, error, None)
    assert (series.private_folder / UNFINISHED).exists()
