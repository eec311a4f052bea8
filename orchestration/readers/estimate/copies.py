"""`republish copies`: tables of people as they may be, from a published folder alone."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from republish.anonymize.learning.copies import Copy, drawn_copies
from republish.orchestration.readers.estimate.folders import (
    BESIDE,
    Described,
    beside_copies,
    package_of,
)
from republish.orchestration.readers.estimate.published import (
    CodedRelease,
    read_published,
    refuse_other_figures,
)
from republish.orchestration.storage.manifest import releases_in, verify_tables
from republish.orchestration.storage.store import PARTIAL, write_csv, write_json, write_table
from republish.orchestration.unforeseen import named

COPY, RELEASE = "copy", "release"
BINS = 4
"""The stream of chance for numbers in bins: those below it are of places and values (`drawn_copies`)."""


def copies(
    published: str | Path, number: int = 25, seed: int = 1, begin: Callable[[str], None] | None = None
) -> Iterator[pl.DataFrame]:
    """Draw copies of a published table: people as they may be, to be analysed as if they were the true ones.

    What is estimated is the mean of what is found on each copy, and its error follows from how much the
    copies differ (`pooled`): they differ as far as a reader errs. Nobody's row is right but by chance.

    Parameters
    ----------
    published
        A release, or a series.
    number
        How many copies of each release are drawn.
    seed
        The same one gives the same copies; not negative.
    begin
        Is told of each copy before it is given. The next ones may be drawn by then, in other threads.

    Yields
    ------
    polars.DataFrame
        A row for each person of one copy of one release: `copy` (1, 2, …), `release`, the quasi-identifiers
        and the sensitive columns under their own names, or the numbered ones of `column_names`. Counterfeits
        are nobody. All copies of a release come before those of the next one.

    Raises
    ------
    PublishedFolderError
        If the folder is not what its manifest says, or has not what it takes.
    QueryError
        If a release is a view.
    """
    for folder in releases_in(Path(published)):
        with named(folder):
            stated = verify_tables(folder)
            release = read_published(folder, package_of(folder))
            refuse_other_figures(folder, release, stated)
            yield from copies_of(release, number, seed, begin)


def copies_of(
    release: CodedRelease, number: int, seed: int, begin: Callable[[str], None] | None = None
) -> Iterator[pl.DataFrame]:
    """Copies of a release that was read, as `copies` has them."""
    drawn = drawn_copies(release.groups, number, seed)
    for copy in range(1, number + 1):
        if begin is not None:
            begin(f"{release.date}, copy {copy}")
        yield _table(release, next(drawn), copy, np.random.default_rng([seed, copy, BINS]))


def write_copies(
    folder: Path,
    tables: Iterator[pl.DataFrame],
    number: int,
    described: Sequence[Described],
    form: str = "parquet",
) -> dict[str, int]:
    """Write each copy into a file of a new folder, which appears when all of it is there.

    Parameters
    ----------
    tables
        As `copies` yields them.
    number
        How many copies of each release there are.
    described
        What their releases say of columns: `republish estimate` on the folder reads it beside them.
    form
        `parquet` or `csv`.

    Returns
    -------
    dict
        How many people a copy of each release has.

    Raises
    ------
    HomeError
        If it can't be written.
    """
    write = {"parquet": write_table, "csv": write_csv}[form]
    partial, people = folder.with_name(f".{folder.name}{PARTIAL}"), dict[str, int]()
    types = dict[str, pl.Schema]()
    shutil.rmtree(partial, ignore_errors=True)
    try:
        for at, table in enumerate(tables):
            copy, release = f"{at % number + 1:0{len(str(number))}}", str(table[RELEASE].first())
            write(partial / f"{release}_copy_{copy}.{form}", table)
            people[release], types[release] = table.height, table.schema
        write_json(partial / BESIDE, beside_copies(described, types))
        partial.rename(folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)  # the disk may be full of it
        raise
    return people


def _table(release: CodedRelease, drawn: Copy, number: int, random: np.random.Generator) -> pl.DataFrame:
    """A copy under the release's own names, with numbers in place of bins."""
    columns = [
        decoded(drawn.codes[:, at]).alias(name)
        for at, (name, decoded) in enumerate(zip(release.names, release.decoders, strict=True))
    ]
    people = len(drawn.value)
    head = [pl.repeat(number, people, dtype=pl.Int64, eager=True).alias(COPY)]
    head.append(pl.repeat(release.date, people, dtype=pl.Date, eager=True).alias(RELEASE))
    values = release.values[drawn.value].with_columns(
        pl.Series(name, bins.drawn(own[drawn.value], random), nan_to_null=True)
        for name, (bins, own) in release.bins.items()
    )
    return pl.DataFrame([*head, *columns, *values.get_columns()])
