"""`republish impute`: tables of people as they may be, from a published folder alone."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from republish.orchestration.readers.estimate.command import (
    fitting,
    prepared,
    refuse_other_figures,
    statements_of,
)
from republish.orchestration.storage.manifest import releases_in, verify_tables
from republish.orchestration.unforeseen import named


def imputed(published: Path, copies: int, seed: int) -> pl.DataFrame:
    """Multiple imputations of who has which value, and of where people are within intervals.

    The same seed gives the same copies.

    Returns
    -------
    polars.DataFrame
        A row for each person of each copy: `estimate_copy` (1, 2, …), `release`, the quasi-identifiers and
        the sensitive column under their own names, or the numbered ones of `column_names`.

    Raises
    ------
    PublishedFolderError
        If the folder is not what its manifest says, or has not what it takes.
    QueryError
        If a release is a view.
    """
    found = []
    for folder in releases_in(published):
        with named(folder), fitting(folder):
            stated, (statements, _) = verify_tables(folder), statements_of(folder)
            with prepared(folder, statements) as connection:
                refuse_other_figures(connection, {folder: stated})
                dealt = f"FROM estimate_copies({copies:d}, seed := {seed:d})"
                found.append(pl.DataFrame(connection.sql(dealt)))
    return pl.concat(found, how="vertical_relaxed")
