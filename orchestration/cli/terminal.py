"""The terminal: results go to standard output, errors and progress to standard error."""

from __future__ import annotations

import signal
import sys

import typer
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

# Without markup: `accept: {2024-04-01: [m]}` in a message is text, and no style.
out = Console(highlight=False, markup=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, markup=False)


def whole(table: Table) -> None:
    """Print a table: within a terminal's width, and to a file or a pipe with every line and entry whole."""
    if out.is_terminal:
        out.print(table)
        return
    wide = Console(file=out.file, highlight=False, markup=False, width=10**6)
    wide.width = Measurement.get(wide, wide.options, table).maximum
    wide.print(table)


def ask(question: str, *, default: str | None = None, is_hidden: bool = False) -> str:
    """Ask somebody at the terminal; Ctrl-C ends the command at once.

    polars has reads go on after a signal, so that Python would notice it only when a line is there.

    Raises
    ------
    typer.Abort
        If the answer is Ctrl-C, or the input ends.
    """
    signal.siginterrupt(signal.SIGINT, True)
    return str(typer.prompt(question, default=default, hide_input=is_hidden))


def confirm(question: str) -> None:
    """Ask somebody at the terminal for a yes, as `ask` asks. Raises typer.Abort if the answer is another."""
    signal.siginterrupt(signal.SIGINT, True)
    typer.confirm(question, abort=True)


def raw(text: str) -> None:
    """Print text for programs: in UTF-8, whatever the terminal speaks."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()
