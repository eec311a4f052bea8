"""Audits of one's own releases: what the home that they were published in keeps of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl

from republish.anonymize.columns import IDENTIFIER, PSEUDONYM
from republish.orchestration.audit.read.folders import (
    PublishedSeries,
    Reading,
    ReleaseFiles,
    as_truth,
    read_truth,
)
from republish.orchestration.chain.snapshot import KEPT, LEFT_OUT, PEOPLE
from republish.orchestration.contracts.contract_file import ContractFile
from republish.orchestration.series.persons import comparable, forgotten, of_series
from republish.orchestration.snapshots.missing import counted_by_column
from republish.orchestration.storage.home import Home, is_home
from republish.orchestration.storage.store import read_json, read_table


def own_home(published: Sequence[Path], product: str) -> Home | None:
    """The home of a product whose releases lie in it; None elsewhere."""
    for place in (one.absolute() for one in published):
        homes = [above.parent for above in (place, *place.parents) if above.name == "published"]
        for home in map(Home, filter(is_home, homes)):
            if home.private(product, "").is_dir():
                return home
    return None


def why_no_groups(home: Home, series: Iterable[PublishedSeries]) -> str | None:
    """Why the private folder of a home can't say who is in which group of these releases; None if it can."""
    for one in series:
        for release in one.releases:
            product, name = map(str, release.series)
            if not _forgotten(home, product, name).is_empty():
                return "people were forgotten, and their groups with them"
            if not _files(home.private(product, name) / release.name, "linkage.parquet"):
                return f"the working files of {one.name} {release.name} are gone (keep_private)"
    return None


def read_own_truth(home: Home, file: ContractFile, release: ReleaseFiles, reading: Reading) -> pl.DataFrame:
    """The snapshot behind a release, as `read_truth` returns it.

    It is the one that was kept when the release was made. If it is gone, or people were forgotten, it is what
    the source has now, without those who were not to be in the release.
    """
    contract, (product, series) = file.contract, map(str, release.series)
    folder, gone = home.private(product, series) / release.name, _forgotten(home, product, series)
    files, stated = _files(folder, PEOPLE), read_json(folder / KEPT) or {}
    if gone.is_empty() and files and stated.get("columns") == contract.column_names():
        left_out = [read_table(one) for one in _files(folder, LEFT_OUT)]
        reading.left_out[release.name] = counted_by_column(pl.concat(left_out)) if left_out else {}
        people = pl.concat(map(read_table, files)).drop(PSEUDONYM)
        for one in files:
            reading.note(one, people.height if len(files) == 1 else None)
        return as_truth(people, contract, reading)
    never = gone.filter(~pl.col("again") & (pl.col("through") < release.name))

    def those_in(people: pl.DataFrame) -> pl.DataFrame:
        return people.filter(~comparable(home, people[IDENTIFIER]).is_in(never["person"].implode()))

    return read_truth(file, release.name, contract, reading, those_in)


def _forgotten(home: Home, product: str, series: str) -> pl.DataFrame:
    return forgotten(home, product).filter(of_series(series))


def _files(folder: Path, name: str) -> list[Path]:
    """A file of a release, or those of its shards."""
    return [file for file in (folder / name, *sorted(folder.glob(f"shard-*/{name}"))) if file.is_file()]
