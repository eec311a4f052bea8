"""Shards: the people of a large series, divided once and for all. Each shard is a series of its own.

A keyed hash of the identifier says in which shard a person is, in every release. It looks at no value, and
nobody without the key can tell it. People of two shards are never in one group, so whatever is promised of a
person and the groups they are in holds for the whole if it holds in each shard.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from republish.anonymize.contract import Product
from republish.anonymize.people.pseudonyms import pseudonyms
from republish.anonymize.spelling import identifier_forms
from republish.orchestration.series.predecessor import Predecessor
from republish.orchestration.series.series import Series


@dataclass(frozen=True)
class Shard:
    """One of the shards of a series; of most series, the only one."""

    series: Series
    number: int = 0
    """Counted from 0."""

    @property
    def contract(self) -> Product:
        """The product that the series' contract declares."""
        return self.series.contract

    @property
    def place(self) -> str:
        """Its folder in that of a release, `shard-0003`; empty of the only one, whose files lie there."""
        return "" if self.contract.shards == 1 else shard_name(self.number)

    def within(self, folder: Path) -> Path:
        """Its working files in the folder of a release."""
        return folder / self.place

    def draw(self, release: str, purpose: str) -> np.random.Generator:
        """The secret, repeatable randomness of a release for one purpose, in this shard."""
        return self.series.draw(release, f"{purpose}/{self.place}" if self.place else purpose)


@dataclass(frozen=True)
class ShardJob:
    """A shard of a release that is to be worked on."""

    shard: Shard
    release: str
    folder: Path
    """The release's, with that of the shard in it."""
    predecessor: Predecessor = field(default_factory=Predecessor)
    """The predecessor of the shard's part."""
    number: int = 0
    """n, counted from 1; of a release that is built on a predecessor."""

    @property
    def own(self) -> Path:
        """The shard's own folder."""
        return self.shard.within(self.folder)


def jobs_of(
    series: Series, release: str, folder: Path, predecessor: Predecessor | None = None
) -> list[ShardJob]:
    """A job for each shard of a release."""
    if predecessor is None:
        return [ShardJob(shard, release, folder) for shard in shards_of(series)]
    number = series.chain_number(release)
    return [
        ShardJob(one, release, folder, predecessor.of_shard(one.place), number) for one in shards_of(series)
    ]


def shard_name(number: int) -> str:
    """The name of the folder of a shard, counted from 0."""
    return f"shard-{number:04d}"


def shards_of(series: Series) -> list[Shard]:
    """All shards of a series."""
    return [Shard(series, number) for number in range(series.contract.shards)]


def shard_folders(folder: Path) -> list[Path]:
    """The folders of a release's shards in its own; that itself, where its people are not divided."""
    return sorted(folder.glob("shard-*")) or [folder]


def shard_numbers(identifiers: pl.Series, key: bytes, shards: int) -> pl.Series:
    """The number of the shard that each person is in, counted from 0.

    Identifiers that are one person's by the rules of a snapshot, because they differ by spaces or capital
    letters alone, are in one shard: there they are found.

    Parameters
    ----------
    identifiers
        As a source has them: text, whole numbers or bytes; null counts as empty.
    key
        Secret bytes; the same throughout a series, and in those that go on from it.
    """
    is_bytes = identifiers.dtype == pl.Binary
    forms = identifiers.fill_null(b"") if is_bytes else identifier_forms(identifiers).fill_null("")
    digest = pseudonyms(forms, key)
    number = digest.bin.slice(0, 8).bin.reinterpret(dtype=pl.UInt64, endianness="little")
    return (number % shards).cast(pl.Int32).alias("shard")
