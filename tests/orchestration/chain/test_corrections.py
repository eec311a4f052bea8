"""`corrections`: what was wrong from the beginning is no change, and is said to be seen as it is."""

import polars as pl
import pytest
from typer.testing import CliRunner

from republish.anonymize.columns import CORRECTED
from republish.anonymize.errors import ContractError, SnapshotError
from republish.orchestration.chain.snapshot import take_snapshot
from republish.orchestration.cli.app import app
from republish.orchestration.contracts.contract_file import load_contract
from republish.orchestration.storage.store import read_table
from tests.hospital import IDENTIFIER, RELEASES, audited, everything, make

FIRST, SECOND, THIRD = RELEASES
NAME = "corrections/2024-07-01.csv"


@pytest.fixture
def wrong(hospital):
    """People who are in the last two snapshots: a third of them had another disease all along."""
    both = hospital.snapshot(SECOND).join(hospital.snapshot(THIRD), on="patient_id", how="semi")
    some = both.sort("patient_id").gather_every(3)
    value = pl.col("disease")
    return some.with_columns(value.shift(1).fill_null(value.last())).filter(value != some["disease"])


def correct(hospital, right, release=THIRD, column="disease"):
    """A snapshot in which people have the right values."""
    snapshot = hospital.snapshot(release)
    known = right.select("patient_id", right=column)
    changed = snapshot.join(known, on="patient_id", how="left", maintain_order="left")
    hospital.deliver(release, changed.with_columns(pl.coalesce("right", column).alias(column)).drop("right"))


def state(hospital, people, columns=("disease",)):
    """The file that says whose values were wrong, and the contract that names it."""
    file = hospital.folder / NAME
    file.parent.mkdir(exist_ok=True)
    rows = [(person, column) for person in people for column in columns]
    pl.DataFrame(rows, schema=["patient_id", "column"], orient="row").write_csv(file)
    return hospital.declare(corrections={THIRD: NAME})


def expected(series):
    (found,) = [one for one in series.committed(THIRD).verdicts if one.promise == "expected"]
    return found


@pytest.mark.slow("makes and audits many releases")
def test_corrected_values_are_no_changes_and_nobody_is_convicted(hospital, home, wrong, tmp_path):
    correct(hospital, wrong)
    hospital.declare()
    with pytest.raises(SnapshotError, match=r"expect.changed says at most 0.1"):
        make(hospital.series(home), THIRD)
    state(hospital, [f" {person.lower()}" for person in wrong["patient_id"]])
    series = make(hospital.series(home), THIRD)
    found = expected(series)
    assert found.figures[CORRECTED] == wrong.height
    assert f"{wrong.height} sensitive values were wrong so far" in found.found
    assert "shares no value with the earlier ones" in found.found
    code, promises = audited(hospital, series, tmp_path / "report")
    assert code == 0
    assert all(row["holds"] for row in promises.values())
    changes = read_table(series.private(THIRD) / "delta.parquet")
    assert changes.filter(CORRECTED).height == wrong.height
    make(series, THIRD)


PRINCIPLES = [
    {"name": "m_invariance", "m": 3, "format": "anatomy", "on_ineligible": "wait"},
    {"name": "e_equivalence", "m": 3, "e": 2},
    {"name": "global_guarantee", "l": 2, "strategy": "constant_ratio", "releases": 3},
    {"name": "streamliner", "l": 3, "then": "m_invariance"},
]


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("principle", PRINCIPLES, ids=lambda one: one["name"])
def test_under_every_principle_nobody_is_convicted(hospital, tmp_path, wrong, principle):
    hospital.under(principle)
    series = make(hospital.series(tmp_path / "another"), FIRST, SECOND)
    earlier = hospital.snapshot(SECOND).join(wrong, on="patient_id", how="semi")
    before = hospital.snapshot(THIRD).select("patient_id", "disease")
    same = (
        earlier.select("patient_id", was="disease")
        .join(before, on="patient_id")
        .filter(pl.col("was") == pl.col("disease"))
    )
    few = wrong.join(same, on="patient_id", how="semi").head(12)
    correct(hospital, few)
    state(hospital, few["patient_id"])
    hospital.under(principle, corrections={THIRD: NAME}, accept={THIRD: ["changed"]})
    series = make(hospital.series(tmp_path / "another"), THIRD)
    assert expected(series).figures[CORRECTED] == few.height
    code, promises = audited(hospital, series, tmp_path / "report", private=False)
    assert code == 0, promises


@pytest.mark.slow("takes more than a second")
def test_a_corrected_quasi_identifier_is_just_the_new_one(hospital, home, wrong, tmp_path):
    older = wrong.head(20).with_columns(age=(pl.col("age") + 7) % 100)
    correct(hospital, older, column="age")
    state(hospital, older["patient_id"], ["age"])
    series = make(hospital.series(home), THIRD)
    assert CORRECTED not in expected(series).figures
    assert audited(hospital, series, tmp_path / "report")[0] == 0


@pytest.mark.slow("takes more than a second")
def test_validate_says_what_would_be_said(hospital, home, wrong):
    correct(hospital, wrong)
    state(hospital, wrong["patient_id"])
    before = everything(home)
    result = CliRunner().invoke(app, ["validate", str(hospital.contract), "--home", str(home)])
    assert result.exit_code == 0, result.output
    assert everything(home) == before
    (hospital.folder / NAME).unlink()
    result = CliRunner().invoke(app, ["validate", str(hospital.contract), "--home", str(home)])
    assert "there is no such file" in f"{result.exception}{result.output}"


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([("P99999999", "disease")], "1 of its people are not in the snapshot"),
        ([("P99999999", "illness")], "1 names in column are no columns of the contract; accepted: age, "),
        (None, "disease of 1 people is what it was in the release before"),
    ],
)
def test_what_is_not_so_is_refused_and_nobody_is_named(hospital, home, wrong, rows, words):
    stays = hospital.snapshot(SECOND).join(hospital.snapshot(THIRD), on=["patient_id", "disease"])
    state(hospital, [])
    told = rows or [(stays["patient_id"].min(), "disease")]
    pl.DataFrame(told, schema=["patient_id", "column"], orient="row").write_csv(hospital.folder / NAME)
    series = hospital.series(home)
    take_snapshot(series, THIRD)
    with pytest.raises(SnapshotError) as refused:
        make(series, THIRD)
    assert words in str(refused.value)
    assert not IDENTIFIER.search(str(refused.value).encode())


def test_files_that_can_not_be_read_and_releases_that_are_the_first(hospital, home, tmp_path):
    state(hospital, [])
    (hospital.folder / NAME).write_text("who,what\nP1,disease\n")
    with pytest.raises(SnapshotError, match="its columns must be patient_id and column"):
        make(hospital.series(home), THIRD)
    hospital.declare(corrections={FIRST: NAME})
    with pytest.raises(SnapshotError, match="nothing is published yet that could be wrong"):
        make(hospital.series(tmp_path / "new"), FIRST)
    hospital.declare(corrections={"soon": NAME})
    with pytest.raises(ContractError, match=r"corrections: soon must be the date of a release"):
        load_contract(hospital.contract)
