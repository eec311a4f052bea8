"""The terminal: results go to standard output, errors and progress to standard error."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from rich.console import Console

# Without markup: `accept: {2024-04-01: [m]}` in a message is text, and no style.
out = Console(highlight=False, markup=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, markup=False)


def progress(text: str) -> AbstractContextManager[object]:
    """Show that something is being worked on; a pipe is told nothing."""
    return err.status(text) if err.is_terminal else nullcontext()
