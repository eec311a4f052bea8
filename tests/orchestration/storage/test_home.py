"""The publisher's folder: for its owner alone, and its files whole or not there."""

import json
import os
import resource
import signal
import subprocess
import sys
from contextlib import contextmanager
from copy import copy
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from republish.anonymize.errors import HomeError
from republish.orchestration.storage import home as homes
from republish.orchestration.storage.home import Home, only_for_the_owner, private_folder, public_folder
from republish.orchestration.storage.store import (
    clear_partial,
    read_json,
    sha256,
    write_copy,
    write_folder,
    write_json,
    write_table,
)

ROOT = Path(__file__).parents[3]


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct)
def umask(request):
    former = os.umask(request.param)
    yield
    os.umask(former)


def modes(folder):
    return {path.name: path.stat().st_mode & 0o777 for path in [folder, *folder.rglob("*")]}


@pytest.mark.usefixtures("umask")
def test_under_every_umask_files_are_their_owners_alone(tmp_path):
    home = Home.at(tmp_path / "new/home")
    write_json(home.path / "a.json", {"a": 1})
    write_table(home.path / "below/a.parquet", pl.DataFrame({"a": [1]}))
    tables = dict.fromkeys(["t.parquet", "m/part-0000.parquet"], home.path / "below/a.parquet")
    write_folder(home.path / "published/v1", tables, lambda _: {})
    assert modes(tmp_path / "new") == {
        **dict.fromkeys(["new", "home", "below", "published"], 0o700),
        **dict.fromkeys(["a.json", "a.parquet"], 0o600),
        # A copy of what is published is to be read by others; the home above it is its owner's alone.
        **dict.fromkeys(["v1", "m"], 0o755),
        **dict.fromkeys(["t.parquet", "part-0000.parquet", "manifest.json"], 0o644),
    }


def test_a_key_is_made_once_for_its_owner_alone(tmp_path, monkeypatch):
    monkeypatch.delenv("REPUBLISH_KEY")
    home = Home.at(tmp_path / "home")
    key = home.key()
    assert len(key) == 64
    assert (home.path / "secret.key").stat().st_mode & 0o777 == 0o600
    assert Home.at(tmp_path / "home").key() == key
    assert Home.at(tmp_path / "other").key() != key


def test_a_key_that_another_process_made_meanwhile_is_left_as_it_is(tmp_path, monkeypatch):
    @contextmanager
    def waited_for_another(folder, *_, **__):
        (folder / "secret.key").write_text("made by another process\n")
        yield

    monkeypatch.delenv("REPUBLISH_KEY")
    monkeypatch.setattr("republish.orchestration.storage.home.only_one", waited_for_another)
    assert Home.at(tmp_path / "home").key() == b"made by another process"


def test_a_given_key_is_not_written_down(tmp_path, monkeypatch):
    monkeypatch.setenv("REPUBLISH_KEY", "sixteen letters!\n")
    assert Home.at(tmp_path / "home").key() == b"sixteen letters!"
    assert not [*(tmp_path / "home").iterdir()]


def test_a_key_must_be_long_enough(tmp_path, monkeypatch):
    monkeypatch.setenv("REPUBLISH_KEY", "fifteen letters")
    with pytest.raises(HomeError, match="REPUBLISH_KEY: the secret key needs at least 16 characters"):
        Home.at(tmp_path / "home").key()


def test_a_home_is_where_it_is_said_to_be(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert Home.named().path == tmp_path / "var"
    monkeypatch.setenv("REPUBLISH_HOME", "relative/home")
    assert Home.named().path == tmp_path / "relative/home"
    assert Home.named(Path("given")).path == tmp_path / "given"
    assert Home.named(None, tmp_path / "default").path == tmp_path / "relative/home"
    monkeypatch.delenv("REPUBLISH_HOME")
    assert Home.named(None, tmp_path / "default").path == tmp_path / "default"


def test_folders_that_are_there_keep_their_modes(tmp_path):
    (tmp_path / "mine").mkdir(mode=0o755)
    before = (tmp_path / "mine").stat().st_mode
    private_folder(tmp_path / "mine/private")
    assert (tmp_path / "mine").stat().st_mode == before


def test_what_a_started_process_makes_is_its_owners_alone_too(tmp_path):
    former = os.umask(0o022)
    try:
        only_for_the_owner()
        subprocess.run([sys.executable, "-c", "open('made', 'w')"], cwd=tmp_path, check=True)
    finally:
        os.umask(former)
    assert (tmp_path / "made").stat().st_mode & 0o777 == 0o600


def test_the_same_table_has_the_same_bytes(tmp_path):
    table = pl.DataFrame({"a": [1, 2, None], "b": ["x", "y", "z"]})
    for name in ("one", "two"):
        write_table(tmp_path / name, table.clone())
    assert sha256(tmp_path / "one") == sha256(tmp_path / "two")
    assert pl.read_parquet(tmp_path / "one").equals(table)


@pytest.mark.slow("takes more than a second")
def test_json_has_the_same_bytes_under_every_locale(tmp_path):
    code = (
        "import sys; from pathlib import Path; from republish.orchestration.storage.store import write_json\n"
        "write_json(Path(sys.argv[1]), {'product': 'Kr\\u00e4uter'})"
    )
    for locale in ("C.UTF-8", "POSIX"):
        environment = {**os.environ, "LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
        command = [sys.executable, "-c", code, tmp_path / locale]
        subprocess.run(command, cwd=ROOT, env=environment, check=True)
    assert (tmp_path / "POSIX").read_bytes() == (tmp_path / "C.UTF-8").read_bytes()
    assert read_json(tmp_path / "POSIX") == {"product": "Kräuter"}


@pytest.mark.parametrize("content", [b"", b"[1]", b"{", b"\xff", None])
def test_what_is_no_json_object_is_none(tmp_path, content):
    if content is not None:
        (tmp_path / "file").write_bytes(content)
    assert read_json(tmp_path / "file") is None
    assert read_json(tmp_path / "file/below") is None


@pytest.fixture
def little_space():
    """Files may be 4,000 bytes long, as if the disk were full after that."""
    former = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, former[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, former)
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.usefixtures("little_space")
@pytest.mark.parametrize(
    "write",
    [
        lambda file: write_table(file, pl.DataFrame({"a": np.random.default_rng(1).random(9999)})),
        lambda file: write_json(file, {"a": "x" * 9999}),
    ],
    ids=["table", "json"],
)
def test_a_file_that_does_not_fit_is_said_and_what_was_there_stays(tmp_path, write):
    file = tmp_path / "file"
    write_json(file, {"before": 1})
    with pytest.raises(HomeError, match=f"{file}: can't be written: File too large"):
        write(file)
    assert json.loads(file.read_text()) == {"before": 1}
    assert [*tmp_path.iterdir()] == [file]


def test_a_folder_that_does_not_fit_does_not_appear(tmp_path, request):
    originals = {"small": b"x", "large": b"x" * 9999}
    for name, content in originals.items():
        (tmp_path / name).write_bytes(content)
    request.getfixturevalue("little_space")
    (tmp_path / "published").mkdir()
    files = {name: tmp_path / name for name in originals}
    with pytest.raises(HomeError, match="can't be written"):
        write_folder(tmp_path / "published/v1", files, lambda _: {})
    assert not (tmp_path / "published/v1").exists()
    clear_partial(tmp_path / "published")
    assert not [*(tmp_path / "published").iterdir()]


def test_a_folder_that_was_made_for_a_file_that_does_not_fit_is_gone(tmp_path, request):
    request.getfixturevalue("little_space")
    with pytest.raises(HomeError, match="File too large"):
        write_json(tmp_path / "new/file", {"a": "x" * 9999})
    assert [*tmp_path.iterdir()] == []


def test_a_copy_is_written_only_where_it_differs(tmp_path):
    original = tmp_path / "original"
    original.write_text("one")
    copy = tmp_path / "copy"
    write_copy(copy, original)
    written = copy.stat()
    write_copy(copy, original)
    assert copy.stat().st_ino == written.st_ino
    original.write_text("two")
    write_copy(copy, original)
    assert copy.read_text() == "two"


@pytest.mark.usefixtures("umask")
def test_what_is_published_can_be_read_in_a_copy_and_the_home_by_its_owner_alone(tmp_path):
    home = private_folder(tmp_path / "home")
    (home / "published").mkdir(mode=0o700)  # as an older version made it
    public_folder(home / "published/hospital", home)
    assert modes(home) == {"home": 0o700, "published": 0o755, "hospital": 0o755}


@pytest.mark.parametrize(("of_home", "of_file"), [(0o2750, 0o640), (0o700, 0o600)])
def test_a_process_that_a_home_is_sent_to_shares_what_it_writes_with_the_group_alike(
    tmp_path, monkeypatch, of_home, of_file
):
    (tmp_path / "home").mkdir()
    (tmp_path / "home").chmod(of_home)
    home = Home(tmp_path / "home", is_rehearsal=True)
    monkeypatch.setattr(homes, "_shared", set())  # as in another process
    sent = copy(home)  # as pickle does
    assert sent == home
    write_json(sent.path / "private/one.json", {})
    assert (tmp_path / "home/private/one.json").stat().st_mode & 0o777 == of_file
