"""A snapshot divided into shards on disk: it is read piece by piece, and never in memory as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from orchestration.series.series import Series
from orchestration.series.shards import Shard, shard_numbers, shards_of
from orchestration.snapshots.sources import ROW, read_pieces
from orchestration.steps import say_step
from orchestration.storage.home import private_folder
from orchestration.storage.store import read_table, write_table


@dataclass(frozen=True)
class Divided:
    """The people of a source by shard, as it has them."""

    folder: Path
    """A folder for each shard, with files in the order of the source."""
    present: list[str]
    """The names of all columns of the source."""
    rows: list[int]
    """How many rows each shard has."""

    def source_of(self, shard: Shard) -> pl.DataFrame:
        """The people of a shard as the source has them, with their row's number in it (`ROW`)."""
        files = sorted(shard.within(self.folder).iterdir())
        return pl.concat([read_table(file) for file in files], how="vertical_relaxed")


def divide(series: Series, release: str, version: int | None, folder: Path) -> Divided:
    """Divide a release's snapshot into the shards of a series, in files below a folder.

    Raises
    ------
    SnapshotError
        If the snapshot is missing or can't be read.
    """
    pieces, present = read_pieces(series.file, release, version)
    shards = shards_of(series)
    for shard in shards:
        private_folder(shard.within(folder))
    rows, read = [0] * len(shards), 0
    for number, piece in enumerate(pieces):
        for at, part in _parts(
            series, piece.with_columns(pl.int_range(read + 1, read + piece.height + 1).alias(ROW))
        ):
            rows[at] += part.height
            write_table(shards[at].within(folder) / f"{number:06d}.parquet", part)
        read += piece.height
        say_step(f"dividing its snapshot, {read:,} rows so far")
    return Divided(folder, present, rows)


def _parts(series: Series, piece: pl.DataFrame) -> Iterator[tuple[int, pl.DataFrame]]:
    """Each shard's rows of a piece; all shards have a first file, if one without rows."""
    name, shards = series.contract.identifier, series.contract.shards
    if not piece.height or name not in piece.columns:
        # Without identifiers nobody can be divided, and there will be no release: the first shard says why.
        yield from ((at, piece if at == 0 else piece.clear()) for at in range(shards))
        return
    numbered = piece.with_columns(shard_numbers(piece[name], series.shard_key, shards))
    parts = numbered.partition_by("shard", as_dict=True, include_key=False)
    yield from ((int(at), part) for (at,), part in sorted(parts.items()))
