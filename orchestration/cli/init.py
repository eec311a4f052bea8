"""`republish init`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from republish.orchestration.cli.options import Debug, Limit


def init(
    table: Annotated[
        str,
        typer.Argument(
            metavar="FILE-or-DSN",
            help="A file of people, a folder of dated ones, or a database: postgresql://…, duckdb:///FILE,"
            " sqlite:///FILE.",
        ),
    ],
    identifier: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column that identifies a person; or two: household,line."),
    ] = None,
    sensitive: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column of which nobody may learn a person's value."),
    ] = None,
    not_sensitive: Annotated[
        list[str] | None,
        typer.Option(metavar="VALUE", help="A value of it that may be known of a person: none, say."),
    ] = None,
    query: Annotated[
        str | None,
        typer.Option(
            metavar="SELECT", help="Of a database: the query; :release in it is the release's date."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="YAML", help="Where to write the contract. Default: beside the file."),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Ask nothing, and take what is likely: for scripts.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over a contract that is there.")] = False,
    limit: Limit = None,
    debug: Debug = False,
) -> None:
    """Draft a contract from a table, with a comment on everything that was guessed.

    Files that are named alike but for a date (2024-01-01.csv, members_202401.csv, members_2024Q1.csv) are the
    snapshots of a series: all of them are looked at. The draft says how they are written (separator,
    encoding, decimal commas, dates, words for no value), what each column is, and which domain it has,
    rounded outward. Labels are listed, or written into a file beside the contract. No value of a person is
    printed, and none is in a comment.

    On a terminal, it asks which columns identify a person, may be known, and must not be learnt.
    """
    from republish.orchestration.cli.drafting import write_draft

    write_draft(
        table,
        identifier=identifier,
        sensitive=sensitive,
        not_sensitive=tuple(not_sensitive or ()),
        query=query,
        out=out,
        asks=not yes,
        force=force,
    )
