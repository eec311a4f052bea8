"""A home that a team shares: one account releases, another audits, and nobody else reads the key.

Each command runs as another account, as it would for a team; only root can start them.
"""

import json
import os
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest
from numba.core.caching import UserProvidedCacheLocator

from tests.hospital import RELEASES, ROOT, build

PYTHON = shutil.which(f"python3.{sys.version_info.minor}", path="/usr/bin:/usr/local/bin")
"""An interpreter that every account may run: that of the tests may lie where others may not enter."""
pytestmark = [
    pytest.mark.slow("starts processes of several users"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can become other accounts"),
    pytest.mark.skipif(PYTHON is None, reason="no Python of this version that other accounts may run"),
]
FIRST, SECOND, _ = RELEASES
TEAM = 64_100
RELEASER, AUDITOR, STRANGER = 64_001, 64_002, 64_003


@pytest.fixture(scope="module")
def scratch():
    """Where each account has compiled kernels, which takes longer than all else: those of these tests."""
    kernels = ROOT / "anonymize/kernels"
    of_kernels = UserProvidedCacheLocator.get_suitable_cache_subpath(kernels / "any.py")
    with tempfile.TemporaryDirectory(prefix="republish-scratch-") as folder:
        Path(folder).chmod(0o777)
        for account in (RELEASER, AUDITOR, STRANGER):
            shutil.copytree(kernels / "__pycache__", own := f"{folder}/{account}/{of_kernels}")
            for path in (Path(own).parent, Path(own), *Path(own).iterdir()):
                shutil.chown(path, account, account)
        yield Path(folder)


@pytest.fixture
def place(scratch):
    """A folder that every account may enter, with a hospital and an empty home that is the team's."""
    with tempfile.TemporaryDirectory(prefix="republish-team-") as folder:
        place = Path(folder)
        place.chmod(0o755)
        (place / "caches").symlink_to(scratch)
        for name in ("hospital", "home", "report", "scratch"):
            (place / name).mkdir()
        build(place / "hospital")
        for path in [place / "hospital", *(place / "hospital").rglob("*")]:
            shutil.chown(path, RELEASER, TEAM)
            path.chmod(0o750 if path.is_dir() else 0o640)
        shutil.chown(place / "home", RELEASER, TEAM)
        (place / "home").chmod(0o2750)
        shutil.chown(place / "report", AUDITOR, AUDITOR)
        (place / "scratch").chmod(0o777)
        yield place


def run(place, account, *words, code=0):
    """What a command of an account says."""
    team = [] if account == STRANGER else [TEAM]
    cache, packages = f"{place / 'caches'}/{account}", sysconfig.get_path("purelib")
    known = {
        "PATH": os.environ["PATH"],
        "HOME": cache,  # where libraries cache what they compile
        "NUMBA_CACHE_DIR": cache,
        "PYTHONPATH": f"{ROOT}:{packages}",
    }
    ended = subprocess.run(
        [PYTHON, "-m", "republish", *map(str, words)],
        user=account, group=account, extra_groups=team, env=known, cwd=place / "scratch", input="P00512153\n",
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == code, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


def release(place, through):
    return run(
        place,
        RELEASER,
        "release",
        place / "hospital/hospital.yaml",
        "--home",
        place / "home",
        "--through",
        through,
    )


def audit(place, account=AUDITOR, code=0):
    published, private = (place / f"home/{kind}/hospital/v1" for kind in ("published", "private"))
    contract, truth = place / "hospital/hospital.yaml", place / "hospital/snapshots/hospital"
    words = ["--contract", contract, "--truth", truth, "--private", private, "--out", place / "report"]
    return run(place, account, "audit", published, *words, code=code)


def modes(home):
    return {f"{path.relative_to(home)}": stat.S_IMODE(path.stat().st_mode) for path in home.rglob("*")}


def test_one_releases_and_forgets_another_audits_and_nobody_else_reads_the_key(place):
    home, contract = place / "home", place / "hospital/hospital.yaml"
    release(place, FIRST)
    audit(place)
    assert json.loads((place / "report/audit.json").read_text())["promises"]
    assert "an unbroken chain" in run(place, AUDITOR, "verify", home, "--log")
    run(place, AUDITOR, "verify", home / "published/hospital/v1")
    found = modes(home)
    assert found["secret.key"] == 0o600
    assert not any(mode & 0o022 for mode in found.values())
    assert not any(mode & 0o007 for name, mode in found.items() if not name.startswith("published"))

    assert "this account may not read it" in run(
        place, AUDITOR, "person", contract, "--home", home, "--out", place / "report/p", code=2
    )
    run(place, AUDITOR, "release", contract, "--home", home, code=2)
    assert modes(home) == found
    for account in (AUDITOR, STRANGER):
        reads = subprocess.run(
            ["cat", home / "secret.key"],
            user=account,
            group=account,
            extra_groups=[TEAM] if account == AUDITOR else [],
            capture_output=True,
            check=False,
        )
        assert (reads.returncode, reads.stdout) == (1, b"")
    assert run(place, STRANGER, "verify", home / "published/hospital/v1", code=1)

    who = place / "scratch/who"
    who.write_text("P00512153\n")
    who.chmod(0o644)
    run(place, RELEASER, "forget", contract, "--home", home, "--identifiers", who, "--delete")
    release(place, SECOND)
    snapshot = home / f"private/hospital/v1/{SECOND}/snapshot.parquet"
    assert snapshot.stat().st_gid == TEAM
    assert stat.S_IMODE(snapshot.stat().st_mode) == 0o640
    run(place, AUDITOR, "verify", home, "--log")
    (line,) = [
        one
        for one in map(json.loads, (home / "log.jsonl").read_text().splitlines())
        if one["what"] == "forget"
    ]
    assert line["user"] == f"{RELEASER}"


def test_a_home_in_a_shared_folder_is_its_owner_s_alone(place):
    """A group that shares the folder above was not asked."""
    above = place / "above"
    above.mkdir()
    shutil.chown(above, RELEASER, TEAM)
    above.chmod(0o2770)
    run(
        place,
        RELEASER,
        "release",
        place / "hospital/hospital.yaml",
        "--home",
        above / "home",
        "--through",
        FIRST,
    )
    assert not (above / "home").stat().st_mode & 0o077
    private = [mode for name, mode in modes(above / "home").items() if name.startswith("private")]
    assert not any(mode & 0o077 for mode in private)
