"""`retention` in a contract: whom no snapshot has had for long enough is forgotten, and nobody else."""

import shutil

import polars as pl
import pytest
from typer.testing import CliRunner

from republish.anonymize.contract.retention import Retention
from republish.anonymize.errors import ContractError
from republish.orchestration.chain.population_overlap import NOTED
from republish.orchestration.chain.snapshot import take_snapshot
from republish.orchestration.cli.app import app
from republish.orchestration.cli.releasing import make_due_releases
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.rights.forget import forget
from republish.orchestration.rights.retention import absent, forget_absent
from republish.orchestration.series.persons import comparable
from republish.orchestration.series.recorded import verify_published
from republish.orchestration.storage.store import read_table
from tests.hospital import RELEASES, audited, everything, make, make_by_dagster, noted, published

FIRST, SECOND, THIRD = RELEASES
QUARTER = {"absent_for": "3 months"}


@pytest.fixture
def members(hospital):
    return [set(hospital.snapshot(release)["patient_id"]) for release in RELEASES]


def declared(hospital, home, **rule):
    return hospital.declare(retention=QUARTER | rule).series(home)


def named(series, people):
    return set(comparable(series.home, pl.Series(sorted(people), dtype=pl.String)))


def kept_of(home):
    """Every identifier in a snapshot or linkage of the home."""
    tables = [read_table(file) for file in home.glob("private/hospital/*/2*/*.parquet")]
    columns = [
        table[name] for table in tables for name in ("identifier", "patient_id") if name in table.columns
    ]
    return set(pl.concat(columns))


def rule(hospital, home, *words):
    return CliRunner().invoke(
        app, ["forget", str(hospital.contract), "--home", str(home), "--by-rule", *words]
    )


@pytest.mark.parametrize(
    ("absent_for", "begins"),
    [
        ("3 years", "2021-07-31"),
        ("1 month", "2024-06-30"),
        ("1 year", "2023-07-31"),
        ("31 days", "2024-06-30"),
    ],
)
def test_a_period_is_counted_as_in_a_calendar(absent_for, begins):
    assert Retention(absent_for=absent_for).begins("2024-07-31") == begins


@pytest.mark.parametrize(
    "absent_for", ["3", "0 years", "three years", "3 weeks", 3, None, "3 years and a day"]
)
def test_any_other_period_is_refused(hospital, absent_for):
    hospital.declare(retention={"absent_for": absent_for})
    with pytest.raises(
        ContractError, match=r"retention.absent_for: must be a number of years, months or days"
    ):
        load_contract(hospital.contract)


@pytest.mark.slow("takes more than a second")
def test_each_release_forgets_whom_it_and_those_before_have_not_had_for_so_long(hospital, home, members):
    first, second, third = members
    series = declared(hospital, home)
    assert set(absent(series).persons) == named(series, first - second)
    make_by_dagster(series, THIRD)
    assert kept_of(home) == third
    assert set(absent(series).persons) == set()
    gone = read_table(home / "private/hospital/forgotten.parquet")
    assert set(gone["person"]) == named(series, (first | second) - third)
    assert gone["again"].all()


def test_whom_a_release_that_was_killed_did_not_forget_the_next_command_does(hospital, home, members):
    """Killed between its publication and the rule: no other release is due for months."""
    first, second, _ = members
    series = declared(hospital, home)
    assert kept_of(home) == first | second
    make_due_releases(series.file, SECOND, home)
    assert kept_of(home) == second
    lines = noted(home)
    make_due_releases(series.file, SECOND, home)
    assert noted(home) == lines
    assert lines[-1]["people"] == len(first - second)


def test_nobody_is_forgotten_before_the_time(hospital, home):
    series = declared(hospital, home, absent_for="4 months")
    assert not absent(series).persons.len()
    before = everything(home)
    assert forget_absent(series) == []
    assert everything(home) == before


@pytest.mark.slow("takes more than a second")
def test_by_the_rule_people_may_come_back_and_their_signatures_are_as_they_were(hospital, home, tmp_path):
    shutil.copytree(home, tmp_path / "alone")
    (hospital.folder / ".hospital.yaml.home").unlink(missing_ok=True)
    series, alone = declared(hospital, home), hospital.series(tmp_path / "alone")
    forget_absent(series)
    back = hospital.snapshot(FIRST).join(hospital.snapshot(SECOND), on="patient_id", how="anti")
    third = hospital.snapshot(THIRD)
    hospital.deliver(THIRD, pl.concat([third, back.join(third, on="patient_id", how="anti")]))
    make(series, THIRD)
    make(alone, THIRD)
    assert published(home) == published(alone.home.path)


def test_whoever_is_back_and_not_yet_published_is_not_absent(hospital, home):
    series = declared(hospital, home)
    back = hospital.snapshot(FIRST).join(hospital.snapshot(SECOND), on="patient_id", how="anti")
    hospital.deliver(THIRD, pl.concat([hospital.snapshot(THIRD), back]).unique("patient_id"))
    take_snapshot(series, THIRD)
    assert not absent(series).persons.len()


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("never_again", [True, False])
def test_the_rule_reaches_people_of_whom_no_identifier_is_left(
    hospital, home, members, never_again, tmp_path
):
    """What was kept of them is a row in the memory, under a pseudonym, and one in people.parquet."""
    first, second, _ = members
    for name in ("snapshot.parquet", "linkage.parquet"):
        (home / f"private/hospital/v1/{FIRST}" / name).unlink()
    series = declared(hospital, home, never_again=never_again)
    noted = read_table(home / "private/hospital/v1" / NOTED).filter(
        pl.col("person").is_in(list(named(series, first - second)))
    )
    assert noted.height == len(first - second)
    forget_absent(series)
    memory = read_table(series.private(SECOND) / "state-memory.parquet")["pseudonym"]
    assert memory.is_in(noted["pseudonym"].implode()).sum() == (0 if never_again else noted.height)
    make(series, THIRD)
    if never_again:  # an audit's truth is the table that was published
        left = ~pl.col("patient_id").is_in(sorted(first - second))
        hospital.deliver(THIRD, hospital.snapshot(THIRD).filter(left))
    code, promises = audited(hospital, series, tmp_path / "report", private=False)
    assert code == 0, promises


def test_a_list_may_have_forgotten_them_before(hospital, home, members):
    first, second, _ = members
    series = declared(hospital, home)
    forget(series, sorted(first - second), again=True)
    assert not absent(series).persons.len()
    series = declared(hospital, home, never_again=True)
    assert absent(series).persons.len() == len(first - second)


def test_another_series_that_still_has_them_keeps_them(hospital, home):
    late = hospital.declare(
        series="late", separate_readers=True, releases={"first": SECOND, "cron": "0 0 1 */3 *"}
    )
    late.deliver(SECOND, hospital.snapshot(FIRST))
    make(late.series(home), SECOND)
    series = declared(hospital, home, absent_for="1 day")
    assert set(absent(series).persons) == set()


@pytest.mark.slow("takes more than a second")
def test_a_home_that_noted_no_dates_says_so(hospital, home, members):
    first, second, _ = members
    noted = home / "private/hospital/v1" / NOTED
    read_table(noted).select("person", "since").write_parquet(noted)
    series = declared(hospital, home)
    assert absent(series).unknown == 0  # the snapshots that are kept say it
    shutil.rmtree(home / f"private/hospital/v1/{FIRST}")
    assert absent(series).unknown == len(first - second)
    result = rule(hospital, home)
    assert f"{len(first - second)} people left before this home noted when" in result.output
    assert "nobody is to be forgotten" in result.output
    make(series, THIRD)
    assert read_table(noted)["until"].null_count() == len(first - second - members[2])


def test_the_command_says_it_first_does_it_once_and_refuses_what_does_not_fit(hospital, home, members):
    first, second, _ = members
    assert "retention: is missing" in str(rule(hospital, home).exception)
    series = declared(hospital, home)
    before = everything(home)
    said = rule(hospital, home)
    assert f"{len(first - second)} people in" in said.output
    assert "nothing was changed" in said.output
    assert everything(home) == before
    assert rule(hospital, home, "--never-again").exit_code == 2
    assert "forgotten" in rule(hospital, home, "--delete").output
    assert kept_of(home) == second
    before = everything(home)
    again = rule(hospital, home, "--delete")
    assert "nobody is to be forgotten" in again.output
    assert everything(home) == before
    verify_published(series)
