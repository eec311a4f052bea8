"""What is installed is one package, built to the same bytes twice, and gets in nobody's way."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BUILD = (sys.executable, "-m", "hatchling", "build", "--target")
FOLDERS = ("anonymize", "orchestration", "sql")
OWN = 'raise ImportError("the package of another project")\n'


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([*BUILD, "wheel", "--directory", folder], cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.iterdir()
    return built


def tracked(*names):
    """The files of the checkout that git knows, as paths from its top."""
    told = subprocess.run(["git", "ls-files", *names], cwd=ROOT, capture_output=True, text=True, check=True)
    return told.stdout.splitlines()


def test_a_wheel_has_one_package_and_all_that_it_reads(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"republish"}
    package = {name.removeprefix("republish/") for name in names if name.startswith("republish/")}
    own = {file.removeprefix("republish/") for file in tracked("republish")}
    assert {name for name in package if not name.startswith(FOLDERS)} == own
    assert package >= {*tracked(*FOLDERS), "orchestration/files/data_contracts/hospital.yaml"}


def test_a_checkout_without_links_is_the_package(tmp_path):
    """As an archive unpacks it, or a file system that has no links; from anywhere."""
    modes = subprocess.run(["git", "ls-files", "-s"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not [line for line in modes.stdout.splitlines() if line.startswith("120000")]
    for file in tracked("republish", *FOLDERS):
        (tmp_path / "unpacked" / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / file, tmp_path / "unpacked" / file)
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'unpacked')!r})\n"
        "import republish.orchestration.cli.main as cli, republish.sql, republish.anonymize.columns\n"
        "assert 'unpacked' in cli.__file__, cli.__file__\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)


def test_a_wheel_built_again_from_the_source_distribution_has_the_same_bytes(wheel, tmp_path):
    subprocess.run([*BUILD, "sdist", "--directory", tmp_path], cwd=ROOT, check=True, capture_output=True)
    (sources,) = tmp_path.glob("*.tar.gz")
    subprocess.run(["tar", "xzf", sources], cwd=tmp_path, check=True)
    unpacked = tmp_path / sources.name.removesuffix(".tar.gz")
    subprocess.run([*BUILD, "wheel", "--directory", tmp_path], cwd=unpacked, check=True, capture_output=True)
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


@pytest.mark.slow("takes more than a second")
def test_a_project_may_have_packages_of_the_names_of_our_folders(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path / "installed")
    for name in FOLDERS:
        (tmp_path / "project" / name).mkdir(parents=True)
        (tmp_path / "project" / name / "__init__.py").write_text(OWN)
    code = (
        f"import sys; sys.path.insert(1, {str(tmp_path / 'installed')!r})\n"  # before the checkout
        "from republish import ReleaseProduct\nimport republish.orchestration.cli.main as cli\n"
        "assert 'installed' in cli.__file__, cli.__file__\n"
        "sys.argv = ['republish', 'validate', 'absent.yaml']\ncli.main()\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path / "project", capture_output=True, text=True, check=False
    )
    assert told.returncode == 2
    assert told.stderr.startswith("republish: ")
    assert "absent.yaml" in told.stderr
