import itertools

import polars as pl
import pytest

from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.demo.hospital import (
    CONTRACT,
    DISEASES,
    hospital_snapshots,
    make_demo,
    write_hospital,
)
from tests.sources import read_snapshot

PATIENTS = 20_000


@pytest.fixture(scope="module")
def snapshots():
    return dict(hospital_snapshots())


@pytest.fixture(scope="module")
def successive(snapshots):
    """Pairs of a snapshot and the next, joined by patient."""
    return [
        last.join(now, on="patient_id", how="full", coalesce=True, suffix="_now")
        for last, now in itertools.pairwise(snapshots.values())
    ]


def test_six_quarters_of_20_000_patients(snapshots):
    assert list(snapshots) == [
        "2024-01-01",
        "2024-04-01",
        "2024-07-01",
        "2024-10-01",
        "2025-01-01",
        "2025-04-01",
    ]
    assert {snapshot.height for snapshot in snapshots.values()} == {PATIENTS}


def test_8_percent_leave_and_as_many_come(successive):
    for pair in successive:
        assert pair["age_now"].null_count() == pair["age"].null_count() == 0.08 * PATIENTS


def test_1_percent_return_after_an_absence(snapshots):
    seen = [set(snapshot["patient_id"]) for snapshot in snapshots.values()]
    for n in range(2, len(seen)):
        assert len((seen[n] - seen[n - 1]) & set.union(*seen[: n - 1])) == 0.01 * PATIENTS


def test_half_a_percent_fall_ill_with_something_else(successive):
    for pair in successive:
        assert pair.filter(pl.col("disease") != pl.col("disease_now")).height == 0.005 * PATIENTS


def test_patients_with_epilepsy_leave_in_the_fourth_quarter_and_return_in_the_fifth(snapshots):
    seen = [set(table["patient_id"]) for table in snapshots.values()]
    epilepsies = [set(table.filter(disease="epilepsy")["patient_id"]) for table in snapshots.values()]
    assert len(epilepsies[2]) > 300
    assert not epilepsies[2] & seen[3]
    returned = (seen[4] - seen[3]) & set.union(*seen[:3])
    assert len(returned) == 0.01 * PATIENTS
    assert returned <= epilepsies[4]


def test_who_returns_has_the_disease_they_left_with(snapshots):
    seen = pl.concat(
        snapshot.with_columns(quarter=pl.lit(n)) for n, snapshot in enumerate(snapshots.values())
    ).sort("patient_id", "quarter")
    before = pl.col("disease", "quarter").shift().over("patient_id").name.suffix("_before")
    returned = seen.with_columns(before).filter(pl.col("quarter") - pl.col("quarter_before") > 1)
    assert returned.height >= 0.01 * PATIENTS
    assert (returned["disease"] == returned["disease_before"]).all()


def test_people_grow_older_by_the_year_and_stay_who_they_are(successive):
    stayed = pl.concat(successive).drop_nulls()
    older = stayed["age_now"] - stayed["age"]
    assert set(older) == {0, 1}
    assert older.mean() == pytest.approx(1 / 4, abs=0.02)
    for column in ("sex", "birthplace", "zipcode"):
        assert (stayed[column] == stayed[f"{column}_now"]).all()


def test_every_batch_of_newcomers_is_4_eligible_with_room_to_spare(snapshots, successive):
    newcomers = [pair.filter(pl.col("age").is_null())["disease_now"] for pair in successive]
    for batch in (*newcomers, *(snapshot["disease"] for snapshot in snapshots.values())):
        assert batch.value_counts()["count"].max() < 0.2 * len(batch)


def test_diseases_are_skewed_and_go_with_age(snapshots):
    first = snapshots["2024-01-01"]
    counts = first["disease"].value_counts()
    assert counts.height == len(DISEASES) == 16
    assert counts["count"].max() > 3 * counts["count"].min()
    age = dict(first.group_by("disease").agg(pl.mean("age")).iter_rows())
    assert age["cataract"] > age["appendicitis"] + 10


def test_the_same_seed_makes_the_same_hospital_and_another_another():
    def first(seed):
        return next(hospital_snapshots(1, 100, seed))[1]

    assert first(1).equals(first(1))
    assert not first(1).equals(first(2))


@pytest.mark.slow("takes more than a second")
def test_it_is_what_its_contract_says(tmp_path):
    contract = make_demo(tmp_path)
    contract_file = load_contract(contract)
    for release, snapshot in hospital_snapshots():
        names = {name: ours for ours, name in contract_file.contract.column_names().items()}
        assert read_snapshot(contract_file, release).equals(snapshot.rename(names))
    assert contract_file.first_release == "2024-01-01"
    assert contract_file.contract.principle.m == 4


def test_the_contract_lists_the_diseases_there_are():
    assert set(load_contract(CONTRACT).contract.sensitive.values) == set(DISEASES)


def test_a_second_demo_leaves_what_is_there(tmp_path):
    make_demo(tmp_path)
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}
    make_demo(tmp_path)
    assert before == {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}
    assert len(files) == 8


def test_what_was_lost_is_made_again_with_the_same_bytes(tmp_path):
    write_hospital(tmp_path, releases=2, patients=500)
    lost = tmp_path / "2024-04-01.parquet"
    content = lost.read_bytes()
    lost.unlink()
    write_hospital(tmp_path, releases=2, patients=500)
    assert lost.read_bytes() == content


def test_snapshots_are_their_owners_alone(tmp_path):
    make_demo(tmp_path)
    folder = tmp_path / "demo" / "snapshots" / "hospital"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o600}
