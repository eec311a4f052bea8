"""What long work says of itself on a terminal, and the seconds that it counts."""

import re

import dagster as dg
import pytest

from republish.orchestration.cli import work as shown
from republish.orchestration.cli.work import Work
from republish.orchestration.dagster.instance import dagster_instance
from republish.orchestration.dagster.names import FAILURE, FRESHNESS
from republish.orchestration.steps import hearing, say_step
from republish.orchestration.storage.home import Home
from tests.hospital import RELEASES, make

THIRD = RELEASES[2]
WATCHED = (FRESHNESS, FAILURE)


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand."""
    hands = [0.0]
    monkeypatch.setattr(shown.time, "perf_counter", lambda: hands[0])
    return hands


def test_work_says_its_part_its_step_and_the_time_left(clock):
    with Work("hospital/v1", parts=3) as work:
        work.begin("2024-01-01")
        say_step("making groups")
        assert str(work.__rich__()) == "hospital/v1 2024-01-01, 1 of 3, making groups"
        clock[0] = 100.0
        assert work.end() == 100.0
        work.begin("2024-04-01")
        assert str(work.__rich__()) == "hospital/v1 2024-04-01, 2 of 3, about 3 min left"
        clock[0] = 190.0
        work.begin("2024-07-01")  # and so the second one is done
        clock[0] = 250.0
        assert str(work.__rich__()) == "hospital/v1 2024-07-01, 3 of 3, about 35 s left"
    say_step("nobody hears it")


def test_a_first_part_is_foreseen_by_what_is_known(clock):
    with Work("hospital/v1", parts=2, pace=3600.0) as work:
        work.begin("2024-01-01")
        clock[0] = 600.0
        assert str(work.__rich__()).endswith("1 of 2, about 1.8 h left")


def test_the_seconds_of_a_part_are_those_since_the_one_before(clock):
    with Work("hospital/v1") as work:
        clock[0] = 7.0  # Dagster was loaded meanwhile
        work.begin("2024-01-01")
        clock[0] = 10.0
        assert work.end() == 10.0


def test_a_release_says_its_steps(hospital, home):
    steps = []
    with hearing(steps.append):
        make(hospital.series(home), THIRD)
    assert steps == ["reading its snapshot", "making groups", "attacking them", "publishing it"]


@pytest.mark.slow("makes and audits many releases")
def test_the_seconds_of_a_release_are_the_sum_of_what_they_were_spent_on(republish, hospital, home):
    _, (line,), err = republish("release", hospital.contract, "--home", home, "--through", THIRD)
    total, spent = re.search(r"([\d.]+) s \((.*)\)", line).groups()
    parts = dict(part.split(" ") for part in spent.split(", "))
    whole = [
        "imports",
        "snapshot",
        "delta",
        "files",
        "algorithm",
        "audit",
        "charts",
        "publication",
        "dagster",
    ]
    assert set(parts) <= set(whole)
    assert {"snapshot", "algorithm", "audit", "publication"} <= set(parts)
    assert float(total) == pytest.approx(sum(map(float, parts.values())), abs=0.3)
    assert err == []  # no terminal


@pytest.mark.slow("makes and audits many releases")
def test_a_command_notes_whether_releases_are_late_and_whether_the_last_one_failed(republish, hospital, home):
    def noted():
        keys = [dg.AssetCheckKey(dg.AssetKey(["hospital", "publication"]), name) for name in WATCHED]
        with dagster_instance(Home.at(home)) as instance:
            found = instance.event_log_storage.get_latest_asset_check_execution_by_key(keys)
        events = [found[key].event.dagster_event.asset_check_evaluation_data for key in keys]
        return [(event.passed, event.description) for event in events]

    snapshot = hospital.snapshot(THIRD)
    hospital.deliver(THIRD, snapshot.drop("age"))
    assert republish("release", hospital.contract, "--home", home)[0] == 2
    late, failed = noted()
    assert (late[0], failed[0]) == (False, False)
    assert late[1].startswith(f"{THIRD} is due and not published.")
    assert "the column age is missing" in failed[1]
    hospital.deliver(THIRD, snapshot)
    assert republish("release", hospital.contract, "--home", home)[0] == 0
    assert [passed for passed, _ in noted()] == [False, True]  # of the one after it, there is no snapshot
