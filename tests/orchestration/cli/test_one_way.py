"""`republish validate` runs the chain of `republish release` dry: the same refusals, words and exit codes."""

import shutil

import pytest

from republish.anonymize import principles
from republish.orchestration.series.pending_erasures import note_unknown
from republish.orchestration.storage.home import Home
from tests.hospital import RELEASES, everything
from tests.orchestration.dagster.test_product import mutant, swapped_groups

FIRST, SECOND, THIRD = RELEASES


@pytest.fixture
def told(republish, hospital, home):
    """The exit code and the output of a command on the hospital, of one home."""

    def run(command, *words):
        code, said, errors = republish(command, hospital.contract, "--home", home, *words)
        return code, "".join(f"{line}\n" for line in [*said, *errors])

    return run


def no_folder(hospital, home):
    shutil.rmtree(home / f"published/hospital/v1/{FIRST}")


def edited(hospital, home):
    with (home / f"published/hospital/v1/{FIRST}/README.md").open("a") as file:
        file.write("Nothing was changed here.")


def strange_folder(hospital, home):
    shutil.copytree(home / f"published/hospital/v1/{SECOND}", home / f"published/hospital/v1/{THIRD}")


def no_working_files(hospital, home):
    shutil.rmtree(home / f"private/hospital/v1/{SECOND}")


def no_state(hospital, home):
    next((home / f"private/hospital/v1/{SECOND}").glob("state-*.parquet")).unlink()


def no_snapshot_before(hospital, home):
    (home / f"private/hospital/v1/{SECOND}/snapshot.parquet").unlink()


def another_key(hospital, home):
    facts = home / "private/hospital/v1/series.json"
    facts.write_text(facts.read_text().replace('"key_fingerprint": "', '"key_fingerprint": "0'))


def restored_and_nobody_said_who_was_forgotten(hospital, home):
    note_unknown(Home.named(home), {"hospital/v1": SECOND}, "2024-05-01")


def no_snapshot(hospital, home):
    hospital.file(THIRD).rename(hospital.file("2024-10-01"))


def faulty_snapshot(hospital, home):
    hospital.deliver(THIRD, hospital.snapshot(THIRD).drop("age", "sex"))


def smaller_m(hospital, home):
    hospital.declare(principle={"m": 2, "on_ineligible": "wait"}, accept={THIRD: ["on_ineligible"]})


def too_many_counterfeits(hospital, home):
    hospital.declare(expect={"counterfeits": 0.0001})


REFUSED = [
    (no_folder, 2, "was published, and is not there any more"),
    (edited, 2, "was changed after publication"),
    (strange_folder, 2, "put it back from a newer copy"),
    (no_working_files, 2, "its working files in"),
    (no_state, 2, "its working files in"),
    (no_snapshot_before, 2, "has to be compared with it"),
    (another_key, 2, "was begun with another key"),
    (restored_and_nobody_said_who_was_forgotten, 2, "was restored from a backup of 2024-05-01"),
    (no_snapshot, 2, "its snapshot is missing"),
    (faulty_snapshot, 2, "2 faults in the snapshot"),
    (smaller_m, 2, "3 -> 2 since the release before"),
    (too_many_counterfeits, 3, "of the tuples would be counterfeits"),
]


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize(("harm", "code", "words"), REFUSED)
def test_what_release_refuses_validate_refuses(hospital, home, told, harm, code, words):
    harm(hospital, home)
    before = everything(home)
    examined, said = told("validate")
    assert everything(home) == before
    assert "would be released" not in said
    refused, why = told("release", "--through", THIRD)
    assert (examined, refused) == (code, code)
    assert words in why
    why = why.removeprefix("republish: ").removeprefix(f"hospital/v1 {THIRD}: ")
    # `release` keeps a list of the rows at fault beside the refusal; a dry run leaves none.
    why = why.partition("; /")[0].partition("\n  /")[0].rstrip()
    # Each of several faults of a snapshot is a line of its own, which other snapshots may share.
    assert all(fault in said for fault in why.rpartition(f"{words}\n  ")[2].split("\n  "))


@pytest.mark.slow("takes more than a second")
def test_a_candidate_whose_audit_fails_would_not_be_released(told, monkeypatch):
    monkeypatch.setitem(principles.PRINCIPLES, "m_invariance", mutant(swapped_groups))
    code, said = told("validate")
    assert code == 3
    assert f"{THIRD}: would be refused: the audit failed, nothing is published." in said
    assert "would be released" not in said


@pytest.mark.slow("makes and audits many releases")
def test_what_is_said_of_a_release_is_what_it_is(told):
    code, said = told("validate")
    line = next(line for line in said.splitlines() if "would be released" in line)
    assert code == 0
    _, made = told("release", "--through", THIRD)
    counted = [word for word in made.split("published")[1].split() if word.isdigit()]
    assert counted[1:3] == [word for word in line.split("released with")[1].split() if word.isdigit()][:2]
