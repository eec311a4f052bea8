"""The judge's own process: answers questions from standard input until there are no more."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from orchestration.expectations.judge import receive, send
from orchestration.expectations.verdict import Verdict, no_verdict


def main() -> None:
    """Answer (tables of evidence, parameters) with verdicts."""
    questions, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    _import_when_used("scipy.stats")  # a third of the import; Great Expectations wants it for distributions
    from orchestration.expectations.suites import verdict  # noqa: PLC0415 - takes two seconds

    while True:
        try:
            tables, parameters = receive(questions)
        except EOFError:
            return
        answer = [_verdict(verdict, name, table, parameters) for name, table in tables.items()]
        send(answers, answer)


def _import_when_used(name: str) -> None:
    """Let a module be imported at the first use of what is in it, not at its mention."""
    parent, _, child = name.rpartition(".")
    spec = importlib.util.find_spec(name)
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    setattr(sys.modules[parent], child, module)
    spec.loader.exec_module(module)


def _verdict(
    verdict: Callable[..., Verdict], name: str, table: bytes, parameters: Mapping[str, Any]
) -> Verdict:
    """What the suite finds; an exception, of whatever kind, is no promise kept."""
    try:
        return verdict(name, pl.read_ipc(table), parameters)
    except Exception as error:  # noqa: BLE001 - and none of them may be taken for a pass
        return no_verdict(name, f"Great Expectations failed with {type(error).__name__}.")


if __name__ == "__main__":
    main()
