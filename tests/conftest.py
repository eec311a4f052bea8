"""Settings of every test run, made before the first import of polars and numba, and its profile."""

import os
import secrets

import pytest
from hypothesis import settings

from tests.profiles import QUICK, Run, is_drawn, is_same_in_both, is_thorough

# Nearly all tests have tables of a few rows, where further threads only wait for each other. Commands that
# tests start as processes of their own have several (`tests.hospital.several_threads`), and what
# they publish is compared with what is published here.
os.environ["POLARS_MAX_THREADS"] = "1"
os.environ["NUMBA_NUM_THREADS"] = "1"

settings.load_profile(QUICK)  # until hypothesis loads another one that the command names


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    """Draw the seed of a run that was given none, before hypothesis takes it; all workers have the same."""
    if config.option.hypothesis_seed is None:
        of_run = getattr(config, "workerinput", {}).get("hypothesis_seed")
        config.option.hypothesis_seed = of_run or str(secrets.randbelow(10**9))
    Run.seed = int(config.option.hypothesis_seed)
    names_nothing = config.args_source is not pytest.Config.ArgsSource.ARGS
    Run.is_whole = getattr(config, "workerinput", {}).get("is_whole", names_nothing)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    node.workerinput["hypothesis_seed"] = node.config.option.hypothesis_seed
    node.workerinput["is_whole"] = Run.is_whole


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


def pytest_report_header(config):
    return f"examples are drawn by --hypothesis-seed={config.option.hypothesis_seed}"


def pytest_addoption(parser):
    parser.addoption(
        "--after-quick", action="store_true", help="Leave out what a quick run has run in the same way."
    )


def pytest_collection_modifyitems(config, items):
    """Leave out what is thorough, and two thirds of what is sampled, unless the run is thorough."""
    if is_thorough():
        left_out = {
            item for item in items if config.getoption("--after-quick") and is_same_in_both(item.path)
        }
    else:
        left_out = {
            item
            for item in items
            if item.get_closest_marker("thorough")
            or (item.get_closest_marker("sampled") and Run.is_whole and not is_drawn(item.nodeid))
        }
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]
