"""The terminal: results go to standard output, errors and progress to standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

# Without markup: `accept: {2024-04-01: [m]}` in a message is text, and no style.
out = Console(highlight=False, markup=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, markup=False)


@contextmanager
def progress(text: str) -> Iterator[Callable[[str], None]]:
    """Show what is being worked on; yields what changes the text. A pipe is told nothing."""
    if not err.is_terminal:
        yield lambda _text: None
        return
    with err.status(text) as status:
        yield status.update


class Steps:
    """How far work of so many steps has come, and how long the rest would take at the same pace."""

    def __init__(self, total: int):
        self.total, self.done = total, 0
        self._began = time.perf_counter()

    @property
    def left(self) -> str:
        """`, about 2 min left`; nothing as long as no step is done."""
        if not self.done or self.done >= self.total:
            return ""
        seconds = (time.perf_counter() - self._began) / self.done * (self.total - self.done)
        return f", about {f'{seconds / 60:.0f} min' if seconds >= 90 else f'{seconds:.0f} s'} left"


def whole(table: Table) -> None:
    """Print a table: within a terminal's width, and to a file or a pipe with every line and entry whole."""
    if out.is_terminal:
        out.print(table)
        return
    wide = Console(file=out.file, highlight=False, markup=False, width=10**6)
    wide.width = Measurement.get(wide, wide.options, table).maximum
    wide.print(table)


def raw(text: str) -> None:
    """Print text for programs: in UTF-8, whatever the terminal speaks."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()
