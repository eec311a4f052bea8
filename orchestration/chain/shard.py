"""A shard's part of a release: made from its people, attacked, and written into its folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from republish.anonymize.columns import PSEUDONYM, exactly
from republish.anonymize.contract import Product
from republish.anonymize.people.rows import different_people, names_in_linkage
from republish.anonymize.principle.candidate import ReleaseFigures
from republish.anonymize.principles import principle_of
from republish.orchestration.chain.audit import Attacked
from republish.orchestration.chain.inputs import people_of
from republish.orchestration.chain.making import Clock, draw, remembered_of
from republish.orchestration.chain.merging import write_groups
from republish.orchestration.series.release_record import write_published, write_tables
from republish.orchestration.series.shards import ShardJob


@dataclass(frozen=True)
class ShardResult:
    """A shard's part of a release that lies in its folder: all that the whole needs to know of it."""

    attacked: Attacked
    figures: ReleaseFigures
    """Figures of the candidate."""
    widths: Mapping[str, float]
    """Figures of its format."""
    different_people: int | None
    """The people in the release, where they may have several rows; None where each has one."""
    corrected: int
    """How many sensitive values were wrong so far."""
    files: Mapping[str, str]
    """SHA-256 (hex) of what is kept, by name in the release's folder."""
    seconds: Mapping[str, float]


def make_shard(job: ShardJob) -> ShardResult:
    """Make and attack what a shard has of a release, and write it into the shard's folder.

    Raises
    ------
    HomeError
        If its delta is not that of its snapshot.
    NotEligible, SnapshotError, ValueChangeRefused
        If the principle refuses the batch.
    """
    clock, shard, release = Clock(), job.shard, job.release
    series, contract, folder = shard.series, shard.contract, job.own
    before = remembered_of(series, release, job.predecessor)
    people = people_of(shard, release, folder)
    clock.lap("files")
    drawn = draw(shard, release, job.number, people, before, clock)
    candidate = drawn.candidate
    linkage = named_linkage(contract, drawn.people, candidate.linkage)
    files = write_tables(folder, candidate.state, drawn.knowledge, candidate.buckets)
    if shard.place:
        write_groups(shard, folder, candidate.published, linkage)
    else:
        files |= write_published(folder, candidate, linkage, release)
    clock.lap("files")
    release_format = principle_of(contract).format(contract)
    return ShardResult(
        attacked=drawn.attacked,
        figures=candidate.figures,
        widths=release_format.figures(release_format.internal(candidate.published, contract), contract),
        different_people=different_people(candidate.linkage, contract),
        corrected=drawn.corrected,
        files={f"{shard.place}/{name}".lstrip("/"): digest for name, digest in files.items()},
        seconds=clock.seconds,
    )


def named_linkage(contract: Product, people: pl.DataFrame, linkage: pl.DataFrame) -> pl.DataFrame:
    """The linkage of a candidate of people under the identifier's own name, sorted by all columns."""
    names = names_in_linkage(contract)
    named = people.select(exactly(PSEUDONYM, *names)).join(linkage, on=PSEUDONYM)
    return named.drop(PSEUDONYM).sort(pl.all()).rename(names)
