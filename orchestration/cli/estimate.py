"""`republish estimate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchestration.cli.options import Debug, Limit
from orchestration.cli.terminal import out


def estimate(
    published: Annotated[
        Path,
        typer.Argument(metavar="PUBLISHED", help="A published release, or a series of releases."),
    ],
    where: Annotated[
        str | None,
        typer.Option(
            "--where",
            metavar="CONDITION",
            help="The people to count, in SQL: \"age between 30 and 40 and sex = 'F'\". Default: everybody.",
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="COLUMN", help="Count separately for each value of this column."),
    ] = None,
    limit: Limit = None,
    debug: Debug = False,
) -> None:
    """Estimate how many people meet a condition, with an error bar.

    Only the published folder is needed; estimate.sql in it does the same in DuckDB. The true number should
    lie between low and high in 95 of 100 cases; on real tables it did in 80 to 97. Shares are of everybody;
    with --by, of all who meet the condition.
    """
    from rich.table import Table

    from anonymize.errors import as_data
    from orchestration.readers.estimate.command import estimate as estimated

    table = estimated(published, where or "true", by)
    table = table.rename({"split": by}) if by else table.drop("split")
    shown = Table(*(as_data(column.replace("_", " ")) for column in table.columns), box=None, pad_edge=False)
    for row in table.iter_rows():
        shown.add_row(*(f"{entry:,}" if isinstance(entry, float) else as_data(str(entry)) for entry in row))
    out.print(shown if table.height else "no group has anybody who may meet the condition")
