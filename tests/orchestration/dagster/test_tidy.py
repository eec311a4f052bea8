"""`republish tidy`: what Dagster keeps of old runs goes, the last releases are shown as they were."""

import shutil
import sqlite3
from contextlib import closing
from functools import partial

import dagster as dg
import pytest

from republish.orchestration.cli import main as cli
from republish.orchestration.dagster import tidy
from republish.orchestration.dagster.instance import OWN, dagster_instance, prepare_dagster_home
from republish.orchestration.dagster.run import make_release
from republish.orchestration.storage import home as homes
from republish.orchestration.storage.home import RELEASING, Home, only_one
from tests.hospital import RELEASES, build, definitions, everything, make_by_dagster
from tests.orchestration.dagster.test_postgres import SETTINGS, dagster_address
from tests.orchestration.dagster.test_ui import server

pytestmark = pytest.mark.slow("starts a daemon or a server")

FIRST, SECOND, THIRD = RELEASES
SHOWN = """query Shown($asset: AssetKeyInput!) { assetNodeOrError(assetKey: $asset) { ... on AssetNode {
    assetMaterializations { partition timestamp runId metadataEntries { __typename label } }
    assetChecksOrError { ... on AssetChecks { checks { name executionForLatestMaterialization {
        status evaluation { success description metadataEntries { label } } } } } } } } }"""
CHECKED = """query Checked($asset: AssetKeyInput!, $name: String!) {
    assetCheckExecutions(assetKey: $asset, checkName: $name, limit: 20) { status runId partition
        evaluation { success description } } }"""
ASSETS = ("snapshot", "delta", "buckets", "release", "counterfeits", "audit", "publication")
RUN = "query Run($run: ID!) { runOrError(runId: $run) { __typename } }"


@pytest.fixture(scope="module")
def _released(tmp_path_factory):
    """A hospital whose three releases Dagster made; the first was verified once more, and so has two runs."""
    folder = tmp_path_factory.mktemp("tidy")
    (folder / "hospital").mkdir()
    hospital = build(folder / "hospital")
    series = hospital.series(folder / "home")
    with dagster_instance(series.home) as instance:
        for release in (*RELEASES, FIRST):
            make_release(series, release, instance)
    return folder


@pytest.fixture
def series(_released, hospital, tmp_path):
    shutil.copytree(_released / "home", tmp_path / "released")
    return hospital.series(tmp_path / "released")


@pytest.fixture
def republish_in(monkeypatch, capsys):
    """Run the command in a home: its exit code, and the lines it printed."""

    def run(home, *words):
        monkeypatch.setattr("sys.argv", ["republish", "tidy", "--home", str(home.path), *words])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        return ended.value.code, (printed.out + printed.err).splitlines()

    return run


@pytest.fixture
def republish(series, republish_in):
    """Run the command in the series' home."""
    return partial(republish_in, series.home)


def shown(series):
    """What Dagster's pages show of every asset and of each check, last and by release."""
    with dagster_instance(series.home) as instance, server(series, instance) as ask:
        found = {}
        for asset in ASSETS:
            key = {"path": ["hospital", asset]}
            node = ask(SHOWN, asset=key)["assetNodeOrError"]
            for check in node["assetChecksOrError"]["checks"]:
                executions = ask(CHECKED, asset=key, name=check["name"])["assetCheckExecutions"]
                if executions:
                    found[asset, check["name"]] = newest(executions)
            found[asset] = newest(node["assetMaterializations"])
    return found


def newest(events):
    """Of each release the newest one: pages list that first."""
    return {event["partition"]: event for event in reversed(events)}


def runs_of(series, *releases):
    """The ids of the runs that are on Dagster's list, of some releases or of all."""
    with dagster_instance(series.home) as instance:
        return {
            run.run_id
            for run in instance.get_runs()
            if not releases or run.tags["dagster/partition"] in releases
        }


def files(series):
    return {path: path.read_bytes() for path in series.home.dagster.rglob("*") if path.is_file()}


def test_without_delete_it_says_what_there_is_and_deletes_nothing(series, republish):
    before = files(series)
    code, lines = republish("--keep", "1")
    assert code == 0
    assert lines == [
        f"hospital/v1  3 runs of releases before {THIRD}",
        "nothing was deleted: run again with --delete",
    ]
    assert before.items() <= files(series).items()


def test_the_room_of_their_events_is_given_back(series, republish):
    events = series.home.dagster / "history/runs/index.db"
    before = events.stat().st_size
    assert republish("--keep", "1", "--delete")[0] == 0
    assert events.stat().st_size < before
    with closing(sqlite3.connect(events)) as connection:
        assert connection.execute("PRAGMA freelist_count").fetchone() == (0,)


def test_where_the_events_are_in_use_they_stay_as_large(series):
    events = series.home.dagster / "history/runs/index.db"
    with closing(sqlite3.connect(events)) as other:
        other.execute("BEGIN IMMEDIATE")
        tidy._shrink(events, patience=0.1)
        other.rollback()
    tidy._shrink(events.with_name("none.db"))
    assert not events.with_name("none.db").exists()


def test_old_runs_and_their_logs_go_and_the_last_releases_are_shown_as_they_were(series, republish):
    old, kept = runs_of(series, FIRST, SECOND), runs_of(series, THIRD)
    before, published = shown(series), everything(series.home.path)
    assert before["release"].keys() == before["release", "attack"].keys() == {*RELEASES}
    code, (_, done) = republish("--keep", "1", "--delete")
    assert (code, done) == (0, "deleted")
    after = shown(series)
    assert {what: events[THIRD] for what, events in after.items()} == {
        what: events[THIRD] for what, events in before.items()
    }
    assert after["release"].keys() == {THIRD}
    assert after["release", "attack"] == before["release", "attack"]
    assert everything(series.home.path) == published
    assert not any(run in str(path) for run in old for path in files(series))
    with dagster_instance(series.home) as instance, server(series, instance) as ask:
        assert {ask(RUN, run=run)["runOrError"]["__typename"] for run in old} == {"RunNotFoundError"}
        assert {ask(RUN, run=run)["runOrError"]["__typename"] for run in kept} == {"Run"}
    none = f"{series.home.dagster}: no run is older than the last 1 releases of its series"
    assert republish("--keep", "1", "--delete") == (0, [none])


def test_the_next_release_is_built_on_the_last(hospital, series, republish):
    """And a release whose runs are gone can be looked at once more."""
    republish("--keep", "1", "--delete")
    later = "2024-10-01"
    hospital.deliver(later, hospital.snapshot(THIRD))
    with dagster_instance(series.home) as instance:
        make_release(series, later, instance)
        make_release(series, FIRST, instance)
    assert shown(series)["release"].keys() == {FIRST, THIRD, later}


def test_a_run_that_is_not_over_stays(series):
    with dagster_instance(series.home) as instance:
        (running, *_) = [run for run in instance.get_runs() if run.tags["dagster/partition"] == SECOND]
        again = instance.create_run_for_job(
            job_def=definitions(series).resolve_job_def("release_hospital"),
            tags=running.tags,
            status=dg.DagsterRunStatus.STARTED,
        )
    (old,) = tidy.old_runs(series.home, 1)
    tidy.delete_runs(series.home, old)
    assert runs_of(series, SECOND) == {again.run_id}


def test_runs_of_releases_that_are_not_published_stay(series):
    shutil.rmtree(series.published(THIRD))
    shutil.rmtree(series.published(SECOND))
    assert tidy.old_runs(series.home, 1) == []


def test_it_waits_for_a_command_that_makes_releases(series, republish, monkeypatch):
    monkeypatch.setattr(homes, "PATIENCE", 0)
    before = runs_of(series)
    with only_one(series.private_folder, "a release", name=RELEASING):
        code, lines = republish("--keep", "1", "--delete")
        assert republish("--keep", "1")[0] == 0  # to look takes no lock
    assert (code, runs_of(series)) == (2, before)
    assert lines[-1].startswith("republish: another run is working on series hospital/v1, ")


def test_a_home_without_runs_has_nothing_to_tidy(home, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["republish", "tidy", "--home", str(home / "elsewhere"), "--delete"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 0
    assert capsys.readouterr().out.endswith(": no run is older than the last 24 releases of its series\n")
    assert not (home / "elsewhere").exists()


def test_tables_that_can_not_be_read_are_said_to_be_so(series, republish):
    (series.home.dagster / "history/runs.db").write_bytes(b"no table" * 999)
    code, (said,) = republish()
    assert code == 2
    assert said.startswith(
        f"republish: {series.home.dagster}: Dagster's own tables can't be read or written: "
    )


@pytest.mark.postgres
def test_in_postgresql_the_same_goes_and_the_same_stays(
    hospital, postgresql, tmp_path, republish_in, monkeypatch
):
    monkeypatch.setenv("DAGSTER_POSTGRES", dagster_address(postgresql))
    home = Home.at(tmp_path / "in a database")
    (prepare_dagster_home(home) / OWN).write_text(SETTINGS)
    series = hospital.series(home.path)
    make_by_dagster(series, FIRST, SECOND)
    old, before = runs_of(series, FIRST), shown(series)
    assert republish_in(home, "--keep", "1")[0] == 0
    assert runs_of(series, FIRST) == old
    code, (_, done) = republish_in(home, "--keep", "1", "--delete")
    assert (code, done) == (0, "deleted")
    assert shown(series)["release"] == {SECOND: before["release"][SECOND]}
    assert not runs_of(series, FIRST)
    with dagster_instance(home) as instance:
        assert not [run for run in old if instance.all_logs(run)]
