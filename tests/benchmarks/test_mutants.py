"""Mutants: which changes there are, that each is one change, and which tests are to find it."""

import ast

import pytest

from benchmarks.mutants import Mutant, changes, mutants, mutated, reaching


def mutants_of(source):
    return {ast.unparse(mutated(source, number)) for number, _ in enumerate(changes(ast.parse(source)))}


@pytest.mark.parametrize(
    ("line", "others"),
    [
        ("a >= b", {"a > b"}),
        ("a + 1", {"a - 1", "a + 2"}),
        ("a and (not b)", {"a or not b", "a and b"}),
        ("x.min()", {"x.max()"}),
        ("any(x)", {"all(x)", "pass"}),
        ("a.join(b, on='c', how='semi')", {"a.join(b, on='c', how='anti')"}),
        ("zip(a, b, strict=True)", set()),
        ("'a word'", set()),
        ("MOST = 2_000", set()),
        ("SHOWN = (-1, 2.5)", set()),
        ("NAMED = f(True)", {"NAMED = f(False)"}),
        ("draw(x, fontsize=8, bins=8)", {"draw(x, fontsize=8, bins=9)"}),
        ("def f(x: int | None=True):\n    pass", {"def f(x: int | None=False):\n    pass"}),
    ],
)
def test_a_line_has_these_mutants(line, others):
    assert mutants_of(line) - {"pass"} == others - {"pass"}


def test_a_statement_goes_and_what_an_error_says_stays():
    source = "def f(x):\n    if x:\n        raise ValueError(1 + 1)\n    return x"
    assert mutants_of(source) == {
        source.replace("raise ValueError(1 + 1)", "pass"),
        source.replace("if x", "if not x"),
        source.replace("return x", "return"),
    }


def test_reaching_a_mutant_run_its_lines_or_use_its_module():
    lines = {"a.py": {3: {"one"}, 4: {"two"}, 9: {"three"}}}
    within = Mutant("a.py", 0, range(3, 5), before="", after="")
    at_import = Mutant("a.py", 0, range(1, 2), before="", after="")
    assert reaching(within, lines) == {"one", "two"}
    assert reaching(at_import, lines) == {"one", "two", "three"}
    by_the_first_test = Mutant("a.py", 0, range(3, 4), before="", after="", at_import=True)
    assert reaching(by_the_first_test, lines) == {"one", "two", "three"}


def test_what_runs_at_import_is_what_is_in_no_function():
    at_import = {mutant.before for mutant in mutants("anonymize/promise/breach.py") if mutant.at_import}
    assert {"1", "0"} <= at_import
    assert not any("forgets_after" in before for before in at_import)
