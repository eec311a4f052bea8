"""What an audit of another tool's tables costs.

Made-up tables in CSV, one row a person: intervals of ages, sex and masked postal codes, in classes of five to
fifteen people (1,000,000 rows have 197,000). Of two releases, the second has another tenth of the people.
Each audit is a process of its own, with its imports; memory is the most that it held at one time.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import yaml

from benchmarks.speed.shards import MACHINE, Spent, watched
from benchmarks.tables import Table, main

QUICK = {"rows": (300,)}
RELEASES = ("2024", "2025")
AGES, CODES, LEAST = 100, 10_000, 5
VALUES = [f"value {number:02}" for number in range(20)]
CONTRACT = {
    "identifier": "person",
    "quasi_identifiers": [
        {"name": "age", "kind": "number", "domain": [0, AGES - 1]},
        {"name": "sex", "kind": "category", "order": ["F", "M"]},
        {"name": "code", "kind": "category", "order": [f"{code:04}" for code in range(CODES)]},
    ],
    "sensitive": {"name": "value"},
}
MAPPING = {
    "quasi_identifiers": {"age": "AGE", "sex": "SEX", "code": "CODE"},
    "sensitive": "VALUE",
    "promise": {"k": 1},
}


def tables(rows: tuple[int, ...] = (10_000, 100_000, 1_000_000)) -> Iterator[Table]:
    """Seconds, processor seconds and memory of audits of one release and of two."""
    measured = []
    for number in rows:
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder)
            write(work, number)
            for releases in (RELEASES[:1], RELEASES):
                spent = audited(work, releases)
                given = f"{number:,}, {len(releases)}"
                measured.append([given, spent.seconds, spent.processor, spent.memory])
    yield Table("Audits", ("rows, releases", "seconds", "CPU s", "MiB"), measured)


def write(work: Path, rows: int) -> None:
    """Write true and published tables, the contract and the mapping."""
    draw = np.random.default_rng(7)
    (work / "truth").mkdir()
    (work / "contract.yaml").write_text(yaml.safe_dump(CONTRACT))
    (work / "mapping.yaml").write_text(yaml.safe_dump(MAPPING))
    true = people(draw, 0, rows)
    for release in RELEASES:
        true.write_csv(work / "truth" / f"{release}.csv")
        generalized(true, draw).write_csv(work / f"{release}.csv")
        true = pl.concat([true[rows // 10 :], people(draw, rows, rows // 10)])


def people(draw: np.random.Generator, first: int, number: int) -> pl.DataFrame:
    """People with identifiers from a number on."""
    return pl.DataFrame(
        {
            "person": [f"p{first + at:08}" for at in range(number)],
            "age": draw.integers(0, AGES, number),
            "sex": draw.choice(["F", "M"], number),
            "code": [f"{code:04}" for code in draw.integers(0, CODES, number)],
            "value": draw.choice(VALUES, number),
        }
    )


def generalized(true: pl.DataFrame, draw: np.random.Generator) -> pl.DataFrame:
    """Sex and three digits of the code are kept, and ages are in intervals of at least five people."""
    near = ["sex", "area"]
    shown = true.with_columns(area=pl.col("code").str.head(3)).sort(*near, "age")
    place = pl.int_range(pl.len()).over(*near)
    last = (pl.len().over(*near).cast(pl.Int64) // LEAST - 1).clip(lower_bound=0)
    shown = shown.with_columns(cut=pl.min_horizontal(place // LEAST, last))
    low, high = (getattr(pl.col("age"), end)().over(*near, "cut") for end in ("min", "max"))
    shown = shown.select(
        AGE=pl.format("[{}, {}]", low, high), SEX="sex", CODE=pl.col("area") + "*", VALUE="value"
    )
    return shown.sample(fraction=1, shuffle=True, seed=int(draw.integers(2**31)))


def audited(work: Path, releases: tuple[str, ...]) -> Spent:
    """Audit some releases."""
    truth = work / f"truth_{len(releases)}"
    truth.mkdir()
    for release in releases:
        os.link(work / "truth" / f"{release}.csv", truth / f"{release}.csv")
    command = [sys.executable, "-m", "republish", "audit", *(f"{work / release}.csv" for release in releases)]
    given = {"truth": truth, "contract": work / "contract.yaml", "mapping": work / "mapping.yaml"}
    for option, place in (given | {"out": work / f"report_{len(releases)}"}).items():
        command += [f"--{option}", str(place)]
    return watched(command, MACHINE, dict(os.environ))


if __name__ == "__main__":
    main(tables)
