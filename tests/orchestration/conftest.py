"""A small hospital to be released, and a PostgreSQL server to read snapshots from."""

import base64
import datetime as dt
import hmac
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from republish.orchestration.cli import main as cli
from tests.google import google
from tests.hospital import KEY, RELEASES, Hospital, build, make
from tests.hospital import only_verdicts as verdicts_alone
from tests.once import (  # noqa: F401 - fixtures of every test below
    commands_are_built_once,
    dagster_repeats_nothing,
    what_is_met_is_seen_without_asking,
)

os.environ["REPUBLISH_KEY"] = KEY  # everywhere, also in what several tests have in common


@pytest.fixture(autouse=True)
def _no_home_is_named(monkeypatch):
    """But the one a test names."""
    monkeypatch.delenv("REPUBLISH_HOME", raising=False)


@pytest.fixture(scope="session")
def _built(tmp_path_factory):
    """The hospital, and a home in which its first two releases are published."""
    folder = tmp_path_factory.mktemp("built")
    (folder / "hospital").mkdir()
    hospital = build(folder / "hospital")
    make(hospital.series(folder / "home"), *RELEASES[:2])
    return folder


@pytest.fixture
def hospital(_built, tmp_path):
    """A hospital of the test's own: contract and three snapshots."""
    shutil.copytree(_built / "hospital", tmp_path / "hospital")
    return Hospital(tmp_path / "hospital")


@pytest.fixture
def home(_built, tmp_path):
    """A home of the test's own, in which the first two of three releases are published."""
    shutil.copytree(_built / "home", tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def series(hospital, home):
    """The hospital's series, two releases long."""
    return hospital.series(home)


@pytest.fixture
def only_verdicts():
    """For audits of which the verdict alone is asked."""
    with verdicts_alone():
        yield


@pytest.fixture
def republish(monkeypatch, capfd):
    """Run a command in this process: exit code, output lines, error lines.

    The first line of `release` and `demo`, which names the home, is left out, and is its `home_line`.
    """

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["republish", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        told = capfd.readouterr()
        assert "\x1b" not in told.out + told.err
        lines = told.out.splitlines()
        is_named = words[:1] in (("release",), ("demo",)) and lines and " is published in " in lines[0]
        run.home_line = lines.pop(0) if is_named else None
        return ended.value.code or 0, lines, told.err.splitlines()

    return run


@pytest.fixture(scope="session")
def postgresql():
    """The address of a PostgreSQL database in which tests may make tables; its password is in PGPASSWORD.

    `REPUBLISH_TEST_POSTGRES` names one, `postgresql://user@host/database`. Without it a cluster is made in
    a temporary folder, on a free loopback port; without PostgreSQL's programs the test is skipped.
    """
    if given := os.environ.get("REPUBLISH_TEST_POSTGRES"):
        yield given
        return
    initdb, pg_ctl = _program("initdb"), _program("pg_ctl")
    if not (initdb and pg_ctl):
        pytest.skip("no PostgreSQL here: neither REPUBLISH_TEST_POSTGRES nor the program initdb")
    with tempfile.TemporaryDirectory(prefix="republish-pg-") as folder:
        owner = _owner()
        shutil.chown(folder, owner)
        cluster, port = f"{folder}/cluster", _free_port()
        options = f"-k {folder} -h 127.0.0.1 -p {port} -F"
        (password := Path(folder, "password")).write_text("open-sesame\n")
        shutil.chown(password, owner)  # and for nobody else, whatever the umask is
        options_of_it = ["-A", "scram-sha-256", f"--pwfile={password}", "-N", "-E", "UTF8", "--locale=C"]
        _run(owner, initdb, "-D", cluster, "-U", "republish", *options_of_it)
        _run(owner, pg_ctl, "-D", cluster, "-w", "-l", f"{folder}/log", "-o", options, "start")
        try:
            with pytest.MonkeyPatch.context() as environment:
                environment.setenv("PGPASSWORD", "open-sesame")
                yield f"postgresql://republish@127.0.0.1:{port}/postgres"
        finally:
            _run(owner, pg_ctl, "-D", cluster, "-m", "immediate", "stop")


@pytest.fixture(scope="session")
def _object_store():
    """The address of a server on this machine that speaks S3's language: moto's."""
    for module in ("obstore", "boto3"):
        pytest.importorskip(module, reason=f"needs {module}: pip install 'republish[stores]'")
    pytest.importorskip("moto.server", reason="needs moto, which stands in for S3")
    port = _free_port()
    # A process of its own: deltalake keeps all threads of a process waiting while it waits for an answer.
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        while server.poll() is None and not _answers(port):
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
        server.terminate()


@pytest.fixture
def bucket(_object_store, monkeypatch, tmp_path):
    """A bucket of the test's own, as boto3 sees it; its credentials are in a profile."""
    import boto3

    (tmp_path / "credentials").write_text(
        "[of-a-test]\naws_access_key_id = somebody\naws_secret_access_key = open-sesame\n"
    )
    environment = {
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"),
        "AWS_PROFILE": "of-a-test",
        "AWS_ENDPOINT_URL": _object_store,
        "AWS_ALLOW_HTTP": "true",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return boto3.resource("s3").create_bucket(Bucket=f"b-{uuid.uuid4()}")


@pytest.fixture(scope="session")
def _azurite(tmp_path_factory):
    """The address of a server on this machine that speaks Azure's language: azurite, from npm."""
    pytest.importorskip("obstore", reason="needs obstore: pip install 'republish[stores]'")
    if (program := shutil.which("azurite-blob")) is None:
        pytest.skip("needs azurite, which stands in for Azure: npm install --global azurite")
    port, folder = _free_port(), tmp_path_factory.mktemp("azurite")
    options = ["--blobHost", "127.0.0.1", "--blobPort", str(port), "--skipApiVersionCheck", "--silent"]
    command = [program, "--location", str(folder), *options, "--disableTelemetry"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        until = time.monotonic() + 30
        while server.poll() is None and not _answers(port) and time.monotonic() < until:
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/{AZURITE[0]}"
        server.terminate()


AZURITE = (
    "devstoreaccount1",
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
)
"""The account that every azurite has, and its key, which is printed in its documentation."""


@pytest.fixture
def container(_azurite, monkeypatch):
    """The name of a container of the test's own."""
    account, key = AZURITE
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", account)
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", key)
    monkeypatch.setenv("AZURE_STORAGE_ENDPOINT", _azurite)
    monkeypatch.setenv("AZURE_ALLOW_HTTP", "true")
    name = f"c-{uuid.uuid4()}"
    said = {"x-ms-date": f"{dt.datetime.now(dt.UTC):%a, %d %b %Y %H:%M:%S GMT}", "x-ms-version": "2021-08-06"}
    lines = ["PUT", *[""] * 11, *(f"{header}:{value}" for header, value in said.items())]
    lines += [f"/{account}/{account}/{name}", "restype:container"]
    signed = hmac.digest(base64.b64decode(key), "\n".join(lines).encode(), "sha256")
    said |= {"Authorization": f"SharedKey {account}:{base64.b64encode(signed).decode()}"}
    asked = Request(f"{_azurite}/{name}?restype=container", method="PUT", headers=said)  # noqa: S310
    urlopen(asked, timeout=10).close()  # noqa: S310
    return name


@pytest.fixture
def bucket_of_google(monkeypatch, tmp_path):
    """The name of a bucket of the test's own, on a server that stands in for Google's."""
    pytest.importorskip("obstore", reason="needs obstore: pip install 'republish[stores]'")
    with google(tmp_path / "account.json"):
        monkeypatch.setenv("GOOGLE_SERVICE_ACCOUNT", str(tmp_path / "account.json"))
        yield "bucket"


def _program(name):
    """Where Debian puts a program of PostgreSQL's, if not on the path."""
    found = shutil.which(name) or max(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), default=None)
    return found and str(found)


def _owner():
    """PostgreSQL refuses to be run by root."""
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid()).pw_name
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        return "nobody"


def _free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def _answers(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def _run(owner, *command):
    user = owner if os.geteuid() == 0 else None
    subprocess.run(command, user=user, cwd="/", check=True, stdout=subprocess.DEVNULL)
