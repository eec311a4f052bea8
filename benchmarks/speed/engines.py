"""Divided releases by several engines: seconds, memory, and whether their bytes are the same.

Made-up census people under m-invariance (m = 10), one release, by the command `republish release` in a home
of its own for each engine, all with one key. *Digest* is the beginning of the SHA-256 of all published files
together. Seconds are of a busy machine.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.speed.shards import RELEASES, deliver, series_contract, watched
from benchmarks.tables import Table, main

QUICK = {
    "people": 2_000,
    "shards": 2,
    "chunk": 1_000,
    "engines": ("local[1]", "local[2]"),
    "formats": ("anatomy",),
}
FORMATS = "generalization", "anatomy"
HEADINGS = ("", "seconds", "memory, MiB", "files", "digest")


def tables(
    people: int = 3_000_000,
    shards: int = 6,
    chunk: int = 500_000,
    limit: int = 16_384,
    engines: tuple[str, ...] = ("local[1]", "local[2]", "spark[local[2]]"),
    formats: tuple[str, ...] = FORMATS,
) -> Iterator[Table]:
    """A table for each format, with a row for each engine. `limit` is in MiB; Spark's Java counts."""
    with tempfile.TemporaryDirectory() as temporary:
        snapshot = Path(temporary) / f"{RELEASES[0]}.parquet"
        deliver([snapshot], people, chunk)
        for name in formats:
            rows = []
            for number, engine in enumerate(engines):
                work = Path(temporary) / f"{name}-{number}"
                work.mkdir()
                (work / snapshot.name).symlink_to(snapshot)
                contract = series_contract(work, shards, format=name)
                words = ["release", str(contract), "--through", RELEASES[0], "--home", str(work / "home")]
                command = [sys.executable, "-m", "republish", *words]
                environment = {
                    "REPUBLISH_ENGINE": engine,
                    "REPUBLISH_LIMITS": "rows=100000000",
                    "REPUBLISH_KEY": "a key that is made up for a benchmark",
                }
                spent = watched(command, limit, environment)
                files, digest = published(work / "home" / "published")
                rows.append([engine, spent.seconds, spent.memory, files, digest])
                print(name, *rows[-1], flush=True)
            yield Table(f"{people:,} people in {shards} shards, {name}", HEADINGS, rows)


def published(folder: Path) -> tuple[int, str]:
    """How many files are published, and the first 16 signs of the SHA-256 of their names and bytes."""
    digest, files = hashlib.sha256(), sorted(file for file in folder.rglob("*") if file.is_file())
    for file in files:
        digest.update(os.fsencode(file.relative_to(folder)) + b"\0" + file.read_bytes())
    return len(files), digest.hexdigest()[:16]


if __name__ == "__main__":
    main(tables)
