"""`republish copies`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from republish.orchestration.cli.estimate import say_held_back
from republish.orchestration.cli.options import Debug, Limit, PublishedPath
from republish.orchestration.cli.terminal import out
from republish.orchestration.cli.work import Work

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl


def copies(
    published: PublishedPath,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The new folder to write them to.")],
    number: Annotated[
        int, typer.Option("--copies", min=2, max=1000, help="How many copies of each release.")
    ] = 25,
    model: Annotated[
        bool,
        typer.Option(
            "--model", help="Have values go with columns as associate says that they do; takes minutes."
        ),
    ] = False,
    form: Annotated[
        Literal["parquet", "csv"], typer.Option("--format", help="What kind of files are written.")
    ] = "parquet",
    seed: Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same copies.")] = 1,
    limit: Limit = None,
    debug: Debug = False,
) -> None:
    """Write copies of the table: people as they may be, for any analysis in any tool.

    Each copy has a row for each person. Analyse each one as if it were the true table, and pool the answers
    by Rubin's rules: the mean is the estimate, and copies differ as far as it may be off. Nobody's row is
    right but by chance. Associations of a value with other columns come out too weak; with --model they
    don't, for the columns that are named.
    """
    from republish.anonymize.errors import QueryError
    from republish.orchestration.readers.estimate.copies import copies as copies_of
    from republish.orchestration.readers.estimate.copies import write_copies
    from republish.orchestration.readers.estimate.folders import described, held_back
    from republish.orchestration.storage.in_stores import fetched

    if folder.exists():
        raise QueryError(f"{folder}: is there already; name a new folder")
    with fetched([published]) as (place,):
        releases = described(place)
        if model:
            from republish.anonymize.learning.associations import SIMULATED
            from republish.orchestration.readers.associations import copies_by_model

            with Work(published.name, parts=SIMULATED + number) as work:
                found = copies_by_model(place, number, seed, work.begin)
            people = write_copies(folder, iter(found.tables), number, releases, form)
            said = _said(found.told, found.not_told)
        else:
            with Work(published.name, parts=number * len(releases)) as work:
                drawn: Iterator[pl.DataFrame] = copies_of(place, number, seed, work.begin)
                people = write_copies(folder, drawn, number, releases, form)
            said = ""
    held, unit = held_back(releases), "rows" if any(one.of_rows for one in releases) else "people"
    for release, present in people.items():
        out.print(f"{folder}: {number:,} copies of {release}, of {present:,} {unit}")
    if said:
        out.print(said)
    say_held_back(held, out)


def _said(told: list[str], not_told: list[str]) -> str:
    """Of which columns copies show how values go with them."""
    said = f"They show how values go with {', '.join(told)}."
    if not_told:
        said += f" They can't show it for {', '.join(not_told)}: leave that out of models."
    return said
