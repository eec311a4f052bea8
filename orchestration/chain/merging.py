"""The tables of all shards as the tables of one release.

Groups are numbered and rows are in order as if there were one shard: nothing that is published tells which
shard a group is from. All groups come in order in one stream, so that memory does not grow with a release.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import polars as pl

from republish.anonymize.errors import HomeError
from republish.anonymize.formats.format import Tables
from republish.anonymize.principles import principle_of
from republish.orchestration.chain.snapshot import most_people
from republish.orchestration.engine import the_engine
from republish.orchestration.engine.sorting import in_order
from republish.orchestration.readers.datapackage.dated import dated
from republish.orchestration.series.release_record import CANDIDATE, LINKAGE
from republish.orchestration.series.series import Series
from republish.orchestration.series.shards import Shard, ShardJob, jobs_of, shards_of
from republish.orchestration.steps import say_step
from republish.orchestration.storage import parts
from republish.orchestration.storage.home import private_folder, sync
from republish.orchestration.storage.parts import scan_parts
from republish.orchestration.storage.store import (
    PARTIAL,
    read_table,
    sha256,
    write_table,
    write_working_table,
)

GROUPS, HOSTS = "groups.parquet", "hosts.parquet"
"""In the folder of a shard, until it is merged: a row for each of its groups, and which of them has whom."""
MERGING = f".merging{PARTIAL}"
"""In the folder of a release while shards are merged: nothing in it counts."""
SORTING, ORIGINS = "sorting", "origins"
"""Folders in that: of what DuckDB sorts on disk, and of files that say where each group is from."""
SHARD, NUMBER = "shard", "number"
"""Where a group is from: its shard, and its number there."""
AT_A_TIME = 100_000
"""So many groups of the stream are numbered, and made into rows, at a time."""


def write_groups(shard: Shard, folder: Path, published: Tables, linkage: pl.DataFrame) -> None:
    """Keep a shard's groups to be merged.

    Parameters
    ----------
    published
        Its tables as a principle made them.
    linkage
        Its linkage under the identifier's own name.
    """
    write_working_table(folder / HOSTS, linkage)
    contract = shard.contract
    release_format = principle_of(contract).format(contract)
    groups = release_format.as_groups(release_format.internal(published, contract), contract)
    groups = groups.rename({"group_id": NUMBER}).with_columns(pl.lit(shard.number, pl.Int32).alias(SHARD))
    write_working_table(folder / GROUPS, groups.select(pl.exclude(SHARD, NUMBER), SHARD, NUMBER))


def merge_shards(series: Series, release: str, folder: Path) -> dict[str, str]:
    """Merge the groups of all shards into the tables to be published, and number the shards' linkages alike.

    Returns
    -------
    dict
        SHA-256 (hex) of the files of these tables and of the linkages, by their names in the folder.
    """
    contract, merging = series.contract, folder / MERGING
    release_format, jobs = principle_of(contract).format(contract), jobs_of(series, release, folder)
    tables = {f"{CANDIDATE}{name}": name for name in release_format.tables(contract)}
    say_step("merging shards")
    shutil.rmtree(merging, ignore_errors=True)
    private_folder(merging)
    try:
        written = {name: _Parts(merging / place) for place, name in tables.items()}
        for groups in _numbered_groups(jobs, merging):
            of_groups = release_format.of_groups(groups.drop(SHARD, NUMBER), contract)
            for name, table in release_format.published(of_groups, contract).items():
                written[name].add(dated(table, release))
        digests = {
            f"{place}/{part}": digest
            for place, name in tables.items()
            for part, digest in written[name].end().items()
        }
        say_step("numbering the groups of its people")
        number = partial(write_linkage, merging)
        for job, digest in zip(
            jobs, the_engine().run(number, jobs, most_people(series, folder)), strict=True
        ):
            digests[f"{job.shard.place}/{LINKAGE}"] = digest
        for place in tables:
            shutil.rmtree(folder / place, ignore_errors=True)
            (merging / place).rename(folder / place)
        sync(folder)
    finally:
        shutil.rmtree(merging, ignore_errors=True)
    for shard in shards_of(series):
        for name in (GROUPS, HOSTS):
            (shard.within(folder) / name).unlink()
    return digests


def _numbered_groups(jobs: list[ShardJob], merging: Path) -> Iterator[pl.DataFrame]:
    """All groups in order, some at a time, with their published numbers; it is noted which are whose."""
    numbered, place = 0, private_folder(merging / ORIGINS)
    shards = (read_table(job.own / GROUPS) for job in jobs)
    for at, groups in enumerate(in_order(shards, merging / SORTING, AT_A_TIME)):
        found = groups.with_columns(group_id=pl.int_range(numbered + 1, numbered + groups.height + 1))
        write_working_table(place / f"{at:06d}.parquet", found.select(SHARD, NUMBER, "group_id"))
        numbered += groups.height
        yield found


@dataclass
class _Parts:
    """The parts of a table, in its folder: each has `PART_ROWS` rows of the whole, the last one the rest."""

    folder: Path
    digests: dict[str, str] = field(default_factory=dict)
    """SHA-256 (hex) of each part that is written, by its name."""
    _waiting: list[pl.DataFrame] = field(default_factory=list)
    _rows: int = 0

    def add(self, table: pl.DataFrame) -> None:
        """Add the next rows, and write the parts that are full."""
        self._waiting.append(table)
        self._rows += table.height
        while self._rows >= parts.PART_ROWS:
            whole = pl.concat(self._waiting)
            self._write(whole[: parts.PART_ROWS])
            self._waiting, self._rows = [whole[parts.PART_ROWS :]], self._rows - parts.PART_ROWS

    def end(self) -> dict[str, str]:
        """Write the rest; of a table without rows, one part without any."""
        if self._rows or not self.digests:
            self._write(pl.concat(self._waiting))
        return self.digests

    def _write(self, part: pl.DataFrame) -> None:
        name = parts.part_name(len(self.digests))
        write_table(self.folder / name, part)
        self.digests[name] = sha256(self.folder / name)


def write_linkage(merging: Path, job: ShardJob) -> str:
    """Write a shard's linkage with the groups' published numbers; returns its SHA-256 (hex)."""
    own, files = job.own, sorted((merging / ORIGINS).iterdir())
    of_shard = scan_parts(files).filter(pl.col(SHARD) == job.shard.number)
    numbers = of_shard.select(group_id=NUMBER, published="group_id").collect()
    hosts = read_table(own / HOSTS)
    found = hosts.join(numbers, on="group_id", how="left")
    if found["published"].null_count():
        raise HomeError(f"{own / HOSTS}: names a group that is not among those of its shard")
    numbered = found.with_columns(group_id="published")[hosts.columns]
    write_working_table(own / LINKAGE, numbered.sort(pl.all()))
    return sha256(own / LINKAGE)
