"""The tables of all shards as the tables of one release, put in order range by range by the engine's workers.

Groups are numbered and rows are in order as if there were one shard: nothing that is published tells which
shard a group is from. No byte depends on how many ranges there are:

1. each shard writes its groups in order, and the keys of some of them (`write_groups`);
2. by these keys the order of all groups is cut into ranges of about equal size, and each range is taken from
   all shards and sorted (`sorted_range`);
3. as it is then known how many groups and rows come before each range, the parts of the tables and the
   shards' linkages can be written, each by itself (`written`).
"""

from __future__ import annotations

import shutil
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path

import polars as pl

from republish.anonymize.errors import HomeError
from republish.anonymize.formats.format import Tables
from republish.anonymize.principles import principle_of
from republish.orchestration.chain.making import Clock
from republish.orchestration.chain.snapshot import most_people
from republish.orchestration.engine import the_engine
from republish.orchestration.engine.sorting import KEY, keys_of, sorted_table
from republish.orchestration.readers.datapackage.dated import dated
from republish.orchestration.series.release_record import CANDIDATE, LINKAGE
from republish.orchestration.series.series import Series
from republish.orchestration.series.shards import Shard, ShardJob, jobs_of, shards_of
from republish.orchestration.steps import say_step
from republish.orchestration.storage import parts
from republish.orchestration.storage.home import private_folder, sync
from republish.orchestration.storage.store import (
    PARTIAL,
    read_height,
    read_rows,
    read_table,
    sha256,
    write_table,
    write_working_table,
)

GROUPS, KEYS, HOSTS = "groups.parquet", "keys.parquet", "hosts.parquet"
"""In the folder of a shard, until it is merged: a row for each of its groups, in order; the keys of some of
them; and which of them has whom."""
MERGING, SORTING = f".merging{PARTIAL}", f".sorting{PARTIAL}"
"""In the folder of a release while shards are merged, and in that of a shard: nothing in them counts."""
SHARD, NUMBER = "shard", "number"
"""Where a group is from: its shard, and its number there."""
ORIGINS = "origins.parquet"
"""In the folder of a range: where each of its groups is from, in the order of that, and its number."""
PEOPLE_OF_A_RANGE = 2_000_000
"""People in a range, about: what a worker sorts at a time."""
EVERY = 256
"""The key of one group in so many is noted. A range may be larger by so many groups of each shard."""
BLOCK = 4_096
"""Groups that are read at once of a shard: each range takes a few from every shard."""


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
    groups = groups.select(pl.exclude(SHARD, NUMBER), SHARD, NUMBER)
    ordered = sorted_table(groups, groups.columns, folder / SORTING)
    write_working_table(folder / GROUPS, ordered, BLOCK)
    keys = keys_of(ordered.gather_every(EVERY), groups.columns, folder / SORTING)
    write_working_table(folder / KEYS, keys.to_frame())


def merge_shards(series: Series, release: str, folder: Path, clock: Clock | None = None) -> dict[str, str]:
    """Merge the groups of all shards into the tables to be published, and number the shards' linkages alike.

    `clock` is told what time the engine took (`merging`), and this process (`ranges`).

    Returns
    -------
    dict
        SHA-256 (hex) of the files of these tables and of the linkages, by their names in the folder.
    """
    contract, merging, clock = series.contract, folder / MERGING, clock or Clock()
    tables = principle_of(contract).format(contract).tables(contract)
    say_step("merging shards")
    shutil.rmtree(merging, ignore_errors=True)
    private_folder(merging)
    try:
        ranges, people = ranges_of(series, release, folder)
        run, largest = the_engine().run, max(people // len(ranges), most_people(series, folder))
        clock.lap("ranges")
        found = list(run(sorted_range, ranges, largest, "range"))
        clock.lap("merging")
        say_step(f"merging shards, {sum(one.groups for one in found):,} groups")
        files: list[PartFile | LinkageFile] = [
            *(part for table in tables for part in _parts_of(merging, table, found)),
            *_linkages(jobs_of(series, release, folder), found),
        ]
        clock.lap("ranges")
        digests = list(run(written, files, largest, "file"))
        clock.lap("merging")
        for table in tables:
            shutil.rmtree(folder / f"{CANDIDATE}{table}", ignore_errors=True)
            (merging / f"{CANDIDATE}{table}").rename(folder / f"{CANDIDATE}{table}")
        sync(folder)
    finally:
        shutil.rmtree(merging, ignore_errors=True)
    for shard in shards_of(series):
        for name in (GROUPS, KEYS, HOSTS):
            (shard.within(folder) / name).unlink()
    clock.lap("ranges")
    return {one.name: digest for one, digest in zip(files, digests, strict=True)}


@dataclass(frozen=True)
class Slice:
    """Rows of a file that others have made."""

    file: Path
    start: int
    """Counted from 0."""
    rows: int
    before: int = 0
    """What is added to its `group_id`: how many groups come before those of its range."""

    def read(self) -> pl.DataFrame:
        """Its rows, under the numbers that their groups are published under."""
        rows = read_rows(self.file, self.start, self.rows)
        return rows.with_columns(pl.col("group_id") + self.before) if self.before else rows


@dataclass(frozen=True)
class RangeJob:
    """A range of the order of all groups, which is to be taken from all shards and sorted."""

    series: Series
    release: str
    slices: Sequence[Slice]
    """Groups of each shard in order, among them all of the range."""
    since: bytes | None
    until: bytes | None
    """The range, by the keys of its groups: from the one on, up to the other; None without a limit."""
    place: Path
    """Its own folder, which nobody else writes into."""


@dataclass(frozen=True)
class SortedRange:
    """A range that lies in its folder: a file for each table, and one that says where its groups are from."""

    place: Path
    groups: int
    rows: Mapping[str, int]
    """Rows of each table."""
    of_shards: Mapping[int, int]
    """Groups of each shard that has any, by its number."""


def ranges_of(series: Series, release: str, folder: Path) -> tuple[list[RangeJob], int]:
    """The ranges that the groups of all shards are cut into, and how many people are in all of them."""
    own = [shard.within(folder) for shard in shards_of(series)]
    people = sum(read_height(one / HOSTS) for one in own)
    noted = [read_table(one / KEYS)[KEY] for one in own]
    everything = pl.concat(noted).sort()
    count = max(1, -(-people // PEOPLE_OF_A_RANGE))
    at = sorted({len(everything) * number // count for number in range(1, count)} - {0, len(everything)})
    cuts: list[bytes | None] = [None, *everything.gather(at), None]
    slices = [
        [Slice(one / GROUPS, *found) for found in _between(cuts, list(keys), read_height(one / GROUPS))]
        for one, keys in zip(own, noted, strict=True)
    ]
    places = (folder / MERGING / f"{number:06d}" for number in range(len(cuts)))
    jobs = [
        RangeJob(series, release, own_slices, since, until, place)
        for own_slices, (since, until), place in zip(
            zip(*slices, strict=True), pairwise(cuts), places, strict=False
        )
    ]
    return jobs, people


def _between(cuts: Sequence[bytes | None], keys: Sequence[bytes], groups: int) -> Iterator[tuple[int, int]]:
    """Where the groups of a shard between two cuts and the next are at most, as start and rows.

    Parameters
    ----------
    keys
        Of one in `EVERY` of the shard's groups, from the first on.
    groups
        How many it has.
    """
    for since, until in pairwise(cuts):
        # The first group of the range comes after the last noted one whose key is less.
        start = 0 if since is None else max(0, bisect_left(keys, since) - 1) * EVERY
        end = groups if until is None else min(groups, bisect_left(keys, until) * EVERY)
        yield start, max(0, end - start)


def sorted_range(job: RangeJob) -> SortedRange:
    """Sort a range, number its groups from 1, and write its tables and where its groups are from."""
    contract = job.series.contract
    release_format = principle_of(contract).format(contract)
    found = pl.concat(one.read() for one in job.slices)
    found = sorted_table(found, found.columns, job.place / SORTING, job.since, job.until)
    found = found.with_columns(group_id=pl.int_range(1, found.height + 1))
    of_groups = release_format.of_groups(found.drop(SHARD, NUMBER), contract)
    tables = {
        name: dated(table, job.release)
        for name, table in release_format.published(of_groups, contract).items()
    }
    for name, table in tables.items():
        write_working_table(job.place / f"{name}.parquet", table)
    origins = found.select(SHARD, NUMBER, "group_id").sort(pl.all())
    write_working_table(job.place / ORIGINS, origins, BLOCK)
    counts = origins.group_by(SHARD).len().sort(SHARD)
    return SortedRange(
        place=job.place,
        groups=found.height,
        rows={name: table.height for name, table in tables.items()},
        of_shards=dict(counts.iter_rows()),
    )


@dataclass(frozen=True)
class PartFile:
    """A part of a table that is to be published."""

    name: str
    """In the folder of the release."""
    file: Path
    """Where it is to be written."""
    slices: Sequence[Slice]
    """Its rows."""

    def write(self) -> str:
        """Write it; returns its SHA-256 (hex)."""
        write_table(self.file, pl.concat(one.read() for one in self.slices))
        return sha256(self.file)


@dataclass(frozen=True)
class LinkageFile:
    """A shard's linkage with the groups' published numbers."""

    job: ShardJob
    slices: Sequence[Slice]
    """Where the shard's groups are from, and their numbers."""

    @property
    def name(self) -> str:
        """Its name in the folder of the release."""
        return f"{self.job.shard.place}/{LINKAGE}"

    def write(self) -> str:
        """Write it; returns its SHA-256 (hex)."""
        own = self.job.own
        hosts = read_table(own / HOSTS)
        nothing = pl.DataFrame(schema={SHARD: pl.Int32, NUMBER: pl.Int64, "group_id": pl.Int64})
        numbers = pl.concat([nothing, *(one.read() for one in self.slices)])
        published = numbers.select(group_id=NUMBER, published="group_id")
        found = hosts.join(published, on="group_id", how="left")
        if found["published"].null_count():
            raise HomeError(f"{own / HOSTS}: names a group that is not among those of its shard")
        numbered = found.with_columns(group_id="published")[hosts.columns]
        write_working_table(own / LINKAGE, numbered.sort(pl.all()))
        return sha256(own / LINKAGE)


def written(file: PartFile | LinkageFile) -> str:
    """Write a file of a release; returns its SHA-256 (hex)."""
    return file.write()


def _parts_of(merging: Path, table: str, ranges: Sequence[SortedRange]) -> Iterator[PartFile]:
    """The parts of a table: each has `PART_ROWS` rows of the whole, however that was cut into ranges."""
    before = _groups_before(ranges)
    ends = list(accumulate(one.rows[table] for one in ranges))
    for number, start in enumerate(range(0, max(1, ends[-1]), parts.PART_ROWS)):
        end = min(start + parts.PART_ROWS, ends[-1])
        slices = []
        for one, groups, own_end in zip(ranges, before, ends, strict=True):
            own_start = own_end - one.rows[table]
            first, last = max(start, own_start), min(end, own_end)
            if first < last or end == 0:
                slices.append(
                    Slice(one.place / f"{table}.parquet", first - own_start, max(0, last - first), groups)
                )
        name = f"{CANDIDATE}{table}/{parts.part_name(number)}"
        yield PartFile(name, merging / name, slices)


def _linkages(jobs: Sequence[ShardJob], ranges: Sequence[SortedRange]) -> Iterator[LinkageFile]:
    """The linkages of all shards. The origins of a range's groups are in the order of their shards."""
    slices: dict[int, list[Slice]] = {job.shard.number: [] for job in jobs}
    for one, before in zip(ranges, _groups_before(ranges), strict=True):
        starts = accumulate(one.of_shards.values(), initial=0)
        for (shard, groups), start in zip(one.of_shards.items(), starts, strict=False):
            slices[shard].append(Slice(one.place / ORIGINS, start, groups, before))
    return (LinkageFile(job, slices[job.shard.number]) for job in jobs)


def _groups_before(ranges: Sequence[SortedRange]) -> list[int]:
    """How many groups come before those of each range."""
    return list(accumulate((one.groups for one in ranges), initial=0))[:-1]
