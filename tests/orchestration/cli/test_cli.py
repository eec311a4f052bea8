"""The command line, as a publisher meets it: words, exit codes, and what is left behind."""

import functools
import os
import re
import shutil
import socket
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import dagster as dg
import duckdb
import polars as pl
import pyarrow.parquet as pq
import pytest

from republish.orchestration.chain import shard
from republish.orchestration.cli import terminal
from republish.orchestration.dagster import webserver
from republish.orchestration.dagster.instance import dagster_instance
from republish.orchestration.demo import hospital as demo
from republish.orchestration.storage.home import Home
from tests.hospital import IDENTIFIER, RELEASES, Hospital, build, everything, make, published

FIRST, SECOND, THIRD = RELEASES
ROOT = Path(__file__).parents[3]


# ---- release


@pytest.mark.slow("takes more than a second")
def test_every_due_release_is_one_line_and_a_second_run_has_nothing_to_do(republish, hospital, home):
    shutil.copytree(home, home.parent / "undisturbed")
    make(hospital.series(home.parent / "undisturbed"), THIRD)
    code, out, err = republish("release", hospital.contract, "--home", home, "--through", THIRD)
    assert (code, err) == (0, [])
    assert len(out) == 1
    assert out[0].startswith(f"{THIRD}  published        300 people")
    assert published(home) == published(home.parent / "undisturbed")
    before = everything(home)
    code, out, err = republish("release", hospital.contract, "--home", home, "--through", THIRD)
    assert (code, out, err) == (
        0,
        ["hospital/v1: every release that is due is published, and is as it was published"],
        [],
    )
    after = everything(home)
    assert {name for name in before if before[name] != after[name]} <= {"/history.duckdb"}
    assert before.keys() == after.keys()


@pytest.mark.slow("takes more than a second")
def test_the_first_release_that_cannot_be_made_ends_the_command(republish, hospital, tmp_path):
    home = tmp_path / "home"
    hospital.deliver(SECOND, pl.concat([hospital.snapshot(SECOND)] * 2))
    code, out, err = republish("release", hospital.contract, "--home", home)
    assert code == 2
    assert [line.split()[0] for line in out] == [FIRST]
    assert len(err) == 1
    assert re.match(rf"republish: hospital, release {SECOND}, .*patient_id: 300 of 600 rows repeat", err[0])


@pytest.mark.slow("takes more than a second")
def test_a_refusal_for_privacy_has_its_own_exit_code(republish, hospital, home):
    hospital.declare(principle={"on_value_change": "refuse"})
    before = published(home)
    code, out, err = republish("release", hospital.contract, "--home", home, "--through", THIRD)
    assert (code, out, len(err)) == (3, [], 1)
    assert "on_value_change: refuse" in err[0]
    assert published(home) == before


@pytest.mark.slow("takes more than a second")
def test_a_release_waits_for_what_is_upstream_of_it(republish, hospital, home):
    hospital.declare(upstream=["warehouse/patients"])
    command = ["release", hospital.contract, "--home", home, "--through", THIRD]
    before = published(home)
    code, (line,), err = republish(*command)
    assert (code, err, published(home)) == (0, [], before)
    assert line.startswith(f"{THIRD}  waits for warehouse/patients, which is not materialized for it")
    assert "If you know that the snapshot is complete, release it with --without-upstream" in line
    assert republish(*command, "--strict")[0] == 2

    with dagster_instance(Home(home)) as instance:
        made = dg.AssetMaterialization(dg.AssetKey(["warehouse", "patients"]), partition=THIRD)
        instance.report_runless_asset_event(made)
    code, out, _ = republish(*command)
    assert (code, out[0].split()[:2]) == (0, [THIRD, "published"])


@pytest.mark.slow("takes more than a second")
def test_whoever_knows_that_a_snapshot_is_complete_need_not_wait(republish, hospital, home):
    hospital.declare(upstream=["warehouse/patients"])
    command = ["release", hospital.contract, "--home", home, "--through", THIRD]
    code, out, _ = republish(*command, "--without-upstream")
    assert (code, out[0].split()[:2]) == (0, [THIRD, "published"])


def test_validate_says_what_changed_before_the_next_snapshot_is_there(republish, hospital, home):
    hospital.file(THIRD).unlink()
    hospital.declare(principle={"m": 2, "on_ineligible": "wait"})
    code, out, err = republish("validate", hospital.contract, "--home", home)
    said = "\n".join(out)
    assert (code, err) == (2, [])
    assert "m: 3 -> 2 (weakens what is promised" in said
    assert f"write accept: {{{THIRD}: [m]}}" in said  # in brackets, which are no markup
    hospital.declare(principle={"m": 2, "on_ineligible": "wait"}, accept={THIRD: ["m"]})
    assert republish("validate", hospital.contract, "--home", home)[0] == 0


def test_validate_says_that_there_is_no_home(republish, hospital, tmp_path):
    _, out, _ = republish("validate", hospital.contract, "--home", tmp_path / "nowhere")
    said = f"nothing is published yet; the home will be created at {tmp_path / 'nowhere'}"
    assert said in "\n".join(out)
    assert not (tmp_path / "nowhere").exists()


@pytest.fixture
def broken_algorithm(monkeypatch):
    """A library that fails, and quotes a person in what it says."""

    def release(*_):
        raise ValueError("could not convert P00000001")

    principle = shard.principle_of
    monkeypatch.setattr(shard, "principle_of", lambda contract: replace(principle(contract), release=release))


@pytest.mark.slow("takes more than a second")
@pytest.mark.usefixtures("broken_algorithm")
def test_what_nobody_expected_is_one_line(republish, hospital, home):
    code, out, err = republish("release", hospital.contract, "--home", home, "--through", THIRD)
    assert (code, out) == (1, [])
    assert err == ["republish: unexpected ValueError; run again with --debug to see where"]
    for file in (home / "dagster").rglob("*"):
        assert not file.is_file() or b"P00000001" not in file.read_bytes(), file
    code, _, err = republish("release", hospital.contract, "--home", home, "--through", THIRD, "--debug")
    assert (code, err[0]) == (1, "Traceback (most recent call last):")
    assert any("in make_whole" in line for line in err)


def test_debug_shows_where_something_was_refused(republish, hospital, home):
    hospital.deliver(THIRD, hospital.snapshot(THIRD).drop("age"))
    code, _, err = republish("release", hospital.contract, "--home", home, "--through", THIRD, "--debug")
    assert code == 2
    assert err[0] == "Traceback (most recent call last):"
    assert err[-1].startswith("republish: hospital, release 2024-07-01")


def test_a_disk_that_is_full_is_said(republish, hospital, home, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("republish.orchestration.storage.store.sync", full)
    before = published(home)
    code, _, err = republish("release", hospital.contract, "--home", home, "--through", THIRD)
    assert code != 0
    assert len(err) == 1
    assert "No space left on device. Make room there, and run again: what is published is untouched" in err[0]
    assert published(home) == before
    monkeypatch.undo()
    monkeypatch.setattr(sys, "argv", ["republish", "release", str(hospital.contract), "--home", str(home)])
    make(hospital.series(home), THIRD)
    assert not [*home.rglob("*.partial")]


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_home_that_cannot_be_one(republish, hospital, tmp_path, place):
    (tmp_path / "file").write_text("")
    code, _, err = republish("release", hospital.contract, "--home", tmp_path / place)
    assert code == 2
    assert len(err) == 1
    assert err[0].endswith("by --home")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_home_that_may_not_be_written(republish, hospital, tmp_path):
    (tmp_path / "home").mkdir(mode=0o500)
    code, _, err = republish("release", hospital.contract, "--home", tmp_path / "home")
    assert code == 2
    assert "may not be written. Name another folder by --home" in err[0]


@pytest.mark.parametrize(
    ("words", "said"), [(["nowhere.yaml"], "there is no such file"), (["."], "is a folder, not a YAML file")]
)
def test_a_contract_that_is_not_there(republish, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    code, out, err = republish("release", *words)
    assert (code, out) == (2, [])
    assert said in err[-1]
    assert not [*tmp_path.iterdir()]


def test_a_release_that_is_not_due(republish, hospital, home):
    code, _, err = republish("release", hospital.contract, "--home", home, "--through", "2024-02-30")
    assert code == 2
    assert err[-1].startswith("republish: --through: 2024-02-30 is no release that is due")
    assert f"the nearest are {FIRST} and {SECOND}, due are {FIRST}, {SECOND}, …" in err[-1]


def test_a_release_whose_snapshot_has_not_arrived_waits(republish, hospital, home):
    hospital.file(THIRD).unlink()
    before = published(home)
    waits = f"{THIRD}  waits for its snapshot: {hospital.file(THIRD)}"
    for strict, ends_with in (((), 0), (("--strict",), 2)):
        code, out, err = republish("release", hospital.contract, "--home", home, *strict)
        assert (code, out, err) == (ends_with, [waits], [])
    assert published(home) == before


def test_a_snapshot_under_a_wrong_name_is_named(republish, hospital, home):
    file = hospital.file(THIRD)
    wrong = file.rename(file.with_name(file.name.replace("-", "_")))
    hint = f"no release reads {wrong.name} beside it: is that the one? Rename it"
    for command in ("release", "validate"):
        code, out, _ = republish(command, hospital.contract, "--home", home)
        (line,) = (line for line in out if f"{file}; " in line)
        assert (code, line.split("; ")[1]) == (0, hint)


@pytest.mark.slow("takes more than a second")
def test_releases_that_can_be_made_are_made_before_one_waits(republish, hospital, home):
    code, out, err = republish("release", hospital.contract, "--home", home, "--strict")
    assert (code, err) == (2, [])
    assert [line.split()[0] for line in out] == [THIRD, "2024-10-01"]
    assert "waits for its snapshot" in out[-1]


def test_the_home_may_be_named_by_the_environment_and_paths_be_relative(
    hospital, home, monkeypatch, republish
):
    monkeypatch.chdir(hospital.folder)
    monkeypatch.setenv("REPUBLISH_HOME", "../home")
    code, out, _ = republish("release", "hospital.yaml", "--through", SECOND)
    assert code == 0
    assert "every release that is due is published" in out[0]


@pytest.mark.slow("makes and audits many releases")
def test_another_working_folder_goes_on_with_the_series(hospital, monkeypatch, republish):
    """A second home would have another key, and both publications together give people away."""
    below = hospital.folder / "below"
    below.mkdir()
    monkeypatch.chdir(hospital.folder)
    assert republish("release", "hospital.yaml", "--through", FIRST)[0] == 0
    monkeypatch.chdir(below)
    code, out, _ = republish("release", "../hospital.yaml", "--through", SECOND)
    assert (code, [line.split()[0] for line in out]) == (0, [SECOND])
    assert not [*below.iterdir()]
    home = hospital.folder / "var"
    assert (home / f"published/hospital/v1/{SECOND}").is_dir()
    for command in ("release", "validate"):
        code, _, err = republish(command, "../hospital.yaml", "--home", "second")
        assert code == 2
        assert f"hospital/v1 has releases in another home, {home}" in err[-1]
        assert not [*below.iterdir()]
    (marker,) = hospital.folder.glob(".*.home")
    assert marker.stat().st_mode & 0o777 == 0o600
    shutil.move(home, below / "moved")  # as a whole: followed without a word
    code, out, err = republish("release", "../hospital.yaml", "--home", "moved", "--through", SECOND)
    assert (code, err) == (0, [])
    assert "every release that is due is published" in out[0]


# ---- what is left behind


@pytest.fixture(scope="module")
def one_run(tmp_path_factory):
    """One run of the command as a process of its own, with a key of its own, and without a network."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "hospital").mkdir()
    build(folder / "hospital", releases=2)
    hospital = Hospital(folder / "hospital")
    hospital.deliver(SECOND, pl.concat([hospital.snapshot(SECOND)] * 2))  # the second release is refused
    environment = {name: value for name, value in os.environ.items() if not name.startswith("REPUBLISH_")}
    words = ["release", hospital.contract, "--home", folder / "home"]
    (folder / "sitecustomize.py").write_text(NO_NETWORK)
    paths = f"{folder}:{ROOT}"
    told = subprocess.run(
        [sys.executable, "-m", "republish", *map(str, words)],
        cwd=folder,
        env={**environment, "PYTHONPATH": paths, "NETWORK_LOG": str(folder / "network")},
        capture_output=True,
        text=True,
        check=False,
        umask=0o022,
    )
    return folder, told


NO_NETWORK = """
import os, sys

def hook(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        with open(os.environ["NETWORK_LOG"], "a") as log:
            log.write(f"{event} {arguments}\\n")

sys.addaudithook(hook)
"""


@pytest.mark.slow("makes and audits many releases")
def test_a_run_that_is_refused_tells_what_it_did(one_run):
    _, told = one_run
    assert told.returncode == 2
    assert len(told.stdout.splitlines()) == 2  # the home, and the first release
    assert len(told.stderr.splitlines()) == 1


@pytest.mark.slow("starts a process")
def test_everything_in_a_home_is_its_owners_alone(one_run):
    folder, _ = one_run
    # What is published can be read in a copy; here the home above it lets nobody in.
    assert (folder / "home").stat().st_mode & 0o777 == 0o700
    everything = [folder / "home", *(folder / "home").rglob("*")]
    given = folder / "home/published"
    paths = [path for path in everything if not path.is_relative_to(given)]
    open_to_others = [path for path in paths if path.stat().st_mode & 0o077]
    assert open_to_others == []
    folders = {path.stat().st_mode & 0o777 for path in paths if path.is_dir()}
    files = {path.stat().st_mode & 0o777 for path in paths if path.is_file()}
    assert (folders, files) == ({0o700}, {0o600})


@pytest.mark.slow("starts a process")
def test_no_identifier_or_pseudonym_is_anywhere_but_in_the_private_folder(one_run):
    folder, told = one_run
    assert not IDENTIFIER.search((told.stdout + told.stderr).encode())
    home, hospital = folder / "home", Hospital(folder / "hospital")
    people = pl.read_parquet([*(home / "private").rglob("snapshot.parquet")])
    secrets = [(home / "secret.key").read_bytes().strip(), *people["pseudonym"]]
    secrets += [secret.hex().encode() for secret in secrets[1:]]
    kept = [
        path for path in home.rglob("*") if path.is_file() and "private" not in path.relative_to(home).parts
    ]
    assert {path.relative_to(home).parts[0] for path in kept} >= {"dagster", "published", "history.duckdb"}
    for path in kept:
        content = path.read_bytes()
        assert not hospital.identifiers_in(content), path
        if path.suffix == ".parquet":
            assert not IDENTIFIER.search(str(pl.read_parquet(path).rows()).encode()), path
        assert path.name == "secret.key" or not any(secret in content for secret in secrets), path
    with duckdb.connect(home / "history.duckdb", read_only=True) as history:
        for table in ("releases", "buckets", "software"):
            assert not IDENTIFIER.search(str(history.table(table).fetchall()).encode())


@pytest.mark.slow("starts a process")
def test_nothing_asks_the_network_for_anything(one_run):
    folder, _ = one_run
    assert not (folder / "network").exists(), (folder / "network").read_text()


@pytest.mark.slow("starts a process")
def test_parquet_files_say_nothing_but_their_rows(one_run):
    folder, _ = one_run
    files = [*(folder / "home/published").rglob("*.parquet")]
    assert len(files) == 2
    for file in files:
        written = pq.read_metadata(file)
        assert set(written.metadata or {}) <= {b"ARROW:schema"}
        assert written.created_by.startswith("Polars")
        for group in range(written.num_row_groups):
            for column in range(written.num_columns):
                assert not written.row_group(group).column(column).is_stats_set
        table = pl.read_parquet(file)
        assert table.equals(table.sort(pl.all()))


# ---- validate


def test_validate_leaves_out_what_is_published(republish, hospital, home):
    hospital.file(FIRST).unlink()
    code, out, _ = republish("validate", hospital.contract, "--home", home)
    assert code == 0
    assert [line for line in out if FIRST in line or SECOND in line] == []
    assert [line for line in out if line.endswith("no faults")] == [f"  {THIRD}: 300 people, no faults"]


# ---- verify


def test_verify_a_series_and_a_release(republish, home):
    code, out, err = republish("verify", home / "published/hospital/v1")
    assert (code, err) == (0, [])
    assert out == [
        f"{FIRST}  4 files as in the manifest",
        f"{SECOND}  4 files as in the manifest",
        "2 releases, an unbroken chain",
    ]
    code, out, _ = republish("verify", home / f"published/hospital/v1/{SECOND}")
    assert (code, out) == (0, [f"{SECOND}  4 files as in the manifest"])
    shutil.rmtree(home / f"published/hospital/v1/{SECOND}")
    assert republish("verify", home / "published/hospital/v1")[1][-1] == "1 release, an unbroken chain"


def test_verify_needs_nothing_private(republish, home, tmp_path, monkeypatch):
    monkeypatch.delenv("REPUBLISH_KEY")
    shutil.copytree(home / "published/hospital/v1", tmp_path / "received")
    assert republish("verify", tmp_path / "received")[0] == 0


@pytest.mark.parametrize(
    "folder", ["published/hospital", "published", "", "private", "nowhere", "history.duckdb"]
)
def test_verify_says_what_it_expects(republish, home, folder):
    code, out, err = republish("verify", home / folder)
    assert (code, out, len(err)) == (2, [], 1)
    assert "give the folder of a release (…/hospital/v1/2024-01-01) or of a series" in err[0]
    assert (f"Did you mean {home / 'published/hospital/v1'}?" in err[0]) == (
        folder in {"published/hospital", "published", ""}
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda v1: (v1 / SECOND / "counterfeits.parquet").unlink(),
            "counterfeits.parquet: is in the manifest",
        ),
        (lambda v1: (v1 / SECOND / "note.txt").write_text(""), "note.txt: is not in the manifest"),
        (lambda v1: (v1 / SECOND).rename(v1 / THIRD), f"{THIRD}: its manifest is of release {SECOND}"),
        (lambda v1: shutil.rmtree(v1 / FIRST), f"{SECOND}: does not follow the release before it"),
    ],
)
def test_verify_names_what_was_tampered_with(republish, home, change, said):
    change(home / "published/hospital/v1")
    code, _, err = republish("verify", home / "published/hospital/v1")
    assert code == 2
    assert said in err[0]


@pytest.mark.parametrize("given", [["--report", "report"], ["--public-key", "key.pub"]])
def test_verify_takes_a_report_and_a_key_together(republish, home, given):
    code, out, err = republish("verify", home / "published/hospital/v1", *given)
    assert (code, out) == (2, [])
    assert err == ["republish: --report and --public-key belong together: give both, or neither"]


def test_verify_says_which_report_is_not_there(republish, home, tmp_path):
    (tmp_path / "key.pub").write_text("")
    given = ["--report", tmp_path, "--public-key", tmp_path / "key.pub"]
    code, _, err = republish("verify", home / "published/hospital/v1", *given)
    assert (code, len(err)) == (2, 1)
    assert "key.pub: is no public key in PEM; take it from the private key with: openssl pkey" in err[0]


# ---- words


def test_without_arguments_it_says_what_it_is(republish):
    _, out, err = republish()
    text = "\n".join(out + err)
    assert "Publish a table of people again and again" in text
    for command in ("release", "validate", "demo", "ui", "verify", "audit"):
        assert re.search(rf"^  {command}  +\w.*[^.]\.$", text, re.MULTILINE), command


@pytest.mark.parametrize("command", ["release", "validate", "demo", "ui", "verify", "audit"])
def test_every_command_explains_itself(republish, command):
    code, out, _ = republish(command, "--help")
    assert code == 0
    assert out[0].startswith(f"Usage: republish {command}")
    assert len(out) > 8


# ---- demo and ui


@pytest.mark.slow("makes and audits many releases")
def test_the_demo_and_a_second_time(republish, tmp_path, monkeypatch):
    small = functools.partial(demo.write_hospital, releases=2, patients=2000)
    monkeypatch.setattr(demo, "write_hospital", small)
    code, out, err = republish("demo", "--home", tmp_path / "demo home")
    assert (code, err) == (0, [])
    assert [line.split()[0] for line in out[:2]] == [FIRST, SECOND]
    assert "waits for its snapshot" in out[2]  # the hospital of this test ends before its contract does
    assert out[-3].endswith("demo home/published/hospital/v1")
    assert out[-1].endswith("republish ui --home '" + str(tmp_path / "demo home") + "'")
    told = ["Without republish", "With republish", "Counterfeits", "Returns", "Changes"]
    assert [line.split(":")[0] for line in out[4:9]] == told
    code, again, _ = republish("demo", "--home", tmp_path / "demo home")
    assert code == 0
    assert again == out[2:]


DAEMON = "republish.orchestration.dagster.daemon"


@pytest.fixture
def started(monkeypatch):
    """What `republish ui` begins, each by its words; nothing of it is begun."""
    begun = []

    @contextmanager
    def pages(home, workspace, addresses, *, read_only):
        begun.append((workspace.name, sorted(addresses), read_only))
        yield "pages"

    def serve(app, port, daemon):
        begun.append((app, port, *daemon[3:4]))

    monkeypatch.setattr(webserver, "pages", pages)
    monkeypatch.setattr(webserver, "serve", serve)
    monkeypatch.setattr(os, "execv", lambda _, words: begun.append(words[3]))
    monkeypatch.setattr(os, "chdir", lambda _: None)
    monkeypatch.setenv("DAGSTER_HOME", "")
    return begun


def test_the_ui_is_dagster_in_the_home(republish, tmp_path, started):
    code, out, _ = republish("ui", "--home", tmp_path / "home", "--port", 3456)
    assert (code, len(out)) == (0, 1)
    assert started == [("workspace.yaml", [], False), ("pages", 3456, DAEMON)]
    assert os.environ["DAGSTER_HOME"] == str(tmp_path / "home/dagster")
    assert "enabled: false" in (tmp_path / "home/dagster/dagster.yaml").read_text()


def test_the_ui_prints_its_token_to_a_terminal_and_to_no_journal(republish, tmp_path, started, monkeypatch):
    _, (line,), _ = republish("ui", "--home", tmp_path / "home", "--only", "webserver")
    file = tmp_path / "home/dagster/pages.token"
    token = file.read_text().strip()
    assert str(file) in line
    assert token not in line
    assert started[1] == ("pages", 3000)
    monkeypatch.setattr(type(terminal.out), "is_terminal", True)
    _, (line,), _ = republish("ui", "--home", tmp_path / "home")
    assert f" http://127.0.0.1:3000/?token={token}, " in line


@pytest.fixture
def in_its_folder(hospital, monkeypatch):
    """The checkout may have a home of its own, of make demo. Where `started` is asked for, nothing moves."""
    monkeypatch.chdir(hospital.folder)


@pytest.mark.slow("starts a daemon or a server")
def test_the_ui_takes_a_contract_for_its_home(republish, hospital, in_its_folder, started):
    code, _, err = republish("ui", hospital.contract, "--only", "daemon")
    assert (code, err) == (0, [])
    assert os.environ["DAGSTER_HOME"] == str(hospital.folder / "var/dagster")


@pytest.mark.parametrize(
    ("command", "said"),
    [("report", "republish audit CONTRACT --out FOLDER writes it"), ("publish", "it is republish release")],
)
def test_a_command_of_another_name_is_named(republish, command, said):
    code, _, err = republish(command, "clinic.yaml")
    assert (code, err[-1]) == (2, f"Error: No such command '{command}': {said}.")


def test_the_daemon_alone_has_no_pages(republish, tmp_path, started):
    republish("ui", "--home", tmp_path / "home", "--only", "daemon")
    assert started == [DAEMON]


def test_the_ui_is_told_of_proxies(republish, tmp_path, started, monkeypatch):
    given = ["--address", "https://A.example.org/", "--address", "https://b.example:443", "--read-only"]
    republish("ui", "--home", tmp_path / "home", *given)
    assert started[0] == ("workspace.yaml", ["https://a.example.org", "https://b.example"], True)
    monkeypatch.setenv("REPUBLISH_UI_ADDRESS", "https://c.example https://d.example:8443")
    republish("ui", "--home", tmp_path / "home")
    assert started[2][1] == ["https://c.example", "https://d.example:8443"]


@pytest.mark.parametrize("address", ["http://a.example", "a.example", "https://a.example/x", "https://*"])
def test_the_ui_is_told_of_no_proxy_that_browsers_reach_in_the_open(republish, tmp_path, started, address):
    code, _, err = republish("ui", "--home", tmp_path / "home", "--address", address)
    assert (code, started) == (2, [])
    assert "https://dagster.example.org, without a path" in " ".join(err)


def test_the_ui_says_that_its_port_is_taken(republish, tmp_path, started):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        code, out, err = republish("ui", "--home", tmp_path / "home", "--port", port)
    assert (code, out, len(err), started) == (2, [], 1, [])
    assert f"can't listen on 127.0.0.1:{port}: address already in use" in err[0]
    assert f"choose another port: republish ui --port {port + 1}" in err[0]


def test_the_version_is_one_line(republish):
    code, (line,), errors = republish("--version")
    assert (code, errors) == (0, [])
    assert re.fullmatch(r"republish \d+\.\d+\.\d+", line)
