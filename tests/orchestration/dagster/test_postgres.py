"""Dagster's tables in PostgreSQL: settings of the publisher's own, and ten dates made by themselves."""

import datetime as dt
import os
import shutil

import dagster as dg
import pytest

from anonymize.errors import HomeError
from orchestration.dagster.instance import OWN, dagster_instance, prepare_dagster_home
from orchestration.dagster.names import job_name
from orchestration.demo.hospital import hospital_snapshots
from orchestration.series import due
from orchestration.storage.home import Home
from tests.hospital import QUIET, definitions, make, published

SETTINGS = "storage:\n  postgres:\n    postgres_url: {env: DAGSTER_POSTGRES}\n"


def dagster_address(postgresql):
    """The address by which Dagster gets into a database of tests, with its password."""
    of_psycopg2 = f"postgresql+psycopg2://republish:{os.environ['PGPASSWORD']}@"
    return postgresql.replace("postgresql://republish@", of_psycopg2)


@pytest.fixture
def own(tmp_path):
    """The publisher's own settings, in a new home."""
    folder = prepare_dagster_home(Home.at(tmp_path / "own home"))

    def say(text):
        (folder / OWN).write_text(text)
        return Home(folder.parent)

    return say


def test_own_settings_are_added_and_stay(own):
    home = own("storage:\n  sqlite: {base_dir: /somewhere}\nnux: {enabled: true}\n")
    for _ in range(2):
        settings = (prepare_dagster_home(home) / "dagster.yaml").read_text()
        assert "base_dir: /somewhere" in settings
        assert "max_concurrent_runs: 1" in settings
    (home.dagster / OWN).unlink()
    assert "base_dir" not in (prepare_dagster_home(home) / "dagster.yaml").read_text()


@pytest.mark.parametrize(
    "text", ["- storage", "storage: {", "storage: {postgres: {postgres_url: {env: NOT_SET}}}", "odd: 1"]
)
def test_own_settings_that_are_none_are_refused(own, text):
    home = own(text)
    with pytest.raises(HomeError, match=OWN) as refusal, dagster_instance(home):
        pass
    assert "\n" not in str(refusal.value)


@pytest.mark.postgres
@pytest.mark.thorough  # it is asked for some seconds
def test_a_database_that_does_not_answer_is_said_so(own, monkeypatch):
    monkeypatch.setenv(
        "DAGSTER_POSTGRES", "postgresql+psycopg2://nobody:secret@127.0.0.1:1/none?connect_timeout=1"
    )
    with (
        pytest.raises(
            HomeError, match=r"own\.yaml: Dagster can't begin with these settings: .* DB connection"
        ) as refusal,
        dagster_instance(own(SETTINGS)),
    ):
        pass
    assert "secret" not in str(refusal.value)


@pytest.mark.postgres
@pytest.mark.thorough
def test_ten_dates_make_themselves_one_of_them_after_its_snapshot_is_mended(
    hospital, postgresql, own, tmp_path, monkeypatch
):
    """Each day the schedule ticks before the snapshot is there, and the sensor looks after it arrived."""
    monkeypatch.setenv("DAGSTER_POSTGRES", dagster_address(postgresql))
    shutil.rmtree(hospital.folder / "snapshots")
    (hospital.folder / ".hospital.yaml.home").unlink()
    series = hospital.series(own(SETTINGS).path)
    defs = definitions(series)
    repository, job = defs.get_repository_def(), defs.resolve_job_def(job_name("hospital"))
    schedule = repository.get_schedule_def(f"{job.name}_schedule")
    sensor, watching = (repository.get_sensor_def(f"{job.name}_{name}") for name in ("arrival", "watch"))
    failed, cursor, keys = [], None, []
    with dagster_instance(series.home) as instance:
        assert type(instance.event_log_storage).__module__.startswith("dagster_postgres")

        def act(asked):
            """Whether a release was asked for, and was made."""
            if isinstance(asked, dg.SkipReason) or asked.run_key in keys:
                return None
            keys.append(asked.run_key)
            return job.execute_in_process(
                instance=instance, partition_key=asked.partition_key, run_config=QUIET, raise_on_error=False
            ).success

        def look():
            return act(sensor(dg.build_sensor_context(instance, repository_def=repository)))

        for number, (release, snapshot) in enumerate(hospital_snapshots(10, 300)):
            date = dt.datetime.fromisoformat(release).replace(tzinfo=dt.UTC)
            monkeypatch.setattr(due, "now", lambda date=date: date)
            assert look() is None  # nothing has arrived
            is_by_schedule = number % 2 == 1
            if not is_by_schedule:
                tick = dg.build_schedule_context(instance, scheduled_execution_time=date)
                assert "has not arrived" in schedule(tick).skip_message
            hospital.deliver(release, snapshot.drop("age") if number == 4 else snapshot)
            if is_by_schedule:
                assert act(schedule(dg.build_schedule_context(instance, scheduled_execution_time=date)))
            elif number == 4:
                assert look() is False
                assert look() is None  # it is tried again when another snapshot arrives, and not before
                tick = watching.evaluate_tick(dg.build_sensor_context(instance, repository_def=repository))
                assert "the column age is missing" in tick.cursor
                failed, cursor = [release], tick.cursor
                hospital.deliver(release, snapshot)
                assert look()
            else:
                assert look()
        tick = watching.evaluate_tick(
            dg.build_sensor_context(instance, repository_def=repository, cursor=cursor)
        )
        assert all(event.passed for event in tick.asset_events)
        states = [run.status.name for run in instance.get_runs()]
        assert (states.count("SUCCESS"), states.count("FAILURE"), len(failed)) == (10, 1, 1)
    assert not (series.home.dagster / "history").exists()
    (hospital.folder / ".hospital.yaml.home").unlink()
    assert published(make(hospital.series(tmp_path / "by hand"), *series.due).home.path) == published(
        series.home.path
    )
