"""What `republish estimate` makes of a release, for thousands of counts at a time."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import duckdb
import polars as pl

from benchmarks.measures.cells import Cells, cells_of_people
from republish.anonymize.columns import IDENTIFIER, ROW_NAME
from republish.anonymize.contract import Contract
from republish.anonymize.formats import GENERALIZATION
from republish.anonymize.principles import principle_of
from republish.orchestration.readers.datapackage.dated import dated
from republish.orchestration.readers.datapackage.package import data_package
from republish.orchestration.readers.estimate.opened import prepared
from republish.orchestration.readers.estimate.published import CodedRelease, read_published
from republish.orchestration.readers.estimate.statements import estimate_sql, quoted

DATE = "2024-01-01"


@contextmanager
def estimating(
    published: Mapping[str, pl.DataFrame],
    contract: Contract,
    *later: Mapping[str, pl.DataFrame],
    on_grid: bool = True,
    number: int = 1,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection on which `estimate.sql` of a release was run, whose columns have their own names.

    It is that of the release with such a `number` in the series. Later ones are of the months after `DATE`.
    Ends lie on the grid of `min_width` since version 0.5.0.
    """
    with estimating_folder(published, contract, *later, on_grid=on_grid, number=number) as (connection, _):
        yield connection


@contextmanager
def estimating_folder(
    published: Mapping[str, pl.DataFrame],
    contract: Contract,
    *later: Mapping[str, pl.DataFrame],
    on_grid: bool = True,
    number: int = 1,
) -> Iterator[tuple[duckdb.DuckDBPyConnection, CodedRelease]]:
    """The same, and the first of these releases, of which copies are drawn."""
    stated = {"product": contract.product, "series": contract.series, "release": DATE, "n": number}
    if on_grid and principle_of(contract).format(contract) is GENERALIZATION:
        stated["lone_ends"] = 0  # how many are a person's own is not asked
    stated["principle"] = contract.principle.model_dump(mode="json")
    types = {name: str(dtype) for one in published.values() for name, dtype in one.schema.items()}
    release_format = principle_of(contract).format(contract)
    with tempfile.TemporaryDirectory() as folder:
        for month, tables in enumerate((published, *later), start=1):
            date = f"{DATE[:5]}{month:02}{DATE[7:]}"
            (Path(folder) / date).mkdir()
            for name, table in tables.items():
                dated(table, date).write_parquet(Path(folder) / date / f"{name}.parquet")
        package = data_package(contract, release_format, stated, types)
        release = read_published(Path(folder) / DATE, package)
        with prepared(Path(folder), estimate_sql(package), "/*") as connection:
            yield connection, release


def estimated_cells(published: Mapping[str, pl.DataFrame], contract: Contract) -> Cells:
    """The cells of everybody who may be there, by the estimator of `republish estimate`.

    An estimate is the sum of the weights of those in `estimate_people` who meet the condition.
    """
    private = (IDENTIFIER, ROW_NAME)
    ours = {name: column for column, name in contract.column_names().items() if column not in private}
    columns = ", ".join(map(quoted, ours))
    weights = f"SELECT {columns}, sum(estimate_weight) AS weight FROM estimate_people GROUP BY ALL"  # noqa: S608 - columns of a contract of ours
    with estimating(published, contract) as connection:
        found = connection.sql(weights).pl()
    return cells_of_people(found.rename(ours), contract)
