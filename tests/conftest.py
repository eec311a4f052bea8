"""Settings of every test run, made before the first import of polars and numba."""

import os
import secrets
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from republish.orchestration.variables import VARIABLES

# Nearly all tests have tables of a few rows, where further threads only wait for each other. Commands that
# tests start as processes of their own have several (`tests.hospital.several_threads`), and what
# they publish is compared with what is published here.
os.environ |= VARIABLES | {"POLARS_MAX_THREADS": "1", "NUMBA_NUM_THREADS": "1"}

MEMORY, ROOM = Path("/dev/shm"), 8 * 2**30  # noqa: S108 - pytest makes a folder there that is its own
"""Where files are in memory, and how many bytes have to be free there: a whole run leaves 2.5 GB."""
if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM:
    # Releases wait until what they write is on the disk: a third of the time of many tests.
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

from tests.loops import (  # noqa: E402, F401 - a fixture of all tests; what it imports reads the variables
    loops_are_compiled_and_answer_as_python_does,
)

settings.register_profile(
    "tests", max_examples=30, deadline=None, print_blob=True, suppress_health_check=list(HealthCheck)
)
settings.load_profile("tests")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    """Draw the seed of a run that was given none, before hypothesis takes it; all workers have the same."""
    if config.option.hypothesis_seed is None:
        of_run = getattr(config, "workerinput", {}).get("hypothesis_seed")
        config.option.hypothesis_seed = of_run or str(secrets.randbelow(10**9))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    node.workerinput["hypothesis_seed"] = node.config.option.hypothesis_seed


def pytest_report_header(config):
    return f"examples are drawn by --hypothesis-seed={config.option.hypothesis_seed}"


class Failures:
    """Names each test that fails as soon as it has: of a run that is ended early, it is all that is known."""

    def __init__(self, terminal):
        self._terminal = terminal

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self._terminal.write_line(f"\nFAILED {report.nodeid} ({report.when})")


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session):
    if terminal := session.config.pluginmanager.get_plugin("terminalreporter"):
        session.config.pluginmanager.register(Failures(terminal))


@pytest.fixture(scope="session")
def seed_of_run(pytestconfig):
    """What tests draw by that kill, or that choose among backups: the seed of the run, also hypothesis'."""
    return int(pytestconfig.option.hypothesis_seed)
