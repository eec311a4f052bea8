"""A home that is backed up and restored goes on as if nothing had been, or not at all."""

import json
import os
import random
import shutil
import sys
import threading

import pytest
from typer.testing import CliRunner

from republish.anonymize.errors import AlreadyPublished, HomeError, PublishedFolderError
from republish.orchestration.cli.app import app
from republish.orchestration.rights.forget import forget, what_is_kept
from republish.orchestration.series.backup import back_up, restore
from republish.orchestration.series.homes import refuse_other_home
from republish.orchestration.series.pending_erasures import refuse_unforgotten
from republish.orchestration.storage.home import Home, only_one
from republish.orchestration.storage.log import verify_log
from republish.orchestration.storage.packed import LIST
from tests.hospital import KEY, RELEASES, Hospital, begin, everything, make, published

FIRST, SECOND, THIRD = RELEASES


@pytest.fixture
def key_in_home(home, monkeypatch):
    """The key is in the home, and nowhere else."""
    monkeypatch.delenv("REPUBLISH_KEY")
    (home / "secret.key").write_text(KEY)


@pytest.fixture
def backup(home, tmp_path, key_in_home):
    return back_up(Home(home), tmp_path / "backups/monday.tar").path


@pytest.fixture
def elsewhere(hospital, tmp_path):
    """The contract and its snapshots on another machine."""
    there = shutil.copytree(hospital.folder, tmp_path / "another machine")
    return Hospital(there)


@pytest.fixture
def machine(tmp_path):
    return tmp_path / "another machine/homes/var"


@pytest.mark.slow("takes more than a second")
def test_a_restored_home_goes_on_with_the_bytes_that_it_would_have_had(
    hospital, home, backup, elsewhere, machine
):
    restore(backup, machine, None, nothing_later=True)
    assert published(machine) == published(home)
    make(elsewhere.series(machine), THIRD)
    make(hospital.series(home), THIRD)
    assert published(machine) == published(home)
    assert len(verify_log(Home(machine)).lines) == 4  # two releases, the restoration, the third release


def test_it_is_the_owner_s_alone_but_for_what_is_published(backup, machine):
    restore(backup, machine, None, nothing_later=True)
    assert backup.stat().st_mode & 0o777 == 0o600
    assert backup.parent.stat().st_mode & 0o777 == 0o700
    for path in [machine, *machine.rglob("*")]:
        is_public = path.is_relative_to(machine / "published")
        allowed = (0o755 if path.is_dir() else 0o644) if is_public else (0o700 if path.is_dir() else 0o600)
        assert path.stat().st_mode & 0o777 == allowed, path


def test_nothing_is_left_in_the_home_but_a_line_in_its_log(home, key_in_home, tmp_path):
    before = everything(home)
    back_up(Home(home), tmp_path / "monday.tar")
    assert everything(home) == before
    assert len(verify_log(Home(home)).lines) == 3


def test_into_a_folder_it_is_named_by_the_time_and_no_file_is_overwritten(home, key_in_home, tmp_path):
    folder = tmp_path / "backups"
    made = back_up(Home(home), folder).path
    assert made.match("backups/home-20*Z.tar")
    with pytest.raises(HomeError, match="is there already"):
        back_up(Home(home), made)
    with pytest.raises(HomeError, match="is in the home that is to be backed up"):
        back_up(Home(home), home / "private/monday.tar")


@pytest.mark.parametrize("there", ["a home", "a file"])
def test_a_home_that_is_there_is_never_overwritten(home, backup, tmp_path, there):
    place = home if there == "a home" else tmp_path / "file"
    if there == "a file":
        place.write_text("mine")
    before = everything(tmp_path)
    with pytest.raises(HomeError, match="is there already, and no backup is put over it"):
        restore(backup, place, None, nothing_later=True)
    assert everything(tmp_path) == before


def test_an_empty_folder_becomes_the_home(backup, machine, home):
    machine.mkdir(parents=True)
    restore(backup, machine, None, nothing_later=True)
    assert published(machine) == published(home)


# ---- the key


def test_without_its_key_a_backup_is_restored_under_that_key_only(home, key_in_home, machine, monkeypatch):
    backup = back_up(Home(home), home.parent / "monday.tar", with_key=False).path
    assert KEY.encode() not in backup.read_bytes()
    for given, words in ((None, "has no key in it. Set REPUBLISH_KEY"), ("x" * 32, "with another key")):
        if given:
            monkeypatch.setenv("REPUBLISH_KEY", given)
        with pytest.raises(HomeError, match=words):
            restore(backup, machine, None, nothing_later=True)
        assert not machine.exists()
    monkeypatch.setenv("REPUBLISH_KEY", KEY)
    restore(backup, machine, None, nothing_later=True)
    assert not (machine / "secret.key").exists()


# ---- a backup that is not what it was


def harmed(content, position):
    return content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :]


HARMS = {
    "a file in it": lambda it: harmed(it, it.index(b"PAR1") + 200),
    "the state": lambda it: harmed(it, it.index(b"key_fingerprint") + 20),
    "the name of a file": lambda it: it.replace(b"log.jsonl\0", b"log.jsonk\0", 1),
    "a name that leads out": lambda it: it.replace(b"log.jsonl\0", b"../ab.txt\0", 1),
    "the list": lambda it: harmed(it, it.rindex(b'"releases"') + 30),
    "the seal": lambda it: it[: (at := it.rindex(b'"seal": "') + 9)] + b"0" * 64 + it[at + 64 :],
    "half of it": lambda it: it[: len(it) // 2],
    "all but the list": lambda it: it[: it.rindex(LIST.encode())],
    "nothing": lambda it: b"",
    "something else": lambda it: b"%PDF-1.7" * 1000,
}


@pytest.mark.parametrize("harm", HARMS)
def test_a_backup_that_is_torn_or_changed_is_refused_and_nothing_is_in_place(backup, machine, harm):
    backup.write_bytes(HARMS[harm](backup.read_bytes()))
    before = everything(backup.parents[1])
    words = (
        "is no backup, or only the beginning|was changed since it was made|which no backup has|no backup that"
    )
    with pytest.raises(HomeError, match=words) as refusal:
        restore(backup, machine, None, nothing_later=True)
    assert "\n" not in str(refusal.value)
    after = everything(backup.parents[1])
    assert {name: it for name, it in after.items() if it is not None} == {
        name: it for name, it in before.items() if it is not None
    }


def test_a_backup_that_is_not_there_is_said_so(tmp_path):
    with pytest.raises(HomeError, match=r"none.tar: No such file"):
        restore(tmp_path / "none.tar", tmp_path / "home", None, nothing_later=True)


# ---- what was published after the backup


def test_what_was_published_since_has_to_be_said(backup, machine):
    with pytest.raises(HomeError, match=f"hospital/v1 {SECOND}. Say what was published since: --published"):
        restore(backup, machine, None)
    assert not machine.exists()


@pytest.mark.slow("takes more than a second")
def test_a_release_that_is_out_is_made_again_as_it_was(hospital, home, backup, elsewhere, machine):
    make(hospital.series(home), THIRD)
    found = restore(backup, machine, home / "published")
    assert dict(found.since) == {"hospital/v1": 1}
    make(elsewhere.series(machine), THIRD)
    assert published(machine) == published(home)


@pytest.mark.slow("makes and audits many releases")
@pytest.mark.parametrize("changed", ["the snapshot", "the contract"])
def test_another_release_than_the_one_that_is_out_is_refused(
    hospital, home, backup, elsewhere, machine, changed
):
    make(hospital.series(home), THIRD)
    restore(backup, machine, home / "published")
    if changed == "the snapshot":
        elsewhere.deliver(THIRD, elsewhere.snapshot(THIRD)[1:])
    else:
        elsewhere.declare(description="Another one.")
    before = published(machine)
    with pytest.raises(
        AlreadyPublished, match=f"{changed.removeprefix('the')} .*put it back as it was"
    ) as refusal:
        make(elsewhere.series(machine), THIRD)
    assert "\n" not in str(refusal.value)
    assert published(machine) == before
    (machine / "private/hospital/v1/published_since.json").write_text("{}")
    with pytest.raises(HomeError, match=r"was changed\. Restore the backup once more"):
        make(elsewhere.series(machine), THIRD)


def test_what_is_out_has_to_be_of_the_same_home(hospital, home, backup, machine, tmp_path):
    with pytest.raises(HomeError, match="has no releases in it"):
        restore(backup, machine, home / "private")
    (home / f"published/hospital/v1/{SECOND}/manifest.json").unlink()
    with pytest.raises(PublishedFolderError, match=r"has no manifest.json"):
        restore(backup, machine, home / "published")
    other = shutil.copytree(hospital.folder, tmp_path / "other")
    other_home = tmp_path / "other home"
    make(Hospital(other).series(other_home), FIRST)
    with pytest.raises(HomeError, match="is not the release that is in the backup"):
        restore(backup, machine, other_home / "published")
    assert not machine.exists()


def test_a_home_put_back_as_it_was_without_a_word_is_refused(hospital, home, tmp_path):
    """By a snapshot of the disk, say: nothing in the home tells that it is older than it was."""
    older = shutil.copytree(home, tmp_path / "older")
    make(hospital.series(home), THIRD)
    shutil.rmtree(home)
    shutil.move(older, home)
    with pytest.raises(
        HomeError, match=f"is as it was after {SECOND}, and hospital/v1 {THIRD} was published"
    ):
        refuse_other_home(hospital.series(home))


@pytest.mark.slow("takes more than a second")
def test_a_rolled_back_home_goes_on_by_a_backup_of_it(hospital, home, tmp_path):
    older = shutil.copytree(home, tmp_path / "older")
    make(hospital.series(home), THIRD)
    copies, out = shutil.copytree(home / "published", tmp_path / "copies"), published(home)
    shutil.rmtree(home)
    shutil.move(older, home)
    backup = back_up(Home(home), tmp_path / "older.tar").path
    shutil.rmtree(home)
    restore(backup, home, copies)
    refuse_other_home(hospital.series(home))
    make(hospital.series(home), THIRD)
    assert published(home) == out


def test_a_state_older_than_what_is_published_is_refused(hospital, home, tmp_path):
    older = shutil.copytree(home, tmp_path / "older")
    make(hospital.series(home), THIRD)
    for name in ("private", "history.duckdb"):
        gone, old = home / name, older / name
        shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
        shutil.move(old, gone)
    with pytest.raises(
        PublishedFolderError, match=f"{THIRD}: is not known to .* put it back from a newer copy"
    ):
        make(hospital.series(home), THIRD)


# ---- killed, and at the same time


def killed_at(number, work):
    """Whether work was done before the process that does it was killed, at its n-th write to the disk."""
    child = os.fork()
    if child == 0:
        count = iter(range(number))
        sync = os.fsync
        os.fsync = lambda file: sync(file) if next(count, None) is not None else os._exit(9)
        work()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("number", [0, 1, 20, 40])
def test_a_restoration_that_is_killed_leaves_no_home_and_can_be_run_again(backup, machine, home, number):
    assert not killed_at(number, lambda: restore(backup, machine, None, nothing_later=True))
    assert not machine.exists()
    restore(backup, machine, None, nothing_later=True)
    assert published(machine) == published(home)
    assert sorted(path.name for path in machine.parent.iterdir()) == [".var-lock", "var"]


def test_a_backup_that_is_killed_leaves_no_file_and_can_be_made_again(home, key_in_home, machine, tmp_path):
    file = tmp_path / "backups/monday.tar"
    before = everything(home)
    assert not killed_at(0, lambda: back_up(Home(home), file))
    assert everything(home) == before
    assert not file.exists()
    back_up(Home(home), file)
    assert sorted(path.name for path in file.parent.iterdir()) == [".backup-lock", "monday.tar"]
    restore(file, machine, None, nothing_later=True)
    assert published(machine) == published(home)


def test_a_backup_waits_for_the_step_that_is_being_made(home, key_in_home, tmp_path):
    file = tmp_path / "monday.tar"
    with only_one(home / "private/hospital/v1", "series hospital/v1"):
        backing_up = threading.Thread(target=back_up, args=(Home(home), file))
        backing_up.start()
        backing_up.join(0.2)
        assert not file.exists()
    backing_up.join()
    assert file.exists()


def test_a_backup_removes_what_a_killed_command_wrote_half(home, key_in_home):
    """Nobody has the series' lock, so nobody is writing it."""
    half = home / "private/hospital/v1/.people.parquet.partial"
    half.write_bytes(b"half")
    back_up(Home(home), home.parent / "monday.tar")
    assert not half.exists()


@pytest.mark.slow("starts processes")
def test_every_backup_made_while_releases_are_made_goes_on_to_the_same_bytes(
    hospital, tmp_path, elsewhere, seed_of_run
):
    home = tmp_path / "home under way"
    (hospital.folder / ".hospital.yaml.home").unlink()
    making = begin(hospital.contract, home, THIRD)
    backups = []
    while making.poll() is None:
        if (home / "history.duckdb").exists():
            backups.append(back_up(Home(home), tmp_path / f"{len(backups)}.tar"))
    assert making.returncode == 0, making.communicate()
    assert len({made.releases.get("hospital/v1") for made in backups}) > 2
    for made in random.Random(seed_of_run).sample(backups, 3):
        (elsewhere.folder / ".hospital.yaml.home").unlink(missing_ok=True)
        machine = tmp_path / made.path.stem
        restore(made.path, machine, home / "published")
        make(elsewhere.series(machine), *RELEASES)
        assert published(machine) == published(home)
        shutil.rmtree(machine)


@pytest.mark.slow("takes more than a second")
def test_who_was_forgotten_after_the_backup_is_back_and_a_later_log_counts_them(
    hospital, home, backup, elsewhere, machine, tmp_path
):
    series, log = hospital.series(home), tmp_path / "log.jsonl"
    whom = hospital.snapshot(FIRST)["patient_id"].to_list()[:3]
    early = shutil.copy(home / "log.jsonl", tmp_path / "early.jsonl")
    forget(series, whom, again=False)
    shutil.copy(home / "log.jsonl", log)
    (tmp_path / "cut.jsonl").write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[1:]))
    (tmp_path / "early.jsonl").write_bytes(early.read_bytes().splitlines(keepends=True)[0])
    faults = {"cut": "does not follow", "early": "does not begin with the log", "none": "is not there"}
    for name, fault in faults.items():
        with pytest.raises(HomeError, match=fault):
            restore(backup, machine, None, tmp_path / f"{name}.jsonl", nothing_later=True)
        assert not machine.exists()
    found = restore(backup, machine, None, log, nothing_later=True)
    assert [(line["series"], line["people"], line["again"]) for line in found.forgettings] == [
        ("hospital/v1", 3, False)
    ]
    again = elsewhere.series(machine)
    assert what_is_kept(again, whom)[0].people == 3
    for some in (whom[:2], whom[2:]):
        with pytest.raises(
            HomeError, match=rf"{len(whom)} people who were forgotten .* --never-again --delete"
        ):
            make(again, THIRD)
        forget(again, some, again=False)
        whom = whom[2:] or whom
    whom = hospital.snapshot(FIRST)["patient_id"].to_list()[:3]
    assert what_is_kept(again, whom) == what_is_kept(series, whom)
    assert published(make(again, THIRD).home.path) == published(make(series, THIRD).home.path)


@pytest.mark.slow("takes more than a second")
def test_releases_before_a_forgetting_are_made_again_first(
    hospital, home, backup, elsewhere, machine, tmp_path
):
    series = hospital.series(home)
    whom = hospital.snapshot(THIRD)["patient_id"].to_list()[:3]
    make(series, THIRD)
    forget(series, whom, again=True)
    restore(backup, machine, home / "published", home / "log.jsonl")
    again = make(elsewhere.series(machine), THIRD)
    assert published(machine) == published(home)
    with pytest.raises(HomeError, match=r"3 people who were forgotten at 20.*--again --delete"):
        refuse_unforgotten(again, "2024-10-01")
    forget(again, whom, again=False)  # that is more than was asked for
    refuse_unforgotten(again, "2024-10-01")


@pytest.mark.slow("takes more than a second")
def test_without_a_word_about_people_who_were_forgotten_a_new_release_waits(home, backup, elsewhere, machine):
    restore(backup, machine, home / "published")
    (elsewhere.folder / ".hospital.yaml.home").unlink()  # the first home is no more
    series = make(elsewhere.series(machine), SECOND)
    with pytest.raises(HomeError, match=r"nobody said whether people were forgotten .* --that-is-all"):
        make(series, THIRD)
    told = CliRunner().invoke(
        app, ["forget", str(elsewhere.contract), "--home", str(machine), "--that-is-all"]
    )
    assert (told.exit_code, told.output) == (0, "releases go on\n")
    assert json.loads((machine / "log.jsonl").read_text().splitlines()[-1])["what"] == "all forgotten again"
    make(series, THIRD)
    told = CliRunner().invoke(
        app, ["forget", str(elsewhere.contract), "--home", str(machine), "--that-is-all"]
    )
    assert (told.exit_code, told.output) == (0, "nobody is to be forgotten again\n")


# ---- the commands


@pytest.mark.parametrize("named", ["contract", "home"])
def test_the_commands(hospital, home, key_in_home, machine, tmp_path, named, capsys, monkeypatch):
    def republish(*words):
        from republish.orchestration.cli import main as cli

        monkeypatch.setattr(sys, "argv", ["republish", *map(str, words)])
        try:
            cli.main()
        except SystemExit as ended:
            told = capsys.readouterr()
            return ended.code or 0, told.out, told.err

    file = tmp_path / "monday.tar"
    of = [hospital.contract, "--home", home] if named == "contract" else [home]
    code, out, _ = republish("backup", *of, "--out", file)
    assert (code, f"hospital/v1  2 releases, the last is {SECOND}" in out, "with the key" in out) == (
        0,
        True,
        True,
    )
    code, _, err = republish("restore", file, "--home", machine, "--nothing-later", "--published", home)
    assert (code, "exclude each other" in err) == (2, True)
    code, out, _ = republish("restore", file, "--home", machine, "--nothing-later")
    assert (code, "restored as it was on 20" in out) == (0, True)
    assert "are in this home again" not in out
    code, _, err = republish("backup", tmp_path, "--out", file)
    assert (code, "is no home" in err) == (2, True)
