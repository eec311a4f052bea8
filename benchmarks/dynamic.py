"""Tables that change from release to release, made from one that doesn't, and their contracts' folders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import yaml

Series = Iterable[tuple[str, pl.DataFrame]]
"""The date of each release and its snapshot, in order."""


def dynamic_series(
    people: pl.DataFrame, live: int, r: int, releases: list[str], seed: int
) -> Iterator[tuple[str, pl.DataFrame]]:
    """A dynamic table made from a static one: a random sample lives, and each release replaces r of it.

    Parameters
    ----------
    people
        One row per person.
    live
        How many are in each snapshot; the others form the pool.
    r
        Update volume: how many leave before each release but the first, and how many come from the pool.
    releases
        The releases' dates.
    seed
        The same seed gives the same series.

    Raises
    ------
    ValueError
        If the pool is too small.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, section 5.
    """
    needed = live + r * (len(releases) - 1)
    if needed > people.height:
        raise ValueError(f"{len(releases)} releases need {needed} people; there are {people.height}")
    random = np.random.default_rng(seed)
    pool = random.permutation(people.height)
    present, pool = pool[:live], pool[live:]
    for release in releases:
        yield release, people[np.sort(present)]
        staying = random.permutation(present)[r:]
        present, pool = np.concatenate([staying, pool[:r]]), pool[r:]


def write_series(folder: Path, contract: Mapping[str, Any], series: Series) -> Path:
    """Write a contract and its snapshots into a folder, for the command line to release.

    Parameters
    ----------
    folder
        Is made if it isn't there.
    contract
        All but its source, which is the snapshots beside it.
    series
        The snapshots.

    Returns
    -------
    pathlib.Path
        The contract's file.
    """
    snapshots = folder / "snapshots"
    snapshots.mkdir(parents=True, exist_ok=True)
    for release, snapshot in series:
        snapshot.write_parquet(snapshots / f"{release}.parquet")
    declared = {**contract, "source": {"path": "snapshots/{release}.parquet"}}
    file = folder / f"{contract['product']}.yaml"
    file.write_text(yaml.safe_dump(declared, sort_keys=False, allow_unicode=True))
    return file


def monthly(first_year: int, number: int) -> list[str]:
    """The first days of so many months."""
    return [f"{first_year + month // 12}-{month % 12 + 1:02}-01" for month in range(number)]
