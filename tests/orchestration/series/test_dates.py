"""`releases: {dates: […]}`: releases on dates that follow no schedule, and that may grow at the end."""

import datetime as dt

import dagster as dg
import polars as pl
import pytest
from dagster._core.definitions.partitions.context import partition_loading_context
from hypothesis import given, settings
from hypothesis import strategies as st

from republish.anonymize.errors import ContractError, HomeError, SnapshotError
from republish.orchestration.chain.arrival import has_arrived
from republish.orchestration.cli.drafting import write_draft
from republish.orchestration.cli.releasing import releases_to_make
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.contracts.json_schema import contract_schema
from republish.orchestration.dagster.in_effect import _next_release
from republish.orchestration.dagster.names import job_name
from republish.orchestration.dagster.partitions import _on_dates
from republish.orchestration.series import calendar
from republish.orchestration.series.calendar import Calendar
from tests.hospital import QUIET, RELEASES, definitions, make, make_by_dagster

DATES = ("2024-01-01", "2024-02-29", "2024-11-07")
FIRST, SECOND, THIRD = DATES


@pytest.fixture
def irregular(hospital):
    """The hospital's three snapshots, at other dates."""
    for release, date in zip(RELEASES[1:], DATES[1:], strict=True):
        hospital.deliver(date, hospital.snapshot(release))
    return hospital


def on_dates(hospital, *dates, **keys):
    """The hospital with these dates of releases."""
    hospital.declare(**keys)
    text = hospital.contract.read_text().splitlines()
    start = text.index("releases:")
    kept = [line for line in text if not line.startswith(("releases:", "  first:", "  cron:"))]
    kept.insert(start, f"releases: {{dates: [{', '.join(dates)}]}}")
    hospital.contract.write_text("\n".join(kept) + "\n")
    return hospital


def at(monkeypatch, moment):
    now = dt.datetime.fromisoformat(moment).replace(tzinfo=dt.UTC)
    monkeypatch.setattr(calendar, "now", lambda: now)


NOW = st.datetimes(dt.datetime.fromisoformat("2015-01-01"), dt.datetime.fromisoformat("2026-01-01"))
SOME = st.lists(st.dates(dt.date(2015, 1, 1), dt.date(2025, 12, 31)), min_size=1, max_size=12, unique=True)


@pytest.mark.slow("takes more than a second")
@settings(max_examples=20, deadline=None)
@given(SOME, NOW)
def test_dagster_has_a_partition_for_each_date_that_is_due(dates, moment):
    """Neither an earlier nor a later one, whatever the day."""
    are_partitions(tuple(sorted(dates)), moment.replace(tzinfo=dt.UTC))


@pytest.mark.parametrize(
    "moment", ["2003-11-06 23:59", "2008-02-29 00:01", "2008-03-01 12:00", "2030-01-01 00:00"]
)
def test_leap_days_and_ends_of_months_are_partitions_too(moment):
    days = ("2003-11-07", "2005-02-28", "2008-02-29", "2010-12-31", "2019-11-07", "2026-12-15")
    are_partitions(tuple(map(dt.date.fromisoformat, days)), dt.datetime.fromisoformat(f"{moment}+00:00"))


def are_partitions(dates, now):
    moment = max(now, now.replace(hour=0, minute=1))  # the first minute of a day is the partition itself
    due = calendar._due(Calendar(dates[0].isoformat(), dates=dates), moment)
    with partition_loading_context(moment):
        partitions = _on_dates(dates)
        assert tuple(partitions.get_partition_keys()) == due
        if len(due) > 1:
            between = dg.PartitionKeyRange(due[0], due[-1])
            assert tuple(partitions.get_partition_keys_in_range(between)) == due
            assert partitions.get_next_partition_key(due[0]) == due[1]


FAULTS = {
    "{dates: []}": "dates are none: write the date of the first release, or first and cron",
    "{dates: [2024-02-29, 2024-01-01]}": "must be in order, each once: 2024-01-01 stands behind 2024-02-29",
    "{dates: [2024-01-01, 2024-01-01]}": "must be in order, each once",
    '{dates: [2024-01-01, 2024-02-29], cron: "@daily"}': "dates are all there is to say: leave cron out",
    "{dates: [2024-01-01], first: 2023-01-01}": "leave first out",
    "{dates: [2024-01-01], last: 2025-01-01}": "leave last out",
    "{dates: [soon]}": "must be a date",
    "{dates: 2024-01-01}": "must be a list",
    "{}": "releases.first: is missing",
}


@pytest.mark.parametrize("declared", FAULTS)
def test_dates_that_say_nothing_clear_are_a_fault(hospital, declared):
    text = on_dates(hospital, FIRST).contract.read_text()
    hospital.contract.write_text(text.replace(f"{{dates: [{FIRST}]}}", declared))
    with pytest.raises(ContractError) as refused:
        load_contract(hospital.contract)
    assert FAULTS[declared] in str(refused.value)
    assert len(refused.value.faults) == 1


def test_each_date_has_a_snapshot_of_its_own(hospital):
    with pytest.raises(ContractError, match=r"needs \{release\} in it"):
        load_contract(on_dates(hospital, *DATES, source={"path": "one.parquet"}).contract)
    with pytest.raises(ContractError, match="for the releases of 2024-01-01 and 2024-02-29: write more of"):
        load_contract(on_dates(hospital, *DATES, source={"path": "{release:%Y}.parquet"}).contract)
    load_contract(on_dates(hospital, FIRST, source={"path": "one.parquet"}).contract)


def test_releases_are_due_on_their_dates_and_the_next_one_is_known(irregular, home, monkeypatch):
    series = on_dates(irregular, *DATES).series(home)
    at(monkeypatch, "2024-02-28 23:59")
    assert series.calendar.due == [FIRST]
    assert series.calendar.previous(FIRST) is None
    at(monkeypatch, "2024-02-29 00:00")
    assert series.calendar.due == [FIRST, SECOND]
    assert (series.calendar.number(SECOND), series.calendar.previous(SECOND)) == (2, FIRST)
    at(monkeypatch, "2024-02-29 12:00")
    assert _next_release(series) == SECOND
    with pytest.raises(HomeError, match="is not due"):
        make(series, THIRD)


def test_a_date_whose_snapshot_never_comes_is_taken_out(irregular, tmp_path):
    irregular.file(SECOND).unlink()
    series = on_dates(irregular, *DATES).series(tmp_path / "home")
    with pytest.raises(SnapshotError, match=r"take 2024-02-29 out of releases\.dates"):
        has_arrived(series, SECOND)


@pytest.mark.slow("makes releases")
def test_dates_may_grow_at_the_end_and_not_before_what_is_published(irregular, tmp_path):
    home = tmp_path / "home"
    make(on_dates(irregular, FIRST, SECOND).series(home), FIRST, SECOND)
    for dates in (("2023-12-01", FIRST, SECOND), (FIRST, "2024-02-01", SECOND), (FIRST,), (FIRST, THIRD)):
        with pytest.raises(ContractError, match=r"releases\.dates: .* write new ones behind 2024-02-29"):
            releases_to_make(on_dates(irregular, *dates).series(home), None)
    made = make(on_dates(irregular, *DATES).series(home), THIRD)
    assert made.releases == [*DATES]
    assert made.calendar.number(THIRD) == 3


@pytest.mark.slow("makes releases by Dagster")
def test_dagster_makes_them_and_its_schedule_looks_for_the_next_one(irregular, tmp_path):
    series = on_dates(irregular, *DATES).series(tmp_path / "home")
    (schedule,) = definitions(series).schedules
    assert schedule.cron_schedule == "2 0 * * *"
    moment = dt.datetime(2024, 11, 9, 0, 2, tzinfo=dt.UTC)

    def asked():
        with dg.instance_for_test() as instance:
            context = dg.build_schedule_context(instance, scheduled_execution_time=moment)
            found = schedule(context)
            return found.partition_key if isinstance(found, dg.RunRequest) else found.skip_message

    assert asked() == FIRST
    job = definitions(series).resolve_job_def(job_name("hospital"))
    tags = {"dagster/asset_partition_range_start": FIRST, "dagster/asset_partition_range_end": SECOND}
    with dg.DagsterInstance.ephemeral() as instance:  # a backfill, in one run
        assert job.execute_in_process(tags=tags, instance=instance, run_config=QUIET).success
    assert series.releases == [FIRST, SECOND]
    assert asked() == THIRD
    make_by_dagster(series, THIRD)
    assert "is not a release of hospital/v1 that is due" in asked()


def test_a_draft_has_the_dates_of_files_that_follow_no_schedule(tmp_path):
    people = pl.DataFrame({
        "patient_id": [f"P{number}" for number in range(80)],
        "age": [20 + number % 50 for number in range(80)],
        "diagnosis": [["flu", "gout", "burn", "asthma", "ulcer"][number % 5] for number in range(80)],
    })  # fmt: skip
    for date in DATES:
        people.write_csv(tmp_path / f"people_{date}.csv")
    how = {"identifier": None, "sensitive": None, "not_sensitive": (), "query": None, "asks": False}
    write_draft(str(tmp_path), out=tmp_path / "draft.yaml", force=False, **how)
    assert [*map(str, load_contract(tmp_path / "draft.yaml").contract.releases.dates)] == [*DATES]


def test_editors_know_that_dates_need_no_first_one():
    schema = contract_schema()["$defs"]["Releases"]
    assert "required" not in schema
    assert schema["anyOf"] == [{"required": ["first"]}, {"required": ["dates"]}]
    assert schema["properties"]["dates"]["type"] == "array"
