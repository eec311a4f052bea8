"""Releases that begin by themselves: of one series, and only since somebody turned that on."""

import datetime as dt

import dagster as dg
import pytest

from republish.orchestration.dagster import automation, schedule
from republish.orchestration.dagster.automation import note_series
from republish.orchestration.dagster.names import automation_name
from republish.orchestration.dagster.schedule import schedule_of, sensor_of
from tests.hospital import RELEASES, definitions

_, _, THIRD = RELEASES
FAULTY = dt.datetime(2024, 8, 1, 12, tzinfo=dt.UTC)
MENDED = FAULTY + dt.timedelta(hours=1)


@pytest.fixture
def clock(monkeypatch):
    """Set the time at which definitions are loaded."""

    def set_to(when):
        monkeypatch.setattr(automation, "now", lambda: when)

    return set_to


@pytest.fixture
def instance(tmp_path):
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:  # a schedule asks it when it was turned on
        yield instance


def by_sensor(series, instance, started):
    """The release that the sensor asks for, or why it asks for none; it was turned on at some time."""
    context = dg.build_sensor_context(instance=instance, last_sensor_start_time=started.timestamp())
    _, found = (sensor_of(series)(context) for _ in range(2))  # what is there has to be the same twice
    return found.partition_key if isinstance(found, dg.RunRequest) else found.skip_message


def by_schedule(series, instance, started, monkeypatch):
    """The same of the schedule, on the date of the third release."""
    monkeypatch.setattr(schedule, "schedule_started", lambda *_: started.timestamp())
    when = dt.datetime.fromisoformat(THIRD).replace(tzinfo=dt.UTC)
    context = dg.build_schedule_context(instance=instance, scheduled_execution_time=when)
    found = schedule_of(series, series.contract.releases.cron)(context)
    return found.partition_key if isinstance(found, dg.RunRequest) else found.skip_message


def test_no_two_series_share_what_is_turned_on():
    names = [("a", "v_2"), ("a", "v-2"), ("a", "v2"), ("a", "v.2"), ("a_v", "2"), ("a_v2", "v2"), ("a", "V2")]
    assert len({automation_name(*each) for each in names}) == len(names)
    assert automation_name("hospital", "v2") == "release_hospital_v2"


def test_a_new_series_has_a_sensor_and_a_schedule_of_its_own_that_are_off(hospital, home):
    first = definitions(hospital.series(home)).get_repository_def()
    later = hospital.declare(series="v2", supersedes="v1", expect={"changed": 0.5}).series(home)
    second = definitions(later).get_repository_def()
    for kind in ("sensor_defs", "schedule_defs"):
        began, begins = ({one.name: one for one in getattr(each, kind)} for each in (first, second))
        assert began.keys() & begins.keys() <= {"release_hospital_watch"}  # it releases nothing
        for name, one in {**began, **begins}.items():
            assert (one.default_status.name == "STOPPED") == (name != "release_hospital_watch")


def test_what_is_on_goes_on_while_the_contract_is_valid(series, instance, clock, monkeypatch):
    clock(FAULTY)
    note_series(series.home, series.file.path, "v1")
    clock(MENDED)
    note_series(series.home, series.file.path, "v1")
    before = FAULTY - dt.timedelta(days=100)
    assert by_sensor(series, instance, before) == THIRD
    assert by_schedule(series, instance, before, monkeypatch) == THIRD


@pytest.mark.parametrize("meanwhile", [None, "v2"])
def test_a_contract_that_is_valid_again_waits_for_somebody(series, instance, clock, monkeypatch, meanwhile):
    """Whether it had a fault, or declared another series."""
    clock(FAULTY - dt.timedelta(days=1))
    note_series(series.home, series.file.path, "v1")
    clock(FAULTY)
    note_series(series.home, series.file.path, meanwhile)
    on = FAULTY - dt.timedelta(hours=1)
    said = "has a fault" if meanwhile is None else "declares v2 now"
    for found in (by_sensor(series, instance, on), by_schedule(series, instance, on, monkeypatch)):
        assert said in found
    clock(MENDED)
    note_series(series.home, series.file.path, "v1")
    for found in (by_sensor(series, instance, on), by_schedule(series, instance, on, monkeypatch)):
        assert "had a fault, or declared another series, until 2024-08-01 13:00:00 UTC" in found
        assert "turn this off and on" in found
    again = MENDED + dt.timedelta(seconds=1)
    assert by_sensor(series, instance, again) == THIRD
    assert by_schedule(series, instance, again, monkeypatch) == THIRD


def test_a_home_that_cannot_be_written_hides_no_product(series, monkeypatch):
    def full(*_):
        raise OSError

    monkeypatch.setattr(automation, "write_json", full)
    note_series(series.home, series.file.path, "v1")
    assert not (series.home.path / automation.NOTED).exists()
