"""Whatever is wrong is refused in one message; nothing is published and no state is moved."""

import shutil

import duckdb
import polars as pl
import pytest

from republish.anonymize.errors import (
    ContractError,
    HomeError,
    NotEligible,
    PublishedFolderError,
    SnapshotError,
    ValueChangeRefused,
)
from republish.orchestration.chain import snapshot as snapshots
from republish.orchestration.chain.arrival import has_arrived
from republish.orchestration.cli.releasing import releases_to_make
from tests.hospital import IDENTIFIER, RELEASES, everything, make

FIRST, SECOND, THIRD = RELEASES


def refused(hospital, home, error, *, release=THIRD):
    """The one message a release is refused with, after which everything in the home is as it was."""
    before = everything(home)
    with pytest.raises(error) as refusal:
        make(hospital.series(home), release)
    working = f"/private/hospital/v1/{release}"
    after = {name: content for name, content in everything(home).items() if not name.startswith(working)}
    assert after == {name: content for name, content in before.items() if not name.startswith(working)}
    assert f"{working}/candidate.json" not in everything(home).keys() - before.keys()
    message = str(refusal.value)
    assert not IDENTIFIER.search(message.encode())
    assert "Traceback" not in message
    return message, refusal.value.exit_code


def first_row(snapshot, **values):
    """A snapshot whose first row has other values."""
    row = pl.int_range(pl.len()) == 0
    return snapshot.with_columns(
        pl.when(row).then(pl.lit(value)).otherwise(name).alias(name) for name, value in values.items()
    )


def test_a_snapshot_that_breaks_the_contract_in_several_ways(hospital, home):
    """Each kind of fault is in tests/orchestration/snapshots/test_sources.py."""
    snapshot = hospital.snapshot(THIRD)
    wrong = first_row(snapshot, birthplace="Atlantis", disease="boredom")
    hospital.deliver(THIRD, pl.concat([wrong, snapshot[1:2]]))
    message, code = refused(hospital, home, SnapshotError)
    assert "patient_id: 1 of 301 rows repeat" in message
    assert "birthplace: 1 of 301 rows are not in" in message
    assert "disease: 1 of 301 rows lie outside" in message
    assert "boredom" not in message
    assert "Atlantis" not in message
    assert code == 2


def test_a_snapshot_that_grows_while_it_is_read(hospital, home, monkeypatch):
    read, whole = snapshots.read_snapshot, hospital.snapshot(THIRD)
    hospital.deliver(THIRD, whole[:290])

    def read_meanwhile(*asked):
        found = read(*asked)
        hospital.deliver(THIRD, whole)
        return found

    monkeypatch.setattr(snapshots, "read_snapshot", read_meanwhile)
    message, code = refused(hospital, home, SnapshotError)
    assert "changed while it was read" in message
    assert code == 2


def test_a_snapshot_that_is_truncated_or_missing(hospital, home):
    """Other files and queries that can't be read are in tests/orchestration/snapshots/test_sources.py."""
    file = hospital.file(THIRD)
    file.write_bytes(file.read_bytes()[:-100])
    for _ in ("truncated", "missing"):
        message, code = refused(hospital, home, SnapshotError)
        assert str(file) in message
        assert code == 2
        file.unlink(missing_ok=True)


def test_a_snapshot_that_never_came_while_a_later_one_did(hospital, home):
    hospital.deliver("2024-10-01", hospital.snapshot(THIRD))
    hospital.file(THIRD).unlink()
    message, _ = refused(hospital, home, SnapshotError)
    assert "2024-10-01 is there: if this one never comes, deliver the one before it once more" in message
    assert str(hospital.file(THIRD)) in message
    shutil.copy(hospital.file(SECOND), hospital.file(THIRD))
    make(hospital.series(home), THIRD)


def test_a_first_snapshot_that_never_came_has_none_before_it(hospital, tmp_path):
    hospital.file(FIRST).unlink()
    with pytest.raises(SnapshotError, match=f"if this one never comes, .* releases.first: {SECOND}$"):
        has_arrived(hospital.series(tmp_path / "new"), FIRST)


def test_new_people_of_whom_too_many_share_a_value(hospital, home):
    hospital.declare(principle={"on_ineligible": "refuse"})
    known = hospital.snapshot(FIRST)["patient_id"]
    is_new = ~pl.col("patient_id").is_in(known.implode())
    same = pl.when(is_new).then(pl.lit("flu")).otherwise("disease").alias("disease")
    hospital.deliver(THIRD, hospital.snapshot(THIRD).with_columns(same))
    _, code = refused(hospital, home, NotEligible)
    assert code == 3


def test_a_value_that_changed_where_the_contract_refuses_that(hospital, home):
    hospital.declare(principle={"on_value_change": "refuse"})
    message, code = refused(hospital, home, ValueChangeRefused)
    assert "on_value_change" in message
    assert code == 3


def test_a_contract_with_faults_has_all_of_them_named(hospital, home):
    hospital.declare({"colour": "blue", "product": "Hospital!", "identifier": "", "principle": {"m": 1}})
    message, code = refused(hospital, home, ContractError)
    assert all(f"  {key}" in message for key in ("colour", "product", "identifier", "principle.m"))
    assert code == 2
    hospital.contract.write_text("product: hospital\n")
    message, _ = refused(hospital, home, ContractError)
    assert all(f"  {key}" in message for key in ("series", "source", "identifier", "sensitive", "principle"))


def test_what_a_series_was_begun_with_cannot_change(hospital, home):
    others = [{"name": "age", "kind": "number", "domain": [0, 120]}]
    for key, change in (
        ("identifier", {"identifier": "zipcode", "quasi_identifiers": others}),
        ("sensitive", {"sensitive": {"name": "diagnosis"}}),
        ("releases", {"releases": {"cron": "0 0 1 * *"}}),
        ("releases", {"releases": {"first": "2023-10-01"}}),
        ("releases", {"releases": {"first": "2024-04-01"}}),
    ):
        hospital.declare(change)
        message, code = refused(hospital, home, ContractError)
        assert f"  {key}: " in message
        assert "begin a new series" in message
        assert code == 2


def test_another_key_than_the_series_was_begun_with_or_none(hospital, home, monkeypatch):
    file, given = home / "secret.key", "another key, as long as the one before"
    for variable, content, words in (
        (given, None, "another key"),
        (None, None, "secret.key is missing"),
        (None, b"this one was never used before\n", "another key"),
        (None, b"short", "secret.key"),
        (None, b"\xff\xfe" * 20, "secret.key"),
    ):
        if variable:
            monkeypatch.setenv("REPUBLISH_KEY", variable)
        else:
            monkeypatch.delenv("REPUBLISH_KEY", raising=False)
        if content:
            file.write_bytes(content)
        message, code = refused(hospital, home, HomeError)
        assert words in message
        assert code == 2
    monkeypatch.setenv("REPUBLISH_KEY", given)  # a lost record of the key is not taken for a new series
    (home / "private/hospital/v1/series.json").unlink()
    assert "series.json" in refused(hospital, home, HomeError)[0]


def test_a_history_of_a_newer_version(hospital, home):
    with duckdb.connect(home / "history.duckdb") as history:
        history.sql("UPDATE software SET history_version = 99, software_version = '9.9.9'")
    message, code = refused(hospital, home, HomeError)
    assert "written by republish 9.9.9" in message
    assert code == 2


def change_a_byte(folder):
    file = folder / SECOND / "microdata.parquet"
    content = bytearray(file.read_bytes())
    content[100] ^= 1
    file.write_bytes(content)


def edit_the_last_manifest(folder):
    file = folder / SECOND / "manifest.json"
    file.write_text(file.read_text().replace('"n": 2', '"n": 2 '))


def edit_the_first_manifest(folder):
    file = folder / FIRST / "manifest.json"
    file.write_text(file.read_text().replace('"n": 1', '"n": 1 '))


TAMPERED = {
    "a byte changed": (change_a_byte, "microdata.parquet: was changed"),
    "a file removed": (lambda folder: (folder / SECOND / "counterfeits.parquet").unlink(), "missing"),
    "a file added": (lambda folder: (folder / SECOND / "names.csv").write_text("me"), "not in the manifest"),
    "the last manifest edited": (edit_the_last_manifest, "manifest.json: was changed"),
    "the first manifest edited": (edit_the_first_manifest, "manifest.json: was changed"),
    "a manifest removed": (
        lambda folder: (folder / SECOND / "manifest.json").unlink(),
        "has no manifest.json",
    ),
    "a manifest of nonsense": (
        lambda folder: (folder / SECOND / "manifest.json").write_text('{"files": {"a": 1}}'),
        "has no manifest.json that can be read",
    ),
    "the first release removed": (lambda folder: shutil.rmtree(folder / FIRST), "is not there any more"),
    "the last release removed": (lambda folder: shutil.rmtree(folder / SECOND), "is not there any more"),
    "all releases removed": (shutil.rmtree, "is not there any more"),
}


@pytest.mark.parametrize("case", TAMPERED)
def test_published_folders_that_were_tampered_with(hospital, home, case):
    tamper, words = TAMPERED[case]
    tamper(home / "published/hospital/v1")
    before = everything(home)
    with pytest.raises(PublishedFolderError, match=words) as refusal:
        releases_to_make(hospital.series(home), None)
    assert everything(home) == before
    assert refusal.value.exit_code == 2


@pytest.mark.parametrize("case", ["a byte changed", "the last manifest edited", "the last release removed"])
def test_nothing_is_chained_to_what_was_tampered_with(hospital, home, case):
    tamper, words = TAMPERED[case]
    tamper(home / "published/hospital/v1")
    with pytest.raises(PublishedFolderError, match=words):
        make(hospital.series(home), THIRD)
    assert not (home / f"published/hospital/v1/{THIRD}").exists()


def test_a_release_that_is_not_on_the_schedule(hospital, home):
    with pytest.raises(ContractError, match="2024-02-01 is no release that is due"):
        releases_to_make(hospital.series(home), "2024-02-01")


def test_working_files_of_the_release_before_that_are_gone(hospital, home):
    shutil.rmtree(home / f"private/hospital/v1/{SECOND}")
    message, _ = refused(hospital, home, HomeError)
    assert "put them back from a copy, or begin a new series" in message
