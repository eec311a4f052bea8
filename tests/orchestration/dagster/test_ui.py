"""What the UI shows of releases, asked by the queries that its pages ask Dagster's server."""

from contextlib import contextmanager

import dagster as dg
import pytest
from dagster._core.remote_origin import InProcessCodeLocationOrigin
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import InProcessWorkspaceLoadTarget
from dagster_graphql.test.utils import execute_dagster_graphql

from republish.orchestration.cli.releasing import releasing
from republish.orchestration.contracts.registry import register
from republish.orchestration.dagster.instance import dagster_instance
from republish.orchestration.dagster.lineage import lineage_of
from republish.orchestration.dagster.names import job_name
from republish.orchestration.dagster.run import make_release
from republish.orchestration.dagster.workers import WORKERS
from republish.orchestration.storage.home import private_folder
from tests.hospital import QUIET, RELEASES, definitions

pytestmark = pytest.mark.slow("starts a daemon or a server")

FIRST, SECOND, THIRD = RELEASES
MISSING = "2024-10-01"


@contextmanager
def server(series, instance, *others):
    """Ask what `republish ui` serves of the home: from a query and its variables to the answer's data."""
    module = LoadableTargetOrigin(module_name="republish.orchestration.definitions")
    location = InProcessCodeLocationOrigin(module, location_name="republish")
    register(series.home, series.file)
    with WorkspaceProcessContext(instance, InProcessWorkspaceLoadTarget([location, *others])) as process:

        def ask(query, **variables):
            return execute_dagster_graphql(process.create_request_context(), query, variables).data

        yield ask


def backfill(series, instance, first, last):
    """One run for a range of releases, as a backfill in the UI begins it; whether it ended well."""
    tags = {"dagster/asset_partition_range_start": first, "dagster/asset_partition_range_end": last}
    job = definitions(series).resolve_job_def(job_name("hospital"))
    return job.execute_in_process(
        tags=tags, instance=instance, run_config=QUIET, raise_on_error=False
    ).success


# ---- runs of the command line

RUNS = """query Runs($tags: [ExecutionTag!]) {
    runsOrError(filter: {pipelineName: "release_hospital", tags: $tags}) {
        ... on Runs { results { runId tags { key value } } } } }"""


def tags_of(run):
    return {tag["key"]: tag["value"] for tag in run["tags"]}


def test_a_run_of_the_command_is_among_the_runs_with_its_series_and_release(series, monkeypatch):
    monkeypatch.setenv("REPUBLISH_HOME", str(series.home.path))
    with dagster_instance(series.home) as instance:
        released = make_release(series, THIRD, instance)
        (made,) = instance.get_runs()
        with server(series, instance) as ask:
            of_series = [{"key": "republish/series", "value": "v1"}]
            (run,) = ask(RUNS, tags=of_series)["runsOrError"]["results"]
        assert run["runId"] == made.run_id
        assert tags_of(run)["dagster/partition"] == THIRD
        assert tags_of(run)["republish/command"] == "release"
    steps = {"snapshot", "delta", "files", "algorithm", "audit", "charts", "publication"}
    assert released.seconds.keys() == steps


def test_the_next_command_ends_what_a_killed_command_left_and_leaves_other_runs_alone(series):
    job = definitions(series).resolve_job_def(job_name("hospital"))
    with dagster_instance(series.home) as instance:
        killed, other = (instance.create_run_for_job(job).run_id for _ in range(2))
        for run in (killed, other):
            instance.handle_run_event(run, dg.DagsterEvent("PIPELINE_START", job.name))
        (private_folder(series.home.dagster / WORKERS) / killed).touch()
        with releasing(series):
            pass
        ended = {run.run_id: run.status.value for run in instance.get_runs()}
    assert ended == {killed: "FAILURE", other: "STARTED"}


# ---- what is stale, and what failed

STATUS = """query Status($releases: [String!]) { assetNodes {
    assetKey { path } staleStatusByPartition(partitions: $releases)
    assetPartitionStatuses { ... on TimePartitionStatuses { ranges { status startKey endKey } } } } }"""


def statuses(ask, releases=RELEASES):
    """By asset: whether each release is fresh, and those that are shown as failed."""
    return {
        node["assetKey"]["path"][-1]: (
            set(node["staleStatusByPartition"]),
            {
                key
                for part in node["assetPartitionStatuses"]["ranges"]
                if part["status"] == "FAILED"
                for key in (part["startKey"], part["endKey"])
            },
        )
        for node in ask(STATUS, releases=list(releases))["assetNodes"]
    }


def test_what_was_just_released_is_neither_stale_nor_failed(series, monkeypatch):
    """Also once a published release is verified, alone or with others, or a later one could not be made."""
    monkeypatch.setenv("REPUBLISH_HOME", str(series.home.path))
    with dagster_instance(series.home) as instance:
        assert backfill(series, instance, FIRST, SECOND)
        make_release(series, THIRD, instance)
        with server(series, instance) as ask:
            assert set(map(str, statuses(ask).values())) == {str(({"FRESH"}, set()))}
        make_release(series, SECOND, instance)
        assert not backfill(series, instance, FIRST, MISSING)
        with server(series, instance) as ask:
            assert set(map(str, statuses(ask).values())) == {str(({"FRESH"}, {MISSING}))}


def test_what_a_failed_backfill_leaves_as_it_was_keeps_its_figures(series):
    with dagster_instance(series.home) as instance:
        make_release(series, SECOND, instance)
        key = dg.AssetKey(["hospital", "release"])

        def shown():
            filters = dg.AssetRecordsFilter(asset_key=key, asset_partitions=[SECOND])
            last = instance.fetch_materializations(filters, limit=1).records[0]
            return last.storage_id, last.asset_materialization.metadata

        number, before = shown()
        series.file.resolve(f"snapshots/hospital/{THIRD}.parquet").unlink()
        assert not backfill(series, instance, SECOND, THIRD)
        later, after = shown()
        assert later > number
        assert after == before


# ---- beside other code locations

WAREHOUSE = """
import dagster as dg

@dg.asset(key=["warehouse", "patients"], partitions_def=dg.DynamicPartitionsDefinition(name="quarters"))
def patients(): ...

defs = dg.Definitions([patients])
"""
LINEAGE = "{ assetNodes { assetKey { path } dependencyKeys { path } dependedByKeys { path } isExecutable } }"


def test_a_snapshot_depends_on_an_asset_of_another_code_location(hospital, home, monkeypatch, tmp_path):
    monkeypatch.setenv("REPUBLISH_HOME", str(home))
    series = hospital.declare(upstream=["warehouse/patients"]).series(home)
    (tmp_path / "warehouse.py").write_text(WAREHOUSE)
    warehouse = LoadableTargetOrigin(python_file=str(tmp_path / "warehouse.py"))
    other = InProcessCodeLocationOrigin(warehouse, location_name="warehouse")
    with dagster_instance(series.home) as instance, server(series, instance, other) as ask:
        nodes = {"/".join(node["assetKey"]["path"]): node for node in ask(LINEAGE)["assetNodes"]}
        assert nodes["hospital/snapshot"]["dependencyKeys"] == [{"path": ["warehouse", "patients"]}]
        assert nodes["warehouse/patients"]["dependedByKeys"] == [{"path": ["hospital", "snapshot"]}]
        assert nodes["warehouse/patients"]["isExecutable"]
        assert backfill(series, instance, THIRD, THIRD)  # nothing of it asks for the other location


LAUNCH = """mutation($of: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $of) {
    ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }"""


@pytest.mark.parametrize("principle", [{}, {"name": "streamliner", "l": 3, "then": "m_invariance"}])
def test_the_pages_launch_a_backfill_of_all_assets(hospital, tmp_path, principle):
    """Whatever the order of sets is in this process: partitions of what is made at once are compared."""
    series = (hospital.under(principle) if principle else hospital).series(tmp_path / "home")
    assets = [{"path": ["hospital", asset]} for asset in lineage_of(series.contract)]
    with dagster_instance(series.home) as instance, server(series, instance) as ask:
        asked = {"partitionNames": list(RELEASES), "assetSelection": assets}
        assert ask(LAUNCH, of=asked)["launchPartitionBackfill"].get("backfillId")
