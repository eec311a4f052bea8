"""Settings of every test run, made before the first import of polars and numba, and its profile."""

import os
import secrets
import time
from typing import ClassVar

import pytest
from hypothesis import settings

from republish.orchestration.variables import VARIABLES
from tests.profiles import (
    AT_MOST,
    QUICK,
    Costs,
    Run,
    chosen,
    function_of,
    is_the_same_in_both,
    is_thorough,
    known_costs,
    longest_first,
)

# Nearly all tests have tables of a few rows, where further threads only wait for each other. Commands that
# tests start as processes of their own have several (`tests.hospital.several_threads`), and what
# they publish is compared with what is published here.
os.environ |= VARIABLES | {"POLARS_MAX_THREADS": "1", "NUMBA_NUM_THREADS": "1"}

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


class Unmeasured:
    """Names the tests that a quick run took although they are long: their cost is not in `costs.json`."""

    def __init__(self):
        self._long = set()

    def pytest_runtest_logreport(self, report):
        if report.duration > AT_MOST:
            self._long.add(function_of(report.nodeid))

    def pytest_terminal_summary(self, terminalreporter):
        if named := sorted(self._long - known_costs().keys()):
            terminalreporter.section("what these cost is not known: name them after pytest --costs")
            terminalreporter.write_line("\n".join(named))


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session):
    if terminal := session.config.pluginmanager.get_plugin("terminalreporter"):
        session.config.pluginmanager.register(Failures(terminal))
        if Run.is_whole and not is_thorough():
            session.config.pluginmanager.register(Unmeasured())
        measures = session.config.getoption("--costs") and not session.config.getoption("--collect-only")
        if measures and not hasattr(session.config, "workerinput"):
            session.config.pluginmanager.register(Costs(), Costs.__name__)


def pytest_report_header(config):
    return f"examples are drawn by --hypothesis-seed={config.option.hypothesis_seed}"


def pytest_addoption(parser):
    parser.addoption(
        "--after-quick", action="store_true", help="Leave out what a quick run has run in the same way."
    )
    parser.addoption(
        "--costs",
        action="store_true",
        help="Run every test, or those that are named, as a quick run would, and write what each costs.",
    )


class Spent:
    """What the test that runs has spent on what others use, too, and on set-ups within one that is made."""

    shared: ClassVar[dict[str, float]] = {}
    seconds = 0.0


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef, request):
    outer, before, Spent.seconds = Spent.seconds, time.perf_counter(), 0.0
    try:
        return (yield)
    finally:
        if fixturedef.scope != "function":
            spent = time.perf_counter() - before
            Spent.shared[fixturedef.argname] = spent - Spent.seconds
            Spent.seconds = spent
        Spent.seconds += outer


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    Spent.shared, before = {}, time.perf_counter()
    item.user_properties += [("shared", Spent.shared), ("fixtures", list(getattr(item, "fixturenames", [])))]
    item.user_properties.append(("begun", before))
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    if call.when == "teardown":
        spent = time.perf_counter() - dict(item.user_properties)["begun"]
        item.user_properties.append(("spent", spent))
    return (yield)


def pytest_sessionfinish(session):
    if costs := session.config.pluginmanager.get_plugin(Costs.__name__):
        costs.write()


def pytest_collection_modifyitems(config, items):
    """Leave out what is slow in a quick run of everything, and what such a run has run in the same way."""
    kept = items
    if Run.is_whole and not config.getoption("--costs"):
        quick = set(chosen(items))
        if not is_thorough():
            kept = [item for item in items if item in quick]
        elif config.getoption("--after-quick"):
            kept = [item for item in items if not (item in quick and is_the_same_in_both(item))]
    left_out = set(items) - set(kept)
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = longest_first(kept) if Run.is_whole else kept
