"""Copies of releases that are made in memory."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from benchmarks.measures.cells import Cells, cells_of_people
from benchmarks.measures.estimator import estimating_folder
from republish.anonymize.columns import IDENTIFIER, ROW_NAME
from republish.anonymize.contract import Contract
from republish.orchestration.readers.estimate.copies import copies_of

ENOUGH = 10
"""Copies for counts without errors."""


def copies_of_release(
    published: Mapping[str, pl.DataFrame], contract: Contract, number: int = 1, copies: int = ENOUGH
) -> pl.DataFrame:
    """All copies of a release, which is that with such a `number` in the series, one below the other."""
    with estimating_folder(published, contract, number=number) as (connection, package):
        return pl.concat(copies_of(connection, package, copies, 1))


def copied_cells(published: Mapping[str, pl.DataFrame], contract: Contract) -> Cells:
    """The cells of everybody who may be there, by copies."""
    names = {
        own: column for column, own in contract.column_names().items() if column not in (IDENTIFIER, ROW_NAME)
    }
    people = copies_of_release(published, contract).rename(names, strict=False)
    columns = [column for column in names.values() if column in people.columns]
    weighed = people.group_by(columns).agg(weight=pl.len() / ENOUGH)
    return cells_of_people(weighed, contract)
