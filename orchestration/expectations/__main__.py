"""The judge's own process: answers questions from standard input until there are no more."""

from __future__ import annotations

import os
import sys

import polars as pl

from orchestration.expectations.judge import receive, send


def main() -> None:
    """Answer (tables of evidence, parameters) with verdicts."""
    questions, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    from orchestration.expectations.suites import verdict  # noqa: PLC0415 - takes two seconds

    while True:
        try:
            tables, parameters = receive(questions)
        except EOFError:
            return
        send(answers, [verdict(name, pl.read_ipc(table), parameters) for name, table in tables.items()])


if __name__ == "__main__":
    main()
