"""Releases: seconds, memory, counterfeits, and the length of intervals.

Made-up census people. NCP is the share of its domain that an interval covers, on average. The floor is what
polars takes, in the same run, to read the snapshot, sort it by each quasi-identifier and write it.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.census import QUASI_IDENTIFIERS, census_contract, census_series
from benchmarks.measures.penalties import normalized_certainty_penalty
from benchmarks.series import contract_of, released
from benchmarks.tables import Table, main

QUICK = {"rows": 1_000, "update": 100, "releases": 2}
PRINCIPLES = {
    "m_invariance": {"on_ineligible": "counterfeit", "people_per_group": 2},
    "e_equivalence": {"e": 5},
}


def tables(
    rows: int = 200_000,
    update: int = 20_000,
    releases: int = 5,
    m: int = 10,
    sensitive: str = "occupation",
    principles: tuple[str, ...] = tuple(PRINCIPLES),
) -> Iterator[Table]:
    """A table for each principle, with a row for each release."""
    for name in principles:
        contract = contract_of(census_contract(sensitive=sensitive), name=name, m=m, **PRINCIPLES[name])
        list(released(census_series(4_000, 2_000, 200, 2, sensitive), contract))  # compiles kernels
        snapshots = list(census_series(rows + update * releases, rows, update, releases, sensitive))
        found = []
        for (_, snapshot), made in zip(snapshots, released(snapshots, contract), strict=True):
            least, figures, read = floor(snapshot), made.candidate.figures, made.read
            found.append(
                [
                    f"release {len(found) + 1}",
                    made.seconds,
                    made.processor,
                    made.seconds / least,
                    resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
                    figures.counterfeits,
                    figures.buckets,
                    figures.groups,
                    normalized_certainty_penalty(read.boxes, read.sizes, contract),
                ]
            )
        yield Table(
            f"{name}: {rows:,} people, {update:,} replaced, m = {m}, {sensitive}",
            ("", "seconds", "CPU", "times the floor", "peak MiB", "counterfeits", "buckets", "groups", "NCP"),
            found,
        )


def floor(snapshot: pl.DataFrame) -> float:
    """Seconds to read the snapshot, sort it by each quasi-identifier, and write it: the median of three."""
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "snapshot.parquet"), Path(folder, "sorted.parquet")
        snapshot.write_parquet(source, compression="zstd")
        for _ in range(3):
            began = time.perf_counter()
            table = pl.read_parquet(source)
            for name in QUASI_IDENTIFIERS:
                table = table.sort(name)
            table.write_parquet(target, compression="zstd")
            seconds.append(time.perf_counter() - began)
    return float(np.median(seconds))


if __name__ == "__main__":
    main(tables)
