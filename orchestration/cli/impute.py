"""`republish impute`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from republish.orchestration.cli.estimate import say_held_back
from republish.orchestration.cli.options import Debug, Limit, PublishedPath
from republish.orchestration.cli.terminal import out
from republish.orchestration.cli.work import Work

if TYPE_CHECKING:
    from republish.orchestration.readers.associations import Imputed


def impute(
    published: PublishedPath,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The new file: .parquet or .csv.")],
    copies: Annotated[int, typer.Option("--copies", min=1, max=1000, help="How many tables.")] = 20,
    model: Annotated[
        bool,
        typer.Option(
            "--model",
            help="Have values go with columns as associate says that they do; takes minutes.",
        ),
    ] = False,
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same answer.")] = 1,
    limit: Limit = None,
    debug: Debug = False,
) -> None:
    """Write tables of people as they may be, to be fed to a regression.

    Each has a row for each person. Every group's values are dealt out at random among its people, who take
    places at random within its intervals. Analyse each table alone, and pool the results by Rubin's rules.
    Nobody's row is right but by chance: associations of a value with other columns come out too weak, and
    docs/how-to/count_people.md says by how much they did. With --model they don't, for the columns that are
    named.
    """
    from republish.anonymize.errors import QueryError
    from republish.orchestration.readers.estimate.command import held_back
    from republish.orchestration.readers.estimate.copies import imputed
    from republish.orchestration.storage.in_stores import fetched
    from republish.orchestration.storage.store import write_csv, write_table

    writers = {".parquet": write_table, ".csv": write_csv}
    if file.suffix.lower() not in writers:
        raise QueryError(f"{file}: name a file that ends in .parquet or .csv")
    if file.exists():
        raise QueryError(f"{file}: is there already; name a new file")
    with fetched([published]) as (folder,):
        if model:
            from republish.anonymize.learning.associations import SIMULATED
            from republish.orchestration.readers.associations import imputed_by_model

            with Work(published.name, parts=SIMULATED + copies) as work:
                found = imputed_by_model(folder, copies, seed, work.begin)
            tables, said = found.tables, _said(found)
        else:
            tables, said = imputed(folder, copies, seed), ""
        held = held_back(folder)
    writers[file.suffix.lower()](file, tables)
    people = tables.height // copies
    out.print(f"{file}: {copies:,} tables of {people:,} people, told apart by estimate_copy")
    if said:
        out.print(said)
    say_held_back(held, out)


def _said(found: Imputed) -> str:
    """Of which columns tables show how values go with them."""
    said = f"They show how values go with {', '.join(found.told)}."
    if found.not_told:
        said += f" They can't show it for {', '.join(found.not_told)}: leave that out of models."
    return said
