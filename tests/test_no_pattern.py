"""No column's name is taken for a pattern: polars reads `*` and `^…$` so where it is given a text.

Publishers' names stand in `orchestration/`. A column is taken there by `entries(table, name)`, `pl.nth` or
`exactly(name)`, which know no patterns. Texts that are written out, constants and expressions are ours.
"""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "orchestration"
READ_AS_PATTERNS = {"col", "exclude", "select", "drop", "group_by"}


def may_be_names(argument):
    """Whether an argument is, or has, a text that a variable holds, as far as can be seen."""
    if isinstance(argument, ast.Starred | ast.GeneratorExp | ast.ListComp):
        return may_be_names(argument.value if isinstance(argument, ast.Starred) else argument.elt)
    if isinstance(argument, ast.List | ast.Tuple):
        return any(map(may_be_names, argument.elts))
    if isinstance(argument, ast.Attribute):  # pl.String is a type
        return not argument.attr.isupper() and ast.unparse(argument.value) != "pl"
    if isinstance(argument, ast.Call):  # of a mapping's names
        return isinstance(argument.func, ast.Attribute) and argument.func.attr in ("keys", "values")
    is_text = isinstance(argument, ast.Subscript | ast.JoinedStr)
    return is_text or (isinstance(argument, ast.Name) and not argument.id.isupper())


def patterns(code):
    """Where code gives polars a variable text that it reads as a pattern: the line, and the call."""
    return {
        (call.lineno, ast.unparse(call))
        for call in ast.walk(ast.parse(code))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        if call.func.attr in READ_AS_PATTERNS and any(map(may_be_names, call.args))
    }


def test_no_name_is_given_where_polars_reads_a_pattern():
    found = {file: lines for file in ROOT.rglob("*.py") if (lines := patterns(file.read_text()))}
    assert found == {}


@pytest.mark.parametrize(
    ("code", "is_pattern"),
    [
        ("table.select(names)", True),
        ("table.select(*names)", True),
        ("pl.col(one.name)", True),
        ("table.drop([name, 'count'])", True),
        ("pl.col(f'{name}_low')", True),
        ("table.group_by(schema.keys())", True),
        ("table.select(pl.col(name) for name in names)", True),
        ("table[names].select(VALUE, 'count', pl.len(), exactly(name).sum())", False),
        ("table.with_columns(pl.col(pl.Binary))", False),
    ],
)
def test_names_in_variables_are_found(code, is_pattern):
    assert bool(patterns(code)) == is_pattern
