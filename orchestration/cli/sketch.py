"""`republish sketch` and `republish overlap`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from republish.orchestration.cli.options import Debug, Limit
from republish.orchestration.cli.terminal import out

KEEP = 1_024
"""Digests of a sketch: half of the people of two large tables are then known to within 3 %."""


def sketch(
    tables: Annotated[
        list[Path], typer.Argument(metavar="TABLE…", help="Your people: .parquet or .csv files.")
    ],
    by: Annotated[
        list[str],
        typer.Option(
            "--by",
            metavar="COLUMN",
            help="The identifier, or each of several columns. NAME=OTHER, if both publishers call it OTHER.",
        ),
    ],
    secret: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="What both publishers know, and nobody else (openssl rand -hex 32 > FILE).",
        ),
    ],
    file: Annotated[Path, typer.Option("--out", metavar="SKETCH", help="The new file.")],
    keep: Annotated[
        int, typer.Option("--keep", min=64, max=1_000_000, help="The most people that are drawn.")
    ] = KEEP,
    limit: Limit = None,
    debug: Debug = False,
) -> None:
    """Write digests of some of your people, by which another publisher finds how many you share.

    The file has keyed digests of the people drawn, how many people there are, and the names of the columns.
    Whoever has it and the secret can try identifiers. They find the people who were drawn, and learn of some
    others that they are not in your tables. Without the secret nobody can. Give it to the other publisher
    alone.
    """
    from republish.orchestration.overlap import sketch_of, write_sketch

    drawn, left_out = sketch_of(tables, by, secret, keep)
    write_sketch(file, drawn)
    few = f"{len(drawn.digests):,} of {drawn.people:,} people, by {', '.join(drawn.by)}"
    out.print(f"{file}: digests of {few}. Whoever has it and the secret can test who is among these")
    if left_out:
        out.print(f"{left_out:,} rows are left out: they lack an entry of --by")


def overlap(
    own: Annotated[Path, typer.Argument(metavar="SKETCH", help="Your own sketch.")],
    others: Annotated[Path, typer.Argument(metavar="OTHER", help="The other publisher's.")],
    debug: Debug = False,
) -> None:
    """Estimate how many people two publishers share, from a sketch of each.

    Whoever has both publishers' releases of a person may learn the person's value. Neither publisher's
    promise covers that (docs/explanation/adversaries.md). The truth is in the interval for 95 of 100 secrets.
    The number is exact if both sketches have everybody.
    """
    from republish.orchestration.overlap import overlap as found_in

    found, sketches = found_in((own, others))
    if found.drawn is None:
        out.print(f"{found.people:,} people are in both: everybody was compared")
    else:
        interval = f"{found.low:,} to {found.high:,} with 95 % confidence"
        out.print(f"about {found.people:,} people are in both, {interval}, by {found.drawn:,} people drawn")
    for file, one in zip((own, others), sketches, strict=True):
        out.print(f"{file}: {one.people:,} people, of whom these are {found.people / one.people:.1%}")
    if not found.people:
        out.print("If you expect some, see whether both tables write the columns in the same way")
