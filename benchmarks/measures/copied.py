"""Copies of releases that are made in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from benchmarks.measures.cells import Cells, cells_of_people
from republish.anonymize.columns import IDENTIFIER, ROW_NAME
from republish.anonymize.contract import Contract
from republish.anonymize.formats import GENERALIZATION
from republish.anonymize.principles import principle_of
from republish.orchestration.readers.datapackage.dated import dated
from republish.orchestration.readers.datapackage.package import data_package
from republish.orchestration.readers.estimate.copies import copies_of
from republish.orchestration.readers.estimate.published import read_published

DATE = "2024-01-01"
ENOUGH = 10
"""Copies for counts without errors."""


def copies_of_release(
    published: Mapping[str, pl.DataFrame], contract: Contract, number: int = 1, copies: int = ENOUGH
) -> pl.DataFrame:
    """All copies of a release, which is that with such a `number` in the series, one below the other."""
    release_format = principle_of(contract).format(contract)
    stated = {"product": contract.product, "series": contract.series, "release": DATE, "n": number}
    stated["principle"] = contract.principle.model_dump(mode="json")
    if release_format is GENERALIZATION:
        stated["lone_ends"] = 0  # how many are a person's own is not asked
    types = {name: str(dtype) for one in published.values() for name, dtype in one.schema.items()}
    package = data_package(contract, release_format, stated, types)
    with tempfile.TemporaryDirectory() as folder:
        for name, table in published.items():
            dated(table, DATE).write_parquet(Path(folder) / f"{name}.parquet")
        return pl.concat(copies_of(read_published(Path(folder), package), copies, 1))


def copied_cells(published: Mapping[str, pl.DataFrame], contract: Contract) -> Cells:
    """The cells of everybody who may be there, by copies."""
    private = (IDENTIFIER, ROW_NAME)
    names = {own: column for column, own in contract.column_names().items() if column not in private}
    people = copies_of_release(published, contract).rename(names, strict=False)
    weighed = people.group_by(*names.values()).agg(weight=pl.len() / ENOUGH)
    return cells_of_people(weighed, contract)
