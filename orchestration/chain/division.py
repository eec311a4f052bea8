"""A snapshot divided into shards on disk: it is read piece by piece, and never in memory as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import polars as pl

from republish.anonymize.columns import entries
from republish.orchestration.engine import the_engine
from republish.orchestration.series.series import Series
from republish.orchestration.series.shards import Shard, shard_numbers, shards_of
from republish.orchestration.snapshots import sources
from republish.orchestration.snapshots.arrow import with_numerics
from republish.orchestration.snapshots.locale_formats import refuse_ambiguous_numbers
from republish.orchestration.snapshots.sources import ROW, Piece, Source
from republish.orchestration.steps import say_step
from republish.orchestration.storage.home import private_folder
from republish.orchestration.storage.store import read_table, write_working_table


@dataclass(frozen=True)
class Divided:
    """The people of a source by shard, as it has them."""

    folder: Path
    """A folder for each shard, with files in the order of the source."""
    present: list[str]
    """The names of all columns of the source."""
    rows: list[int]
    """How many rows each shard has."""
    numerics: Sequence[pl.DataFrame]
    """Results of `arrow.numerics` for its pieces."""

    def source_of(self, shard: Shard) -> pl.DataFrame:
        """The people of a shard as the source has them, with their row's number in it (`ROW`)."""
        files = sorted(shard.within(self.folder).iterdir())
        whole = pl.concat([read_table(file) for file in files], how="vertical_relaxed")
        return with_numerics(whole, self.numerics)


def divide(series: Series, source: Source, folder: Path) -> Divided:
    """Divide a snapshot into the shards of a series, in files below a folder.

    The pieces of files are divided by the engine, several at a time.

    Raises SnapshotError if the snapshot is missing or can't be read.
    """
    say_step("dividing its snapshot")
    pieces, shards = source.pieces(sources.PIECE), shards_of(series)
    for shard in shards:
        private_folder(shard.within(folder))
    jobs = (_Job(series, number, piece, folder) for number, piece in enumerate(pieces.pieces))
    if pieces.is_anywhere:
        found = list(jobs)
        largest = max(job.piece.rows for job in found)
        divided = list(the_engine().run(divide_piece, found, largest, "piece"))
    else:
        divided = list(map(divide_piece, jobs))
    refuse_ambiguous_numbers([piece.ambiguous_numbers for piece in divided])
    rows = [sum(counts) for counts in zip(*(piece.rows for piece in divided), strict=True)]
    return Divided(folder, pieces.present, rows, [piece.numerics for piece in divided])


@dataclass(frozen=True)
class _Job:
    """A piece of a snapshot to be divided."""

    series: Series
    number: int
    piece: Piece
    folder: Path


class _DividedPiece(NamedTuple):
    """The outcome of dividing a piece."""

    rows: list[int]
    """How many each shard has of it."""
    ambiguous_numbers: pl.DataFrame
    numerics: pl.DataFrame


def divide_piece(job: _Job) -> _DividedPiece:
    """Write each shard's rows of a piece into a file of its own, and count them."""
    shards = shards_of(job.series)
    read, rows = job.piece.read(), [0] * len(shards)
    found = read.table
    if ROW not in found.columns:
        found = found.with_row_index(ROW, offset=job.piece.first)
    for at, part in _parts(job.series, found):
        rows[at] = part.height
        write_working_table(shards[at].within(job.folder) / f"{job.number:06d}.parquet", part)
    return _DividedPiece(rows, read.ambiguous_numbers, read.numerics)


def _parts(series: Series, piece: pl.DataFrame) -> Iterator[tuple[int, pl.DataFrame]]:
    """Each shard's rows of a piece; of one without rows, the columns for all shards."""
    name, shards = series.contract.identifier, series.contract.shards
    if not piece.height:
        yield from ((at, piece) for at in range(shards))
    elif name not in piece.columns:
        yield 0, piece  # nobody can be divided, and there will be no release: the first shard says why
    else:
        numbered = piece.with_columns(shard_numbers(entries(piece, name), series.shard_key, shards))
        parts = numbered.partition_by("shard", as_dict=True, include_key=False)
        yield from ((int(at), part) for (at,), part in sorted(parts.items()))
