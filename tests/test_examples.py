"""Examples in docstrings are what Python answers."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WITH_EXAMPLES = [
    ".".join(("republish", *file.relative_to(ROOT).with_suffix("").parts))
    for folder in ("anonymize", "orchestration")
    for file in sorted((ROOT / folder).rglob("*.py"))
    if ">>>" in file.read_text()
]


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_an_example_is_what_python_answers(module):
    failed, tried = doctest.testmod(importlib.import_module(module))
    assert tried > 0
    assert failed == 0
