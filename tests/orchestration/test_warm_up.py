"""What is compiled before tests is what releases call, so that no test waits."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow("starts processes")

ASK = """
import importlib, json, pkgutil
import republish.anonymize.kernels as kernels
from republish.anonymize.kernels.compiled import Loop
from republish.orchestration.warm_up import compile_kernels

compile_kernels()
called = {}
for module in pkgutil.iter_modules(kernels.__path__):
    of = importlib.import_module(f"republish.anonymize.kernels.{module.name}")
    for name, kernel in vars(of).items():
        if not isinstance(kernel, Loop) or name.startswith("_"):
            continue
        if kernel.py_func.__module__ == of.__name__:  # not where another imports it
            called[name] = called.get(name, 0) + len(kernel.dispatcher.signatures)
print(json.dumps(called))
"""
NOT_CALLED = {"merge_nodes"}
"""Graphs have to have grown for many releases."""
PARTS_OF_OTHERS = {"stable_partition", "mixed_number", "draw", "kd_order", "assign_at_least_cost"}
"""Are compiled into the kernels that call them."""


def test_every_kernel_is_compiled_and_once():
    """Arrays of another type, or that may or may not be written to, would have a kernel compiled again."""
    answer = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True)
    called = json.loads(answer.stdout)
    assert {name for name, types in called.items() if types == 0} - PARTS_OF_OTHERS == NOT_CALLED
    assert {name for name, types in called.items() if types > 1} == set()
