"""The tables of all shards as the tables of one release, sorted on disk.

Groups are numbered and rows are in order as if there were one shard: nothing that is published tells which
shard a group is from.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import polars as pl

from republish.anonymize.errors import HomeError
from republish.anonymize.formats.format import Tables
from republish.anonymize.principles import principle_of
from republish.orchestration.chain.snapshot import most_people
from republish.orchestration.engine import the_engine
from republish.orchestration.engine.sorting import sorted_rows
from republish.orchestration.readers.datapackage.dated import dated
from republish.orchestration.series.release_record import CANDIDATE, LINKAGE
from republish.orchestration.series.series import Series
from republish.orchestration.series.shards import Shard, ShardJob, jobs_of, shards_of
from republish.orchestration.steps import say_step
from republish.orchestration.storage.parts import write_parts
from republish.orchestration.storage.store import (
    PARTIAL,
    read_columns,
    read_table,
    sha256,
    write_working_table,
)

GROUPS, HOSTS = "groups.parquet", "hosts.parquet"
"""In the folder of a shard, until it is merged: a row for each of its groups, and which of them has whom."""
MERGING = f".merging{PARTIAL}"
"""In the folder of a release, while shards are merged: nothing in it counts."""
SHARD, NUMBER = "shard", "number"
"""Where a group is from: its shard, and its number there."""


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
    contract, shards = series.contract, shards_of(series)
    release_format = principle_of(contract).format(contract)
    say_step("merging shards")
    merging = folder / MERGING
    try:
        parts = write_parts(merging / "sorted", _numbered(shards, folder, merging))
        files = [
            file
            for table in release_format.tables(contract)
            for file in write_parts(
                folder / f"{CANDIDATE}{table}",
                (
                    dated(
                        release_format.published(
                            release_format.of_groups(read_table(part), contract), contract
                        )[table],
                        release,
                    )
                    for part in parts
                ),
            )
        ]
        jobs = jobs_of(series, release, folder)
        list(the_engine().run(partial(number_linkage, merging), jobs, most_people(series, folder)))
    finally:
        shutil.rmtree(merging, ignore_errors=True)
    files += [shard.within(folder) / LINKAGE for shard in shards]
    for shard in shards:
        for name in (GROUPS, HOSTS):
            (shard.within(folder) / name).unlink()
    return {str(file.relative_to(folder)): sha256(file) for file in files}


def _numbered(shards: Sequence[Shard], folder: Path, merging: Path) -> Iterator[pl.DataFrame]:
    """All groups in the order that they are published in, under their numbers; it is noted who has which."""
    files = [shard.within(folder) / GROUPS for shard in shards]
    columns = read_columns(files[0])
    before = 0
    for number, groups in enumerate(sorted_rows(files, columns, merging / "spilled")):
        found = groups.with_columns(group_id=pl.int_range(before + 1, before + groups.height + 1))
        for (shard,), own in (
            found.select(SHARD, NUMBER, "group_id").partition_by(SHARD, as_dict=True).items()
        ):
            write_working_table(merging / shards[shard].place / f"{number:06d}.parquet", own)
        before += groups.height
        yield found.drop(SHARD, NUMBER)
        say_step(f"merging shards, {before:,} groups so far")
    if not before:
        yield read_table(files[0]).clear().drop(SHARD, NUMBER).with_columns(group_id=pl.lit(0, pl.Int64))


def number_linkage(merging: Path, job: ShardJob) -> None:
    """Write a shard's linkage with the groups' published numbers."""
    hosts, files = read_table(job.own / HOSTS), sorted((merging / job.shard.place).glob("*.parquet"))
    nothing = pl.DataFrame(schema={SHARD: pl.Int32, NUMBER: pl.Int64, "group_id": pl.Int64})
    numbers = pl.concat([nothing, *map(read_table, files)]).select(group_id=NUMBER, published="group_id")
    found = hosts.join(numbers, on="group_id", how="left")
    if found["published"].null_count():
        raise HomeError(f"{job.own / HOSTS}: names a group that is not among those of its shard")
    numbered = found.with_columns(group_id="published")[hosts.columns]
    write_working_table(job.own / LINKAGE, numbered.sort(pl.all()))
