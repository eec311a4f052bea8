"""What works with the packages of requirements-read.lock alone, and of requirements-audit.lock."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from republish.orchestration.extras import AUDIT
from tests.hospital import RELEASES, build, make
from tests.orchestration.audit.published_folders import write_series
from tests.orchestration.audit.test_signature import write_private, write_public

pytestmark = pytest.mark.slow("starts processes")

ROOT = Path(__file__).parents[2]
LOCK, READING = "requirements-audit.lock", "requirements-read.lock"
LOCKS = ("requirements.lock", "requirements-dev.lock", LOCK, READING)
LOWEST = "requirements-lowest.lock"

ONLY_THE_LOCKED = """
import importlib.abc, importlib.metadata, os, re, sys

locked = set(os.environ["LOCKED"].split())
normal = lambda name: re.sub("[-_.]+", "-", name).lower()
elsewhere = {
    module
    for module, names in importlib.metadata.packages_distributions().items()
    if not {normal(name) for name in names} & locked and module != "republish"
}
assert {"dagster", "great_expectations", "hypothesis"} <= elsewhere

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in elsewhere:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
"""
RUN = """
import republish.orchestration.cli.main as cli
for words in {commands!r}:
    sys.argv = ["republish", *words]
    try:
        cli.main()
    except SystemExit as end:
        assert not end.code, (words[0], end.code)
"""


def pinned(lock):
    """The packages of a lock, and their versions. Those that only Windows needs are left out."""
    lines = re.findall(r"^([a-z0-9-]+)==([^ ]+)(.*)$", (ROOT / lock).read_text(), flags=re.MULTILINE)
    return {name: version for name, version, marker in lines if "== 'win32'" not in marker}


def locked(lock=LOCK):
    return set(pinned(lock))


def python(script, lock=LOCK):
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, "LOCKED": " ".join(sorted(locked(lock)))},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def series(tmp_path):
    write_series(tmp_path)
    key = Ed25519PrivateKey.generate()
    write_private(tmp_path / "key.pem", key)
    write_public(tmp_path / "key.pub", key)
    return tmp_path


def test_an_audit_is_made_signed_and_verified_with_the_small_install(series):
    published, report = str(series / "published/hospital/v1"), str(series / "report")
    told = ["--truth", f"{series}/truth", "--contract", f"{series}/contract.yaml", "--out", report]
    commands = [
        ["audit", published, *told, "--sign", f"{series}/key.pem"],
        ["verify", published],
        ["verify", published, "--report", report, "--public-key", f"{series}/key.pub"],
    ]
    told = python(ONLY_THE_LOCKED + RUN.format(commands=commands))
    assert told.returncode == 0
    assert all(line.startswith("attacking ") for line in told.stderr.splitlines())
    assert "3 releases as audited on" in told.stdout


def test_people_are_counted_and_copied_with_what_is_installed_for_reading(tmp_path):
    series = build(tmp_path, 1).series(tmp_path / "var")
    folder = str(make(series, RELEASES[0]).published(RELEASES[0]))
    commands = [
        ["estimate", folder, "--where", "age >= 40", "--by", "disease"],
        ["copies", folder, f"{tmp_path}/copies", "--copies", "2"],
    ]
    told = python(ONLY_THE_LOCKED + RUN.format(commands=commands), READING)
    assert told.returncode == 0, told.stderr
    assert "standard error" in told.stdout
    assert "2 copies" in told.stdout
    told = python(
        f"{ONLY_THE_LOCKED}\nimport republish\nassert republish.read({folder!r}).tables['microdata'].height\n"
        f"assert republish.estimate({folder!r}, 'age >= 40').height\nrepublish.audit",
        READING,
    )
    assert told.stderr.splitlines()[-1] == (
        "ImportError: republish.audit: scipy is not installed, which attacking or simulating releases takes:"
        " pip install 'republish[audit]'"
    )


def test_a_program_makes_and_reads_releases_with_the_small_install():
    told = python(
        f"{ONLY_THE_LOCKED}\nimport json\nfrom docs.notebook import NOTEBOOK, with_outputs\n"
        "with_outputs(json.loads(NOTEBOOK.read_text()))\nprint('dagster' in sys.modules)"
    )
    assert told.stdout.splitlines()[-1:] == ["False"], told.stderr
    told = python(f"{ONLY_THE_LOCKED}\nimport republish\nrepublish.ReleaseProduct")
    assert told.stderr.splitlines()[-1] == (
        "ImportError: republish.ReleaseProduct: dagster is not installed, which publishing releases takes:"
        " pip install 'republish[publish]'"
    )


def test_what_the_small_install_cannot_do_is_said_in_one_line(series):
    contract = series / "scheduled.yaml"
    contract.write_text(f'{(series / "contract.yaml").read_text()}\nreleases: {{cron: "0 0 1 1 *"}}\n')
    words = ["validate", str(contract)]
    told = python(
        ONLY_THE_LOCKED
        + f"import republish.orchestration.cli.main as cli\nsys.argv[1:] = {words!r}\ncli.main()"
    )
    assert told.returncode == 1
    (line,) = told.stderr.splitlines()
    assert line.startswith(
        "republish: croniter is not installed, which publishing releases takes:"
        " pip install 'republish[publish]'"
    )


def test_a_help_text_is_there_without_anything_that_takes_long_to_import():
    slow = ("polars", "numba", "scipy", "duckdb", "dagster")
    told = python(
        "import sys\nimport republish.orchestration.cli.main as cli\n"
        "sys.argv = ['republish', 'audit', '--help']\ntry:\n"
        f"    cli.main()\nexcept SystemExit:\n    print([name for name in {slow} if name in sys.modules])"
    )
    assert told.stdout.splitlines()[-1] == "[]"


def test_the_small_install_asks_for_nothing_that_the_whole_one_does_not():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = declared["project"]["optional-dependencies"]
    asked = {name: {re.split("[><]", one)[0] for one in extras[name]} for name in ("audit", "publish")}
    assert {"dagster", "great-expectations", "republish[audit]"} < asked["publish"]
    assert asked["audit"] == set(AUDIT)
    page = (ROOT / "docs/how-to/audit.md").read_text()
    for install, lock in (("pip install republish", READING), ("republish[audit]", LOCK)):
        assert re.search(rf"^\| `{re.escape(install)}` .*\| {len(locked(lock))} \|", page, flags=re.MULTILINE)
    whole = pinned("requirements.lock")
    assert re.search(rf"^\| `republish\[publish\]` .*\| {len(whole)} \|", page, flags=re.MULTILINE)
    assert pinned(READING).items() < pinned(LOCK).items()
    assert pinned(LOCK).items() < whole.items()


@pytest.mark.parametrize("lock", [*LOCKS, LOWEST])
def test_a_lock_is_hashed_and_names_no_index(lock):
    text = (ROOT / lock).read_text()
    assert "--universal --python-version 3.11" in text
    assert not re.search(r"://|^-|@", text, flags=re.MULTILINE)
    pins = re.findall(r"^\S+==.*\n.*", text, flags=re.MULTILINE)
    assert pins
    assert all("--hash=sha256:" in pin for pin in pins)


def test_the_locks_agree():
    versions = {}
    for lock in LOCKS:
        for name, version in pinned(lock).items():
            assert versions.setdefault(name, version) == version, name


def test_the_lowest_dependencies_are_the_lower_ends_that_are_declared():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = declared["project"]["optional-dependencies"]
    groups = [declared["project"]["dependencies"], extras["audit"], extras["publish"]]
    ends = dict(re.split(">=|,", one)[:2] for group in groups for one in group if ">=" in one)
    lowest = pinned(LOWEST)
    assert {
        name: end for name, end in ends.items() if not (lowest[name] + ".0.0").startswith(f"{end}.")
    } == {}


def test_what_develops_is_not_installed_for_the_demo():
    assert not {"pytest", "hypothesis", "mypy", "ruff", "scikit-learn"} & set(pinned("requirements.lock"))
