"""`republish estimate`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from republish.orchestration.cli.options import Debug, Form, Limit, PublishedPath
from republish.orchestration.cli.terminal import err, out, raw, whole

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

MOST_LINES = 200
"""The most lines of a table on a terminal."""
NOBODY = "nobody meets the condition in any copy"
"""What is said of an empty answer."""
NO_NUMBER = "None: too few copies have an answer, as where a group is empty in most of them."
"""What is said of an estimate that is missing."""


def estimate(
    published: PublishedPath,
    where: Annotated[
        str,
        typer.Option(
            "--where",
            metavar="SQL",
            help="The people who count: \"age between 30 and 40 and sex = 'F'\". Default: everybody.",
            show_default=False,
        ),
    ] = "true",
    of: Annotated[
        str,
        typer.Option(
            "--of",
            metavar="SQL",
            help="What of them: count(*), avg(age), sum(cost), median(age), quantile_cont(age, 0.9),"
            " avg((sex = 'F')::int), corr(age, cost), regr_slope(cost, age), or a ratio of such.",
        ),
    ] = "count(*)",
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by",
            metavar="SQL",
            help="One row for each value of this column, or of an expression: age // 10. Several: for each"
            " combination.",
        ),
    ] = None,
    change: Annotated[
        bool, typer.Option("--change", help="Estimate what changed from each release to the next one.")
    ] = False,
    last: Annotated[
        bool,
        typer.Option(
            "--last",
            help="Of a series, estimate from its last release alone; with --change, from the last two.",
        ),
    ] = False,
    copies: Annotated[
        int, typer.Option("--copies", min=2, max=1000, help="How many copies of each release are drawn.")
    ] = 25,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same answer.")] = 1,
    form: Annotated[
        Form, typer.Option("--format", help="How the answer is written; csv and json for programs.")
    ] = Form.table,
    limit: Limit = None,
    debug: Debug = False,
) -> None:
    """Estimate how many people meet a condition, or any SQL of a group of people, with an error bar.

    Copies of the table are drawn (see republish copies), DuckDB computes the answer on each, and answers are
    pooled by Rubin's rules. For many questions, write copies once, and give their folder for PUBLISHED. The
    truth should lie between low and high in 95 of 100 cases. Shares are of everybody; with --by, of all who
    meet the condition. People held back are in no count, and are named.
    """
    from republish.orchestration.cli.work import Work
    from republish.orchestration.readers.estimate.command import Source, answer
    from republish.orchestration.storage.in_stores import fetched

    with fetched([published]) as (folder,), Work(published.name) as work:
        source = Source.of(folder, copies, seed, last=last, change=change)
        work.parts = source.number * len(source.described)
        found = answer(source, where, by or (), of, change=change, begin=work.begin)
    table = found.table.rename({"people": "rows"}, strict=False) if found.of_rows else found.table
    say(table, found.held_back, form)
    if form is not Form.json:
        said = [NO_NUMBER] if table["low"].null_count() else []
        for remark in (*said, *found.remarks):
            (err if form is Form.csv else out).print(remark)


def say(answer: pl.DataFrame, held_back: Mapping[str, int], form: Form) -> None:
    """Print an answer, and say how many people are held back."""
    if form is Form.json:
        rows = [
            {
                name: entry if isinstance(entry, int | float | str | None) else str(entry)
                for name, entry in one.items()
            }
            for one in answer.iter_rows(named=True)
        ]
        raw(json.dumps({"estimates": rows, "held_back": held_back}, ensure_ascii=False, indent=2) + "\n")
    elif form is Form.csv:
        raw(answer.write_csv(float_scientific=False))
        say_held_back(held_back, err)
    else:
        show(answer)
        say_held_back(held_back, out)


def say_held_back(held_back: Mapping[str, int], console: Console) -> None:
    """Say how many people releases hold back, if there are any."""
    missing = [f"{people:,} in {release}" for release, people in held_back.items() if people]
    if missing:
        console.print(f"Held back, and in no count: {', '.join(missing)}.")


def show(answer: pl.DataFrame) -> None:
    """Print a table, of which a terminal shows the first lines."""
    from rich.table import Table

    from republish.anonymize.errors import as_data

    if answer.is_empty():
        out.print(NOBODY)
        return
    shown = Table(box=None, pad_edge=False)
    for name, dtype in answer.schema.items():
        side: Literal["left", "right"] = "right" if dtype.is_numeric() else "left"
        shown.add_column(as_data(name.replace("_", " ")), justify=side, overflow="fold")
    rows = answer.head(MOST_LINES) if out.is_terminal else answer
    for row in rows.iter_rows():
        shown.add_row(*map(written, row))
    whole(shown)
    if more := answer.height - rows.height:
        out.print(f"{more:,} more lines: --format csv prints all of them, and so does a pipe (| less)")


def written(entry: object) -> str:
    """An entry as people write it: 1,234.5 for a number estimated, and no digits that nobody measured."""
    from republish.anonymize.errors import as_data

    return f"{round(entry, 6):,}" if isinstance(entry, float) else as_data(str(entry))
