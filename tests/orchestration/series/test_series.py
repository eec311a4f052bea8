"""A published release is a fact; a series goes on from it, and from nothing else."""

import datetime as dt
import json
import shutil

import duckdb
import polars as pl
import pytest

from republish.anonymize.errors import AlreadyPublished, ContractError, HomeError, PublishedFolderError
from republish.orchestration.chain.candidate import compute_candidate
from republish.orchestration.chain.delta import compare_snapshots
from republish.orchestration.chain.publication import publish
from republish.orchestration.chain.snapshot import take_snapshot
from republish.orchestration.cli.releasing import releases_to_make
from republish.orchestration.series import calendar
from tests.hospital import (
    RELEASES,
    Hospital,
    entered,
    everything,
    make,
    manifest,
    published,
    signatures,
)

FIRST, SECOND, THIRD = RELEASES


def test_releasing_again_changes_no_byte(series, home):
    before = everything(home)
    make(series, FIRST, SECOND)
    after = everything(home)
    assert {name: after[name] for name in before if name != "/history.duckdb"} == {
        name: before[name] for name in before if name != "/history.duckdb"
    }
    assert before.keys() == after.keys()


def test_a_published_release_is_not_made_from_another_snapshot(series, hospital, home):
    hospital.deliver(SECOND, hospital.snapshot(SECOND)[1:])
    before = published(home)
    with pytest.raises(AlreadyPublished, match="correct the next one, or begin a new series"):
        make(series, SECOND)
    assert published(home) == before


def test_a_published_release_keeps_its_parameters_and_says_so(hospital, home):
    series = hospital.declare(principle={"m": 4}).series(home)
    before = published(home)
    make(series, SECOND)
    assert published(home) == before
    found = compute_candidate(series, SECOND)
    assert (found.parameters["m"], found.not_applied) == (3, ("parameters",))


@pytest.mark.slow("takes more than a second")
def test_parameters_may_change_from_the_next_release_on(hospital, home):
    hospital.declare(principle={"m": 4})
    make(hospital.series(home), THIRD)
    assert manifest(home, SECOND)["principle"]["m"] == 3
    assert manifest(home, THIRD)["principle"]["m"] == 4
    before, after = signatures(home, SECOND), signatures(home, THIRD)
    diseases = dict(hospital.snapshot(THIRD).select("patient_id", "disease").iter_rows())
    stayed = [person for person in before if person in after and diseases[person] in before[person]]
    assert len(stayed) > 200
    assert all(before[person] == after[person] for person in stayed)
    new = after.keys() - before.keys() - signatures(home, FIRST).keys()
    assert new
    assert all(len(after[person]) >= 4 for person in new)


def test_a_new_series_is_another_chain(hospital, home):
    hospital.declare(series="v2", separate_readers=True, principle={"m": 4})
    before = published(home)
    make(hospital.series(home), FIRST)
    assert manifest(home, FIRST, "v2")["n"] == 1
    assert manifest(home, FIRST, "v2")["previous"] is None
    assert before.items() <= published(home).items()
    assert signatures(home, FIRST) != signatures(home, FIRST, "v2")


@pytest.mark.slow("takes more than a second")
def test_the_same_key_gives_the_same_bytes_and_another_key_others(hospital, home, tmp_path, monkeypatch):
    make(hospital.series(tmp_path / "a home of its own"), FIRST, SECOND)
    assert published(tmp_path / "a home of its own") == published(home)
    monkeypatch.setenv("REPUBLISH_KEY", "another key, as long as the one before")
    make(hospital.series(tmp_path / "other"), FIRST)
    name = f"hospital/v1/{FIRST}/microdata.parquet"
    assert published(tmp_path / "other")[name] != published(home)[name]


@pytest.mark.slow("takes more than a second")
def test_the_order_of_rows_and_columns_decides_nothing(hospital, home, tmp_path):
    for release in (FIRST, SECOND):
        snapshot = hospital.snapshot(release)
        hospital.deliver(release, snapshot.select(reversed(snapshot.columns)).reverse())
    make(hospital.series(tmp_path / "other"), FIRST, SECOND)
    assert published(tmp_path / "other") == published(home)


@pytest.mark.slow("takes more than a second")
def test_where_the_contract_lies_decides_nothing(hospital, home, tmp_path):
    moved = shutil.copytree(hospital.folder, tmp_path / "moved elsewhere")
    shutil.rmtree(hospital.folder)
    make(Hospital(moved).series(home), SECOND, THIRD)
    assert manifest(home, THIRD)["n"] == 3


@pytest.mark.slow("takes more than a second")
def test_old_private_folders_are_deleted_and_the_chain_goes_on(hospital, home):
    hospital.declare(keep_private=1)
    series = hospital.series(home)
    make(series, THIRD)
    assert not series.private(FIRST).exists()
    assert not series.private(SECOND).exists()
    assert series.private(THIRD).exists()
    before = published(home)
    make(series, FIRST, SECOND, THIRD)  # each is found, and verified by its bytes
    assert published(home) == before
    assert not series.private(FIRST).exists()


def test_without_its_private_folder_a_release_still_is_not_made_with_other_parameters(hospital, home):
    series = hospital.declare(principle={"m": 4}).series(home)
    shutil.rmtree(series.private(FIRST))
    found = compute_candidate(series, FIRST)
    assert (found.parameters["m"], found.not_applied) == (3, ("parameters",))


@pytest.mark.slow("makes and audits many releases")
def test_a_release_is_not_published_after_a_candidate_it_was_not_built_on(hospital, tmp_path):
    """Or people would have two signatures, one of them in a release that never was."""
    series = hospital.series(tmp_path / "home")
    for release in (FIRST, SECOND):
        take_snapshot(series, release)
        compare_snapshots(series, release)
        compute_candidate(series, release)
    hospital.deliver(FIRST, hospital.snapshot(FIRST)[1:])
    make(series, FIRST)
    with pytest.raises(HomeError, match="changed since the candidate was made"):
        publish(series, SECOND)
    make(series, SECOND)
    tables = [name for name in published(tmp_path / "home") if name.endswith(".parquet")]
    assert len(tables) == 4


@pytest.mark.slow("takes more than a second")
def test_a_candidate_is_not_published_under_other_parameters(hospital, series, home):
    take_snapshot(series, THIRD)
    compare_snapshots(series, THIRD)
    compute_candidate(series, THIRD)
    with pytest.raises(HomeError, match="parameters changed"):
        publish(hospital.declare(principle={"m": 4}).series(home), THIRD)
    assert not series.published(THIRD).exists()


@pytest.mark.slow("takes more than a second")
def test_a_candidate_whose_files_were_touched_is_computed_anew(series):
    take_snapshot(series, THIRD)
    compare_snapshots(series, THIRD)
    compute_candidate(series, THIRD)
    file = series.private(THIRD) / "candidate-microdata.parquet"
    content = file.read_bytes()
    file.write_bytes(content[:-1])
    with pytest.raises(HomeError, match="no candidate with an audit passed"):
        publish(series, THIRD)
    assert compute_candidate(series, THIRD).is_new
    assert file.read_bytes() == content


def test_releases_are_published_in_order(series):
    take_snapshot(series, THIRD)
    shutil.rmtree(series.published(SECOND))
    with pytest.raises(PublishedFolderError, match=f"{SECOND}: was published, and is not there any more"):
        publish(series, THIRD)


def test_a_lost_history_is_written_anew_from_the_folders(series, home):
    before = entered(home)
    (home / "history.duckdb").unlink()
    releases_to_make(series, None)
    assert entered(home).equals(before)


def half(content):
    return content[: len(content) // 2]


def in_the_middle(content):
    """What is written first is whole: only a later write comes upon the damage."""
    return content[:-300_000] + bytes(200_000) + content[-100_000:]


DAMAGES = [half, in_the_middle, lambda _: b"", lambda _: b"no database" * 999]


@pytest.mark.slow("takes more than a second")
@pytest.mark.parametrize(("damage", "shards"), [*((damage, 1) for damage in DAMAGES), (in_the_middle, 2)])
def test_a_damaged_history_is_refused_and_written_anew_once_it_is_gone(hospital, home, damage, shards):
    if shards > 1:
        home = home.parent / "divided"
        (hospital.folder / ".hospital.yaml.home").unlink()
        make(hospital.declare(shards=shards).series(home), FIRST, SECOND)
    file, before = home / "history.duckdb", tables(home)
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(HomeError, match="an index of it: if it is damaged, move it away"):
        make(hospital.series(home), THIRD)
    file.unlink()
    file.with_name("history.duckdb.wal").unlink(missing_ok=True)
    make(hospital.series(home), THIRD)
    after = tables(home)
    assert [row for row in after[0] if row[2] != dt.date.fromisoformat(THIRD)] == before[0]
    assert [row for row in after[1] if row[2] != dt.date.fromisoformat(THIRD)] == before[1]
    assert len(after[0]) == 3


def tables(home):
    """The rows of the releases and of the buckets that history has."""
    with duckdb.connect(home / "history.duckdb", read_only=True) as connection:
        return [sorted(connection.table(name).fetchall(), key=str) for name in ("releases", "buckets")]


def test_what_history_can_not_have_again_is_said(hospital, series, home, caplog):
    (home / "history.duckdb").unlink()
    shutil.rmtree(series.private(FIRST))
    releases_to_make(hospital.series(home), None)
    assert f"of hospital/v1 {FIRST} it has what the manifest states and no more" in caplog.text
    assert SECOND not in caplog.text


def test_history_has_every_release_with_its_figures(series, home):
    releases = entered(home)
    assert releases["release"].to_list() == [FIRST, SECOND]
    assert releases["status"].to_list() == ["published", "published"]
    assert [json.loads(figures)["people"] for figures in releases["figures"]] == [300, 300]
    assert all(verdict["passed"] for audit in releases["audit"] for verdict in json.loads(audit))


def test_a_manifest_says_what_is_in_its_folder(home):
    stated = manifest(home, SECOND)
    folder = home / f"published/hospital/v1/{SECOND}"
    microdata, counterfeits = (
        pl.read_parquet(folder / f"{name}.parquet") for name in ("microdata", "counterfeits")
    )
    assert stated["tuples"] == microdata.height == stated["files"]["microdata.parquet"]["rows"]
    assert stated["groups"] == microdata["group_id"].n_unique()
    assert stated["counterfeits"] == counterfeits["count"].sum()
    assert stated["n"] == 2
    assert stated["principle"] == {
        "name": "m_invariance",
        "m": 3,
        "on_ineligible": "counterfeit",
        "people_per_group": 2,
        "on_value_change": "separate",
        "effort": "best",
        "format": "generalization",
    }


@pytest.mark.parametrize(("now", "releases"), [("2024-03-31T23:59:59", 1), ("2024-04-01T00:00:00", 2)])
def test_a_release_is_due_at_midnight_utc(series, monkeypatch, now, releases):
    monkeypatch.setattr(calendar, "now", lambda: dt.datetime.fromisoformat(now).replace(tzinfo=dt.UTC))
    assert len(series.calendar.due) == releases


def test_a_server_that_runs_for_months_sees_releases_come_due(series, monkeypatch):
    test_a_release_is_due_at_midnight_utc(series, monkeypatch, "2024-03-31T23:59:59", 1)
    test_a_release_is_due_at_midnight_utc(series, monkeypatch, "2024-04-01T00:00:00", 2)


def test_a_series_may_end_though_not_before_a_published_release(hospital, home):
    ending = {"first": FIRST, "cron": "0 0 1 */3 *", "last": SECOND}
    series = hospital.declare(releases=ending).series(home)
    assert series.calendar.due == [FIRST, SECOND]
    assert series.next_due is None
    assert not series.late
    series = hospital.declare(releases=ending | {"last": FIRST}).series(home)
    with pytest.raises(ContractError, match=r"and releases\.last behind the published ones"):
        releases_to_make(series, None)


@pytest.mark.parametrize(
    ("changes", "why"),
    [({"last": "2023-01-01"}, "is before the first release"), ({"cron": None}, "is for a schedule")],
)
def test_the_end_of_a_series_is_after_its_beginning(hospital, home, changes, why):
    ending = {"first": FIRST, "cron": "0 0 1 */3 *", "last": SECOND} | changes
    with pytest.raises(ContractError, match=rf"releases\.last: .* {why}"):
        hospital.declare(releases=ending).series(home)


def test_of_a_release_that_nothing_else_is_kept_of_the_bytes_are_verified(series, home):
    shutil.rmtree(series.private(FIRST))
    (home / "history.duckdb").unlink()
    assert not compute_candidate(series, FIRST).figures
    before = published(home)
    make(series, FIRST)
    assert published(home) == before
