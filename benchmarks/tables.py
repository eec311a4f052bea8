"""What all benchmarks share: their tables, their command line, and their pages in docs/measured.

A benchmark is a module with a docstring, a function `tables` and a constant `QUICK`. The docstring's first
line is the title of its page, the rest its introduction. `tables` yields what is measured; its parameters
are the options of the command line. `QUICK` are options with which it takes seconds and shows nothing but
that it runs.
"""

from __future__ import annotations

import argparse
import datetime as dt
import importlib
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import rich.table
from matplotlib import rc_context
from matplotlib.figure import Figure
from rich.console import Console

HERE = Path(__file__).parent
PAGES = HERE.parent / "docs" / "measured"


@dataclass(frozen=True)
class Table:
    """A table that was measured."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[Any]]
    """Numbers, or words."""

    def cells(self) -> list[list[str]]:
        """The rows in words."""
        return [[_word(entry) for entry in row] for row in self.rows]


def main(tables: Callable[..., Iterator[Table]], arguments: Sequence[str] | None = None) -> None:
    """Measure and print each table; with `--write`, write the page of the benchmark.

    Parameters
    ----------
    tables
        The benchmark's function.
    arguments
        Of the command line; by default those that the process was given.
    """
    module = sys.modules[tables.__module__]
    given = list(sys.argv[1:] if arguments is None else arguments)
    name = module.__spec__.name if module.__spec__ else module.__name__
    parser = argparse.ArgumentParser(
        f"python -m {name}", description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write the page in docs/measured")
    parser.add_argument("--quick", action="store_true", help="only show that it runs")
    for option, parameter in inspect.signature(tables).parameters.items():
        default = parameter.default
        several = isinstance(default, tuple)
        parser.add_argument(
            f"--{option.replace('_', '-')}",
            type=type(default[0] if several else default),
            nargs="*" if several else None,
            default=default,
        )
    options = vars(parser.parse_args(given))
    is_written, is_quick = options.pop("write"), options.pop("quick")
    if is_written and is_quick:
        parser.error("--quick shows nothing that is worth a page: leave out --write")
    made = []
    for table in tables(**(module.QUICK if is_quick else options)):
        show(table)
        made.append(table)
    if is_written:
        command = " ".join(["python -m", name, *(word for word in given if word != "--write")])
        PAGES.mkdir(exist_ok=True)
        today = dt.datetime.now(tz=dt.UTC).date()
        (PAGES / f"{name.rpartition('.')[2]}.md").write_text(page(module, command, made, today))


def page(module: ModuleType, command: str, made: Sequence[Table], day: dt.date) -> str:
    """The page of a benchmark that was run on a day."""
    title, _, about = inspect.getdoc(module).partition("\n")
    parts = [f"# {title.removesuffix('.')}", f"`{command}`, run on {day}", about.strip()]
    for table in made:
        rule = ["---", *["---:"] * (len(table.headings) - 1)]
        lines = ["| " + " | ".join(cells) + " |" for cells in (table.headings, rule, *table.cells())]
        parts += [f"**{table.title}**", "\n".join(lines)]
    return "\n\n".join(part for part in parts if part) + "\n"


def show(table: Table) -> None:
    """Print a table."""
    drawn = rich.table.Table(title=table.title)
    for position, heading in enumerate(table.headings):
        drawn.add_column(heading, justify="right" if position else "left")
    for cells in table.cells():
        drawn.add_row(*cells)
    Console(width=160).print(drawn)


def draw(
    file: Path, curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], **axes: str | float
) -> None:
    """Draw a line for each name through its points; `axes` is what matplotlib's axes are set to."""
    figure = Figure(figsize=(6.4, 4), layout="constrained")
    plot = figure.add_subplot()
    for name, (x, y) in curves.items():
        plot.plot(x, y, marker=".", label=name)
    plot.set(**axes)
    plot.legend(fontsize=8)
    with rc_context({"svg.hashsalt": file.name}):
        figure.savefig(file, metadata={"Date": None})


def benchmarks() -> dict[str, ModuleType]:
    """All benchmarks by the names of their pages, room by room."""
    files = (file for file in sorted(HERE.glob("*/*.py")) if "\nQUICK = " in file.read_text())
    return {
        file.stem: importlib.import_module(f"benchmarks.{file.parent.name}.{file.stem}") for file in files
    }


def _word(entry: Any) -> str:
    if isinstance(entry, float):
        return f"{entry:,.1f}" if abs(entry) >= 10 else f"{entry:.3f}"
    if entry is None:
        return "-"
    return f"{entry:,}" if isinstance(entry, int) else str(entry)
