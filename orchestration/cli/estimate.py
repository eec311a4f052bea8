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

    from republish.orchestration.readers.estimate.command import Measure

MOST_LINES = 200
"""The most lines of a table on a terminal."""
NOBODY = (
    "nobody is estimated to meet the condition. Where numbers or dates are known by intervals, few places are"
    " tried in each: ask for a wider range"
)
"""What is said of an empty answer: people whom no interval excludes may meet the condition all the same."""


def estimate(
    published: PublishedPath,
    where: Annotated[
        str | None,
        typer.Option(
            "--where",
            metavar="CONDITION",
            help="The people to count, in SQL: \"age between 30 and 40 and sex = 'F'\". Default: everybody.",
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by",
            metavar="COLUMN",
            help="Count separately for each value of this column, or of an expression: age // 10. Several:"
            " for each combination.",
        ),
    ] = None,
    mean: Annotated[
        str | None,
        typer.Option(
            "--mean", metavar="COLUMN", help="Estimate the mean of this column in place of a count."
        ),
    ] = None,
    total: Annotated[
        str | None,
        typer.Option("--sum", metavar="COLUMN", help="Estimate the sum of this column in place of a count."),
    ] = None,
    quantile: Annotated[
        str | None,
        typer.Option(
            "--quantile",
            metavar="COLUMN=NUMBER",
            help="Estimate a quantile: age=0.5 is the median, and age=0.9 what 9 in 10 are not older than.",
        ),
    ] = None,
    change: Annotated[
        bool, typer.Option("--change", help="Estimate what changed from each release to the next one.")
    ] = False,
    everybody: Annotated[
        bool,
        typer.Option(
            "--everybody",
            help="Count people who are held back, too, as if they were like the others, between none and all"
            " of them.",
        ),
    ] = False,
    last: Annotated[
        bool,
        typer.Option(
            "--last",
            help="Of a series, estimate from its last release alone; with --change, from the last two.",
        ),
    ] = False,
    form: Annotated[
        Form, typer.Option("--format", help="How the answer is written; csv and json for programs.")
    ] = Form.table,
    limit: Limit = None,
    debug: Debug = False,
) -> None:
    """Estimate how many people meet a condition, or a mean, sum or quantile of theirs, with an error bar.

    Only the published folder is needed; estimate.sql in it does the same in DuckDB. The true number should
    lie between low and high in 95 of 100 cases; on real tables it did in 86 to 100. Both are 1.96 standard
    errors away, or less far, at what the groups make impossible. Shares are of everybody; with --by, of all
    who meet the condition. People held back are in no count, and are named, unless you ask
    for everybody.
    """
    from republish.anonymize.errors import QueryError
    from republish.orchestration.readers.estimate import command
    from republish.orchestration.storage.in_stores import fetched
    from republish.orchestration.storage.manifest import releases_in

    measure = _measure(mean, total, quantile)
    if change and measure:
        raise QueryError(f"--change {measure.option}: a change is estimated of counts only")
    if everybody and (change or measure):
        raise QueryError(f"--everybody {measure.option if measure else '--change'}: is for counts only")
    with fetched([published]) as (folder,):
        asked = releases_in(folder)[-1] if last else folder
        answer = command.estimate(
            folder, where or "true", by or (), measure, change=change, everybody=everybody, last=last
        )
        of_rows = command.counts_rows(asked)
        if of_rows:
            answer = answer.rename({"people": "rows"}, strict=False)
        say(answer, {} if everybody else command.held_back(asked), form)
        if form is not Form.json:
            columns = [*(by or ()), *([measure.column] if measure else [])]
            for remark in command.remarks(folder, where or "true", columns, of_rows=of_rows):
                (err if form is Form.csv else out).print(remark)


def _measure(mean: str | None, total: str | None, quantile: str | None) -> Measure | None:
    from republish.anonymize.errors import QueryError
    from republish.orchestration.readers.estimate.command import Measure

    if sum(one is not None for one in (mean, total, quantile)) > 1:
        raise QueryError("--mean, --sum and --quantile: ask for one of them at a time")
    if total is not None:
        return Measure(total, is_sum=True)
    if quantile is None:
        return None if mean is None else Measure(mean)
    column, _, written = quantile.rpartition("=")
    try:
        place = float(written)
    except ValueError:
        place = 0.0
    if not column or not 0 < place < 1:
        raise QueryError(
            f"--quantile {quantile}: write COLUMN=NUMBER, with a number between 0 and 1: cost=0.5"
        )
    return Measure(column, place)


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
