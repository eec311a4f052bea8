"""A quick run leaves out examples and slow tests, but no file of tests."""

import ast
from pathlib import Path

import pytest

FILES = [file for file in Path(__file__).parent.rglob("test_*.py") if file.name != Path(__file__).name]


def of(body):
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from of(node.body)
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_file_takes_part_in_a_quick_run(file):
    tree = ast.parse(file.read_text())
    marks = [{ast.unparse(mark) for mark in test.decorator_list} for test in of(tree.body)]
    assert any("pytest.mark.thorough" not in of_one for of_one in marks)
    assert "pytestmark = pytest.mark.thorough" not in file.read_text()
