"""What commands import: nothing that they don't use, because to import it takes longer than they do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hospital import RELEASES

pytestmark = pytest.mark.slow("starts processes")

ROOT = Path(__file__).parents[3]
THIRD = RELEASES[2]
SCRIPT = """
import os, sys
import republish.orchestration.cli.main as cli

def ends(code):
    print("\\nimported", *sys.modules)
    sys.stdout.flush()
    leave(code)

if __name__ == "__main__":
    leave, os._exit = os._exit, ends
    sys.argv = ["republish", *sys.argv[1:]]
    cli.run()
"""
DRAWS = {"PIL", "networkx"}
JUDGES = {"great_expectations", "pandas"}
"""They are in a process of their own."""
COMPUTES = {"numba", "llvmlite", "scipy.sparse", "scipy.optimize", "scipy.linalg"}
"""What a table of a few hundred people is released without."""
ORCHESTRATES = {"dagster", "sqlalchemy", "alembic"}
TABLES = {"deltalake", "pyiceberg", "obstore", "boto3"}
ANYTHING = {"polars", "numpy", "pyarrow", "duckdb", "pydantic", "yaml"}
OTHER_PRINCIPLES = {
    f"republish.anonymize.{name}.release"
    for name in ("e_equivalence", "global_guarantee", "sequential", "streamliner")
}
NOT_OF_A_RELEASE = {
    "scipy.stats",
    *("republish.orchestration.readers.estimate.command", "republish.orchestration.audit.series"),
}


def imported(folder, *words):
    """All modules that a command has imported when it ends."""
    script = folder / "command.py"  # a file, because the process that judges imports it, too
    script.write_text(SCRIPT)
    told = subprocess.run(
        [sys.executable, str(script), *map(str, words)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (told.returncode, told.stderr) == (0, "")
    return set(told.stdout.rpartition("imported")[2].split())


@pytest.fixture
def published(hospital, home, tmp_path):
    """What a release has imported, and the folder that it published."""
    modules = imported(tmp_path, "release", hospital.contract, "--home", home, "--through", THIRD)
    return modules, hospital.series(home).published(THIRD)


def test_commands_import_what_they_use_and_nothing_else(published, tmp_path):
    made, folder = published
    assert {"dagster", "polars"} <= made
    assert made & {*DRAWS, *JUDGES, *TABLES, *COMPUTES, *OTHER_PRINCIPLES, *NOT_OF_A_RELEASE} == set()

    verified = imported(tmp_path, "verify", folder.parent)
    assert "polars" in verified
    assert not verified & {*DRAWS, *JUDGES, *TABLES, *COMPUTES, *ORCHESTRATES}

    estimated = imported(tmp_path, "estimate", folder, "--where", "age > 30")
    assert "duckdb" in estimated
    assert not estimated & {*DRAWS, *JUDGES, *TABLES, *COMPUTES, *ORCHESTRATES}


@pytest.mark.parametrize("words", [["--help"], ["release", "--help"], ["estimate", "--help"]])
def test_a_help_text_imports_nothing_that_takes_long(words, tmp_path):
    read = imported(tmp_path, *words)
    heavy = {*DRAWS, *JUDGES, *TABLES, *COMPUTES, *ORCHESTRATES, *ANYTHING} - {"pydantic"}
    assert "typer" in read
    assert not read & heavy
