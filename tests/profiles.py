"""The two profiles of a test run: `quick` for every change, `thorough` before a release.

A run is quick unless it is started with `--hypothesis-profile=thorough`. A quick run tries a tenth of the
examples of each property, and those tests that cost little, by `costs.json`: of each test function as many
cases, in their order, as fit into a quarter of a second; of a file that has none such, the cheapest
test if it takes no more than a second. A run that names the tests it wants has all of them.
"""

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

THOROUGH, QUICK = "thorough", "quick"
settings.register_profile(THOROUGH, deadline=None, print_blob=True, suppress_health_check=list(HealthCheck))
settings.register_profile(QUICK, settings.get_profile(THOROUGH), max_examples=10)

COSTS = Path(__file__).with_name("costs.json")
"""Seconds of a case of each test function in a quick run with nothing beside it, as `make costs` measured
them: those above `NOTHING`. By the clock, for browsers and processes that a test waits for cost time, too."""
NOTHING = 0.05
ENOUGH = 0.25
"""Seconds for the cases of one function in a quick run."""
AT_MOST = 1.0
"""Seconds for a test of a file that has no cheaper one."""


class Run:
    """The run that this process takes part in."""

    seed = 0
    """What tests draw by that kill, or that choose among backups; also hypothesis' seed."""
    is_whole = True
    """Whether it is of all tests, and not of those that somebody names."""


def is_thorough() -> bool:
    """Whether everything is tried in this run."""
    return settings.get_current_profile_name().startswith(THOROUGH)


def examples(number: int) -> settings:
    """So many examples of a property in a thorough run, a tenth of them in a quick one."""
    return settings(max_examples=number if is_thorough() else max(5, number // 10))


def function_of(nodeid: str) -> str:
    """The name of a test function, without the case."""
    return nodeid.partition("[")[0]


def file_of(nodeid: str) -> str:
    """The file of a test."""
    return nodeid.partition("::")[0]


def known_costs() -> dict[str, float]:
    """Seconds of a case of each test function that costs more than `NOTHING`."""
    return json.loads(COSTS.read_text())  # type: ignore[no-any-return]


def chosen(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """The tests of a quick run."""
    costs = known_costs()
    spent: dict[str, float] = defaultdict(float)
    by_file: dict[Path, list[pytest.Item]] = defaultdict(list)
    for item in items:
        by_file[item.path].append(item)
    taken: set[pytest.Item] = set()
    for tests in by_file.values():
        cheap = set()
        for item in tests:
            function = function_of(item.nodeid)
            spent[function] += costs.get(function, 0)
            if spent[function] <= ENOUGH:
                cheap.add(item)
        cheapest = min(tests, key=lambda item: costs.get(function_of(item.nodeid), 0))
        if not cheap and costs[function_of(cheapest.nodeid)] <= AT_MOST:
            cheap = {cheapest}
        taken |= cheap
    return [item for item in items if item in taken]


def longest_first(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """The tests, file by file: a long file that was begun last would leave all workers but one waiting."""
    costs = known_costs()
    times = 10 if is_thorough() else 1  # as many examples of each property
    of_file: dict[Path, float] = defaultdict(float)
    of_tests = list(items)
    for item in of_tests:
        has_examples = is_hypothesis_test(getattr(item, "obj", None))
        of_file[item.path] += costs.get(function_of(item.nodeid), 0) * (times if has_examples else 1)
    return sorted(of_tests, key=lambda item: (-of_file[item.path], item.path))


def is_the_same_in_both(item: pytest.Item) -> bool:
    """Whether a test does no more in a thorough run than in a quick one."""
    return not is_hypothesis_test(item.obj) and "is_thorough" not in item.path.read_text()  # type: ignore[attr-defined]


class Costs:
    """Sums up what each test costs; the set-up that tests of a file share is divided among them."""

    def __init__(self) -> None:
        self._own: dict[str, float] = {}
        self._shared: dict[tuple[str, str], float] = defaultdict(float)
        self._users: dict[tuple[str, str], list[str]] = defaultdict(list)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what a test says of itself at its end; doctests of modules, outside of tests, say nothing."""
        said, file = dict(report.user_properties), file_of(report.nodeid)
        if report.when == "teardown" and "spent" in said:
            self._own[report.nodeid] = said["spent"] - sum(said["shared"].values())
            for name, seconds in said["shared"].items():
                self._shared[file, name] += seconds
            for name in said["fixtures"]:
                self._users[file, name].append(report.nodeid)

    def write(self) -> None:
        """Write `costs.json` anew, or of some tests what they cost. A run that ran nothing writes nothing."""
        if not self._own:
            return
        for key, seconds in self._shared.items():
            for nodeid in self._users[key]:
                self._own[nodeid] += seconds / len(self._users[key])
        cases: dict[str, list[float]] = defaultdict(list)
        for nodeid, seconds in self._own.items():
            cases[function_of(nodeid)].append(seconds)
        mean = {function: sum(each) / len(each) for function, each in cases.items()}
        costs = {} if Run.is_whole else {key: one for key, one in known_costs().items() if key not in mean}
        costs |= {function: round(one, 2) for function, one in mean.items() if one >= NOTHING}
        COSTS.write_text(json.dumps(costs, indent=0, sort_keys=True) + "\n")
