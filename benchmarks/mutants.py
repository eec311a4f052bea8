"""Faults that tests find: small changes of the code, and how many of them make a test fail.

A mutant is a module with one change of its syntax tree: another comparison or operator, a number off by one,
a statement that is gone. It is killed if one of the tests that run the changed line fails; it is too slow if
they take several times as long as without it. Mutants are drawn by a seed. The tests are those of
`anonymize/`, the cheapest first. Kernels are left out: they are compiled
once, and each is compared with plain Python in a test. So are numbers that a module gives a name: they were
chosen, and a test says what is true of any; and how large or thick something is drawn.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import importlib
import itertools
import math
import os
import pickle
import random
import resource
import signal
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib.machinery import SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import NamedTuple, NoReturn

import coverage
import hypothesis
import pytest
from rich.console import Console
from rich.progress import Progress

from benchmarks.tables import Table, main

ROOT = Path(__file__).resolve().parents[1]
TESTS = ("tests/anonymize", "tests/papers")
ROOMS = tuple(
    f"anonymize/{room}"
    for room in (
        *("attack", "promise", "buckets", "m_invariance", "e_equivalence"),
        *("streamliner", "global_guarantee", "sequential"),
    )
)
REACHED = ROOT / "var" / "mutants"
"""Which lines the tests of each file run; found anew if a module, or the file, is newer."""
OPTIONS = ("-q", "-n", "0", "-p", "no:cacheprovider", "--hypothesis-seed=0")
FIRST = 25
"""So many tests are collected at first: most mutants are killed by one of them."""
NO_SHRINKING = (hypothesis.Phase.explicit, hypothesis.Phase.generate)

_PAIRS = (
    *((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.In, ast.NotIn), (ast.Is, ast.IsNot)),
    *((ast.And, ast.Or), (ast.BitAnd, ast.BitOr), (ast.Add, ast.Sub)),
)
OPERATORS: Mapping[type, type] = {
    **dict(_PAIRS),
    **{other: one for one, other in _PAIRS},
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
}
_WORDS = (
    *(("min", "max"), ("any", "all"), ("is_null", "is_not_null"), ("first", "last"), ("ceil", "floor")),
    *(("semi", "anti"), ("left", "inner"), ("any_horizontal", "all_horizontal")),
    ("min_horizontal", "max_horizontal"),
)
WORDS = {**dict(_WORDS), **{other: one for one, other in _WORDS}}
"""Names of functions and kinds of joins, and what each is changed into."""
NO_CODE = ("annotation", "returns", "decorator_list")
NO_OPTION = {
    *("strict", "maintain_order"),
    *("fontsize", "font_size", "labelrotation", "labelsize", "linewidth", "title_fontsize"),
}
"""Options that guard against what does not happen, cost an order that nobody needs, or are looks."""


class Mutant(NamedTuple):
    """The change `number` of a module, and the lines from its statement's first one to its own."""

    file: str
    number: int
    lines: range
    before: str
    after: str
    at_import: bool = False
    """Whether it runs when the module is imported, whichever test happens to be the first to do that."""


KILLED, LATE, SURVIVED = "killed", "too slow", "survived"


@dataclass(eq=False)
class Reached:
    """Collects the seconds that each test takes and, by coverage, the tests that run each line."""

    measured: coverage.Coverage
    seconds: dict[str, float] = field(default_factory=dict)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        """Lines that run from here on are of this test."""
        self.measured.switch_context(item.nodeid)
        return (yield)

    def pytest_runtest_logreport(self, report):
        """Note the seconds of a test; one that fails or is skipped says nothing of mutants."""
        if report.passed:
            self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        else:
            self.seconds[report.nodeid] = math.nan

    def lines(self) -> dict[str, dict[int, set[str]]]:
        """The tests that run a line, by file and line."""
        found = self.measured.get_data()
        passed = {test for test, seconds in self.seconds.items() if not math.isnan(seconds)}
        return {
            str(Path(file).relative_to(ROOT)): {
                line: passed.intersection(tests) for line, tests in found.contexts_by_lineno(file).items()
            }
            for file in found.measured_files()
        }


def changes(tree: ast.Module) -> Iterator[tuple[ast.stmt, ast.AST, ast.AST]]:
    """Make every change of a module, one after the other: its statement, what was there, and what is."""
    waiting: list[tuple[ast.stmt | None, ast.AST]] = [(None, tree)]
    while waiting:
        statement, parent = waiting.pop()
        if isinstance(parent, ast.Raise):  # what an error says is not changed
            continue
        for name, value in ast.iter_fields(parent):
            holder = value if isinstance(value, list) else vars(parent)
            for key, node in enumerate(value) if isinstance(value, list) else [(name, value)]:
                is_code = isinstance(node, ast.AST) and name not in NO_CODE
                of = node if isinstance(node, ast.stmt) else statement
                if not is_code or _is_chosen(node, of, tree) or getattr(node, "arg", None) in NO_OPTION:
                    continue
                waiting.append((of, node))
                for new in _changed(node):
                    holder[key] = ast.fix_missing_locations(ast.copy_location(new, node))
                    yield of, node, new
                    holder[key] = node


def _is_chosen(node: ast.AST, statement: ast.stmt | None, tree: ast.Module) -> bool:
    """Whether it is a number that the module gives a name, or one of several."""
    is_named = isinstance(statement, ast.Assign | ast.AnnAssign) and statement in tree.body
    return is_named and isinstance(node, ast.Constant) and not isinstance(node.value, bool | str)


def mutated(source: str, number: int) -> ast.Module:
    """The module with one change of all there are."""
    tree = ast.parse(source)
    _ = next(itertools.islice(changes(tree), number, None))
    return tree


def mutants(file: str) -> list[Mutant]:
    """All mutants of a module."""
    tree = ast.parse((ROOT / file).read_text())
    bodies = [
        range(one.body[0].lineno, (one.end_lineno or one.lineno) + 1)
        for one in ast.walk(tree)
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return [
        Mutant(
            file,
            number,
            range(of.lineno, old.lineno + 1),
            _first_line(old),
            _first_line(new),
            not any(of.lineno in body for body in bodies),
        )
        for number, (of, old, new) in enumerate(changes(tree))
    ]


def _first_line(node: ast.AST) -> str:
    return ast.unparse(node).partition("\n")[0]


def tables(
    sample: int = 40,
    room: tuple[str, ...] = ROOMS,
    tests: tuple[str, ...] = TESTS,
    seed: int = 1,
    seconds: float = 60.0,
    jobs: int = 2,
) -> Iterator[Table]:
    """Try so many mutants of each room, each with tests that take so many seconds together."""
    _prepare()
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["PYTEST_DEBUG_TEMPROOT"] = scratch
        lines, spent = _reached(tests, jobs)
        tried, limits, of_room = {}, [], {}
        for one in room:
            every = [mutant for file in _files([one], "*.py") for mutant in mutants(file)]
            for mutant in random.Random(f"{seed} {one}").sample(every, min(sample, len(every))):
                run = _cheapest(reaching(mutant, lines), spent, seconds)
                tried[partial(_run, mutant, run)] = mutant
                limits.append(60 + 4 * int(sum(spent[test] for test in run)))
                of_room[mutant] = one
        _check_that_tests_pass(next(iter(tried)), jobs)
        ends = {}
        for call, code in _in_processes("mutants", tried, jobs, limits):
            mutant = tried[call]
            ends[mutant] = {0: SURVIVED, -signal.SIGKILL: LATE}.get(code, KILLED)
            if ends[mutant] == SURVIVED:
                print(
                    f"{mutant.file}:{mutant.lines[-1]}  {mutant.before}  ->  {mutant.after}", file=sys.stderr
                )
    rows = []
    for one in room:
        found = [end for mutant, end in ends.items() if of_room[mutant] == one]
        share = 100 * (1 - found.count(SURVIVED) / len(found))
        rows.append((one, len(found), *(found.count(end) for end in (KILLED, LATE, SURVIVED)), share))
    yield Table(f"Mutants, seed {seed}", ("room", "mutants", KILLED, LATE, SURVIVED, "% found"), rows)
    survivors = sorted((m for m, end in ends.items() if end == SURVIVED), key=lambda m: (m.file, m.lines[-1]))
    yield Table(
        "Survivors",
        ("where", "was", "is"),
        [(f"{mutant.file}:{mutant.lines[-1]}", mutant.before, mutant.after) for mutant in survivors],
    )


def _check_that_tests_pass(call: partial[int], jobs: int) -> None:
    """A test that fails in any case would kill every mutant."""
    _, tests = call.args
    for _, code in _in_processes("tests without a change", [partial(_run, None, tests)], jobs):
        if code:
            raise RuntimeError("tests that passed fail, though nothing is changed: run them by pytest")


def reaching(mutant: Mutant, lines: Mapping[str, Mapping[int, set[str]]]) -> set[str]:
    """The tests that run what changed; if that is at the import of the module, all that use the module."""
    of_file = lines.get(mutant.file, {})
    lines_run = () if mutant.at_import else mutant.lines
    of_lines: set[str] = set().union(*(of_file.get(line, ()) for line in lines_run))
    return of_lines or set().union(*of_file.values())


def _prepare() -> None:
    """Import the packages that the project needs, and nothing of it: each process imports that itself."""
    assert not any(name.startswith(("republish.anonymize", "tests")) for name in sys.modules)
    os.environ |= {"POLARS_MAX_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    for name in ("polars", "numpy", "numba", "scipy.sparse.csgraph", "networkx", "pydantic", "yaml"):
        importlib.import_module(name)
    hypothesis.settings.register_profile("mutants", database=None, phases=NO_SHRINKING)
    hypothesis.settings.load_profile("mutants")  # the profiles of tests begin with it


def _reached(tests: Iterable[str], jobs: int) -> tuple[dict[str, dict[int, set[str]]], dict[str, float]]:
    """The tests that run each line of each file, and the seconds of each test."""
    changed = max(file.stat().st_mtime for file in (ROOT / "anonymize").rglob("*.py"))
    found = {}
    for test in _files(tests, "test_*.py"):
        found[test] = REACHED / test.replace("/", ".").replace(".py", ".pickle")
    stale = [
        partial(_measure, test, kept)
        for test, kept in found.items()
        if not kept.exists() or kept.stat().st_mtime < max(changed, (ROOT / test).stat().st_mtime)
    ]
    REACHED.mkdir(parents=True, exist_ok=True)
    for _ in _in_processes("tests that run each line", stale, jobs):
        pass
    lines: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    spent = {}
    for kept in found.values():
        of_tests, seconds = pickle.loads(kept.read_bytes())  # noqa: S301
        spent |= seconds
        for file, of_file in of_tests.items():
            for line, some in of_file.items():
                lines[file][line] |= some
    return lines, spent


def _files(places: Iterable[str], pattern: str) -> list[str]:
    found = [sorted((ROOT / place).rglob(pattern)) or [ROOT / place] for place in places]
    return [str(file.relative_to(ROOT)) for files in found for file in files]


def _measure(test: str, kept: Path) -> int:
    measured = coverage.Coverage(data_file=None, source=[str(ROOT / "anonymize")], config_file=False)
    reached = Reached(measured)
    measured.start()
    pytest.main([*OPTIONS, test], plugins=[reached])
    measured.stop()
    kept.write_bytes(pickle.dumps((reached.lines(), reached.seconds)))
    return 0


def _cheapest(tests: set[str], spent: Mapping[str, float], seconds: float) -> list[str]:
    ordered = sorted(tests, key=spent.__getitem__)
    until = itertools.accumulate(spent[test] for test in ordered)
    return [test for test, sum_ in zip(ordered, until, strict=True) if sum_ <= seconds]


def _in_processes(
    what: str, calls: Iterable[Callable[[], int]], jobs: int, limits: Iterable[int] = itertools.repeat(3600)
) -> Iterator[tuple[Callable[[], int], int]]:
    """Each call in a fork of this process, some at once: its number, or minus the signal that ended it."""
    waiting, running = list(zip(calls, limits, strict=False)), {}
    with Progress(console=Console(stderr=True), auto_refresh=False) as progress:
        task = progress.add_task(what, total=len(waiting))
        while waiting or running:
            while waiting and len(running) < jobs:
                call, limit = waiting.pop(0)
                if not (child := os.fork()):
                    _call(call, limit)
                running[child] = call
            child, status = os.wait()
            yield running.pop(child), os.waitstatus_to_exitcode(status)
            progress.update(task, advance=1, refresh=True)


def _call(call: Callable[[], int], limit: int) -> NoReturn:
    """Call it, and end with its number: 1 after an error, SIGKILL after so many seconds of work."""
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    with Path(os.devnull).open("w") as nothing:
        os.dup2(nothing.fileno(), 1)
        os.dup2(nothing.fileno(), 2)
    code = 1
    with contextlib.suppress(BaseException):
        code = call()
    os._exit(code)


def _run(mutant: Mutant | None, tests: list[str]) -> int:
    """Whether a test fails with the mutated module: 0 if none does."""
    if mutant:
        sys.meta_path.insert(0, Mutated(mutant))
    parts = [part for part in (tests[:FIRST], tests[FIRST:]) if part]
    return next((code for part in parts if (code := int(pytest.main([*OPTIONS, "-x", *part])))), 0)


class Mutated(SourceFileLoader):
    """Finds and loads the mutated module, so that whoever imports it gets nothing else."""

    def __init__(self, mutant: Mutant) -> None:
        super().__init__(
            f"republish/{mutant.file}".removesuffix(".py").replace("/", "."), str(ROOT / mutant.file)
        )
        self.name = self.name.removesuffix(".__init__")
        self._tree = mutated((ROOT / mutant.file).read_text(), mutant.number)

    def find_spec(self, name, path=None, target=None):  # noqa: ARG002
        """Find the mutated module alone."""
        return spec_from_file_location(name, self.path, loader=self) if name == self.name else None

    def get_code(self, fullname):  # noqa: ARG002
        """Compile the tree that was changed."""
        return compile(self._tree, self.path, "exec", dont_inherit=True)


def _changed(node: ast.AST) -> Iterator[ast.AST]:  # noqa: C901
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in OPERATORS:
            yield ast.Compare(node.left, [OPERATORS[type(operator)]()], node.comparators)
        case ast.BinOp() if type(node.op) in OPERATORS:
            yield ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)
        case ast.BoolOp():
            yield ast.BoolOp(OPERATORS[type(node.op)](), node.values)
        case ast.UnaryOp(op=ast.Not() | ast.Invert()):
            yield node.operand
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(value=int() | float()):
            yield ast.Constant(node.value + 1)
        case ast.Constant(value=str()) if node.value in WORDS:
            yield ast.Constant(WORDS[node.value])
        case ast.Call(func=ast.Attribute(attr=word)) if word in WORDS:
            yield ast.Call(ast.Attribute(node.func.value, WORDS[word], ast.Load()), node.args, node.keywords)
        case ast.Call(func=ast.Name(id=word)) if word in WORDS:
            yield ast.Call(ast.Name(WORDS[word], ast.Load()), node.args, node.keywords)
        case ast.If() | ast.While() if not isinstance(node.test, ast.Compare | ast.BoolOp | ast.UnaryOp):
            other = copy.copy(node)
            other.test = ast.UnaryOp(ast.Not(), node.test)
            yield other
        case ast.Return(value=ast.AST() as value) if ast.unparse(value) != "None":
            yield ast.Return(None)
        case ast.AugAssign() | ast.Raise() | ast.Expr(value=ast.Call()):
            yield ast.Pass()


if __name__ == "__main__":
    main(tables)
