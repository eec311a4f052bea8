"""Files that are damaged, nested or full: one line with the way out, and nothing is moved."""

import datetime as dt
import json
import sqlite3
import stat

import duckdb
import polars as pl
import pytest
import yaml
from dagster import DagsterInstance
from sqlalchemy.exc import OperationalError

from republish.anonymize.errors import ContractError, HomeError, SnapshotError
from republish.orchestration.chain.snapshot import take_snapshot
from republish.orchestration.cli.releasing import releases_to_make
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.contracts.registry import loaded_contracts, register
from republish.orchestration.dagster.instance import dagster_instance
from republish.orchestration.series import calendar
from republish.orchestration.storage.home import Home
from tests.hospital import RELEASES, everything, make, make_by_dagster, published
from tests.orchestration.chain.test_bad_input import refused

FIRST, SECOND, THIRD = RELEASES


def in_one_line(message):
    return "\n" not in message


# ---- contracts


BOMB = "a: &a [x, x]\n" + "\n".join(
    f"{new}: &{new} [*{old}, *{old}]" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
CONTRACTS = {
    "an alias bomb": (BOMB, "line 2: an alias (*name) is not accepted: write the value again"),
    "an alias alone": ("product: &p hospital\nseries: *p\n", "line 2"),
    "a merge key": ("x: &x {m: 3}\nprinciple:\n  <<: *x\n", "line 3"),
    "lists in lists": ("product: " + "[" * 20_000, "is not YAML"),
    "mappings in mappings": ("{a: " * 20_000, "is not YAML"),
}


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("case", CONTRACTS)
def test_a_contract_that_is_more_than_it_looks(tmp_path, case):
    text, words = CONTRACTS[case]
    (tmp_path / "contract.yaml").write_text(text)
    with pytest.raises(ContractError) as refusal:
        load_contract(tmp_path / "contract.yaml")
    assert words in str(refusal.value).replace("is not YAML: an alias", "an alias")
    assert refusal.value.exit_code == 2


# ---- working files


NESTED = '{"a":' * 100_000


WORKING_FILES = {
    "an empty object for a candidate": (f"{SECOND}/candidate.json", lambda _: b"{}"),
    "a list for a candidate": (f"{SECOND}/candidate.json", lambda _: b"[]"),
    "a nested candidate": (f"{SECOND}/candidate.json", lambda _: NESTED.encode()),
    "wrong types in a candidate": (
        f"{SECOND}/candidate.json",
        lambda c: json.dumps(dict.fromkeys(json.loads(c), 1)).encode(),
    ),
    "a truncated snapshot": (f"{SECOND}/snapshot.parquet", lambda c: c[: len(c) // 2]),
    "text for a snapshot": (f"{SECOND}/snapshot.parquet", lambda _: b"patient_id,age\n1,2\n"),
    "a truncated state": (f"{SECOND}/state-memory.parquet", lambda c: c[:-9]),
    "an empty object for the series": ("series.json", lambda _: b"{}"),
    "wrong types in the series": ("series.json", lambda _: b'{"terms": 1, "published": [2], "seal": 3}'),
    "terms that are a list": ("series.json", lambda _: b'{"terms": ["key_fingerprint"], "published": {}}'),
    "a nested series": ("series.json", lambda _: NESTED.encode()),
    "no series at all": ("series.json", lambda _: b"\xff\xfe\x00"),
}


@pytest.mark.slow("takes more than a second")
def test_a_working_file_that_is_damaged(hospital, home):
    for case, (name, content) in WORKING_FILES.items():
        file = home / "private/hospital/v1" / name
        whole = file.read_bytes()
        file.write_bytes(content(whole))
        message, code = refused(hospital, home, HomeError)
        assert in_one_line(message), case
        assert "ut it back from a copy" in message or "ut them back from a copy" in message, case
        assert code == 2
        file.write_bytes(whole)


@pytest.mark.slow("makes a release")
def test_a_list_of_contracts_that_is_damaged_is_begun_anew(hospital, home):
    series = hospital.series(home)
    for content in ("[" * 100_000, '{"a":' * 100_000, "no json"):
        (home / "contracts.json").write_text(content)
        register(series.home, series.file)
        assert [one.path for one in loaded_contracts(series.home)] == [series.file.path]
    (home / "contracts.json").write_text(content)
    make_by_dagster(series, THIRD)
    assert series.is_published(THIRD)


# ---- databases and disks


def test_garbage_in_dagsters_databases(hospital, home):
    series = hospital.series(home)
    with dagster_instance(series.home):
        pass
    databases = [file for file in (home / "dagster").rglob("*.db") if file.is_file()]
    assert databases
    for file in databases:
        file.write_bytes(b"no database at all " * 500)
    before = published(home)
    with pytest.raises(HomeError) as refusal:
        make_by_dagster(series, THIRD)
    message = str(refusal.value)
    assert in_one_line(message)
    assert "Dagster's own tables can't be read or written" in message
    assert "move the folder away: Dagster begins anew, and what is published is untouched" in message
    assert published(home) == before


def test_a_disk_that_is_full_for_dagster_is_said_without_sql(home):
    full = sqlite3.OperationalError("database or disk is full")
    with pytest.raises(HomeError) as refusal, dagster_instance(Home.at(home)):
        raise OperationalError("INSERT INTO event_logs VALUES (?)", ("P00000001",), full)
    message = str(refusal.value)
    assert "database or disk is full. Make room on the disk" in message
    assert "INSERT" not in message
    assert "P00000001" not in message


def test_a_disk_that_is_full_in_the_middle_of_a_run_is_said_once(hospital, home, monkeypatch, capfd):
    full = OperationalError("INSERT INTO event_logs", (), sqlite3.OperationalError("disk I/O error"))
    handle = DagsterInstance.handle_new_event

    def handle_some(self, event, **options):
        if event.dagster_event and event.dagster_event.event_type_value == "STEP_OUTPUT":
            raise full
        handle(self, event, **options)

    monkeypatch.setattr(DagsterInstance, "handle_new_event", handle_some)
    with pytest.raises(HomeError, match="disk I/O error"):
        make_by_dagster(hospital.series(home), THIRD)
    assert "INSERT" not in "".join(capfd.readouterr())


def test_a_disk_that_is_full_for_the_history_is_said(hospital, home, monkeypatch):
    class Full:
        def __init__(self, *_, **__):
            raise duckdb.IOException("IO Error: Could not write file: No space left on device")

    monkeypatch.setattr(duckdb, "connect", Full)
    message, code = refused(hospital, home, HomeError)
    assert "history.duckdb: can't be written: No space left on device. Make room there" in message
    assert in_one_line(message)
    assert code == 2


# ---- the clock


def test_a_clock_that_is_behind(hospital, home, monkeypatch):
    series, before = hospital.series(home), everything(home)
    monkeypatch.setattr(calendar, "now", lambda: dt.datetime(2024, 2, 1, tzinfo=dt.UTC))
    with pytest.raises(HomeError) as refusal:
        releases_to_make(series, None)
    message = str(refusal.value)
    assert f"{SECOND}: is published, and by this machine's clock it is not due yet" in message
    assert "The clock says 2024-02-01" in message
    assert in_one_line(message)
    assert everything(home) == before


# ---- rows at fault


def test_rows_at_fault_are_listed_in_a_private_file_that_the_message_names(hospital, home):
    right = hospital.snapshot(THIRD)
    row = pl.int_range(pl.len())
    wrong = right.with_columns(
        age=pl.when(row.is_in([3, 7])).then(150).otherwise("age"),
        disease=pl.when(row == 5).then(None).otherwise("disease"),
    )
    hospital.deliver(THIRD, pl.concat([wrong, wrong[:1]]))
    message, _ = refused(hospital, home, SnapshotError)
    file = home / f"private/hospital/v1/{THIRD}/faults.csv"
    assert f"{file} lists the rows" in message
    listed = pl.read_csv(file)
    assert listed.rows() == [
        (301, right["patient_id"][0], "patient_id", "repeat the identifier of another row"),
        (4, right["patient_id"][3], "age", "lie outside the domain (0 to 120)"),
        (8, right["patient_id"][7], "age", "lie outside the domain (0 to 120)"),
        (6, right["patient_id"][5], "disease", "have no value"),
    ]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    hospital.deliver(THIRD, right)
    make(hospital.series(home), THIRD)
    assert not file.exists()
    assert not [name for name in published(home) if "faults" in name]


def test_a_snapshot_without_a_column_has_no_rows_to_list(hospital, home):
    hospital.deliver(THIRD, hospital.snapshot(THIRD).drop("age"))
    message, _ = refused(hospital, home, SnapshotError)
    assert "lists the rows" not in message


def test_a_misspelt_leaf_of_a_hierarchy_is_named_and_so_is_a_label_of_many_people(hospital, home):
    file = hospital.folder / "hierarchies/birthplace.csv"
    leaf = file.read_text().splitlines()[0].split(";")[0]
    misspelt = f"{leaf[:-1]}q"
    file.write_text(file.read_text().replace(f"{leaf};", f"{misspelt};", 1))
    hospital.deliver(THIRD, hospital.snapshot(THIRD).with_columns(birthplace=pl.lit(leaf)))
    message, _ = refused(hospital, home, SnapshotError)
    assert "rows are not in the hierarchy (" in message
    assert "or add them to the hierarchy: a line of its file" in message
    assert f"some are close to {misspelt}: misspelt here or there?" in message
    assert f"{leaf} (5 people and more have each)" in message


def test_a_folder_in_a_snapshots_place_is_no_snapshot_to_wait_for(hospital, home):
    hospital.file(THIRD).unlink()
    hospital.file(THIRD).mkdir()
    message, _ = refused(hospital, home, SnapshotError)
    assert "is no file; correct source.path in the contract" in message


def test_identifiers_in_a_message_are_none(hospital, home):
    declared = yaml.safe_load(hospital.contract.read_text())
    declared["sensitive"].pop("values")
    hospital.contract.write_text(yaml.safe_dump(declared))
    hospital.deliver(THIRD, hospital.snapshot(THIRD).with_columns(disease=pl.col("patient_id") + " "))
    message, _ = refused(hospital, home, SnapshotError)
    assert "have spaces around them" in message


# ---- snapshots


def test_a_snapshot_whose_table_is_gone_is_taken_again(series):
    take_snapshot(series, THIRD)
    table = series.private(THIRD) / "snapshot.parquet"
    taken = table.read_bytes()
    table.unlink()
    take_snapshot(series, THIRD)
    assert table.read_bytes() == taken
