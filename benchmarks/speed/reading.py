"""What reading a large release costs, in one file and in parts.

Made-up groups of ten census-like people, published as one file and in ten parts. Each command is a process of
its own; *memory* is the most that it had. `verify` reads part by part. `estimate` has DuckDB read everything,
which takes what it gets: by default four fifths of the machine's memory, and the rest on disk. The machine
was busy: compare processor seconds.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.census import DOMAINS, QUASI_IDENTIFIERS, census_contract
from benchmarks.series import contract_of
from benchmarks.spent import spent
from benchmarks.tables import Table, main
from republish.anonymize.contract import Contract
from republish.anonymize.formats import GENERALIZATION
from republish.orchestration.readers.datapackage.dated import dated
from republish.orchestration.readers.datapackage.folder import column_types, texts
from republish.orchestration.storage.manifest import COUNTED, Described, manifest, sums
from republish.orchestration.storage.parts import part_name
from republish.orchestration.storage.store import write_folder, write_table

QUICK = {"verified": 20_000, "estimated": 5_000}
DATE, GROUP, PARTS, AT_ONCE = "2024-01-01", 10, 10, 100_000
WIDTHS = {"age": 8, "gender": 0, "education": 3, "birthplace": 9}
"""How wide the intervals of groups are at most."""


def tables(verified: int = 20_000_000, estimated: int = 2_000_000, seed: int = 1) -> Iterator[Table]:
    """Publish releases of so many rows in both ways, and run a command on both."""
    contract = contract_of(census_contract())
    found = []
    for rows, command, *options in ((verified, "verify"), (estimated, "estimate", "--where", "age >= 40")):
        for name, parts in (("one file", None), (f"{PARTS} parts", rows // PARTS)):
            with tempfile.TemporaryDirectory() as place:
                folder = _published(Path(place), contract, rows, parts, seed)
                cost = spent(sys.executable, "-m", "republish", command, str(folder), *options)
            found.append((command, rows, name, cost["clock"], cost["processor"], cost["memory"] / 1024))
    headings = ("command", "rows", "table", "seconds", "CPU seconds", "memory (GiB)")
    yield Table(f"{len(contract.quasi_identifiers)} attributes under intervals", headings, found)


def _published(place: Path, contract: Contract, rows: int, parts: int | None, seed: int) -> Path:
    """The release in a folder, in one file or in parts of so many rows."""
    counterfeits = dated(pl.DataFrame({"group_id": [0], "count": [1]}), DATE)
    files = {}
    for table, frames in (("microdata", _groups(rows, seed)), ("counterfeits", iter([counterfeits]))):
        if parts is None:
            write_table(place / f"{table}.parquet", pl.concat(frames))
            files[f"{table}.parquet"] = place / f"{table}.parquet"
        else:
            (place / table).mkdir()
            for number, part in enumerate(pl.concat(frames).iter_slices(parts)):
                name = f"{table}/{part_name(number)}"
                write_table(place / name, part)
                files[name] = place / name
    counts = dict(zip(COUNTED, (rows, rows // GROUP, 1, 0), strict=True))
    described = Described(
        product=contract.product, series=contract.series, release=DATE, n=1, format=GENERALIZATION.name,
        principle=contract.principle.model_dump(mode="json"), counts=counts, contract_sha256="0" * 64,
        previous=None,
    )  # fmt: skip
    stated = asdict(described) | {"files": files, **counts}
    documents = texts(contract, GENERALIZATION, stated, column_types(files))
    folder = place / "published" / DATE
    write_folder(folder, files | documents, lambda written: manifest(described, written), sums)
    return folder


def _groups(rows: int, seed: int) -> Iterator[pl.DataFrame]:
    """Groups of people under intervals, some at a time, each with as many values as people."""
    random = np.random.default_rng(seed)
    for first in range(0, rows // GROUP, AT_ONCE):
        number = min(AT_ONCE, rows // GROUP - first)
        columns = {"group_id": np.arange(first, first + number)}
        for name in QUASI_IDENTIFIERS:
            low, high = DOMAINS[name]
            columns[f"{name}_low"] = random.integers(low, high - WIDTHS[name] + 1, number)
            columns[f"{name}_high"] = columns[f"{name}_low"] + random.integers(0, WIDTHS[name] + 1, number)
        of_group = {name: np.repeat(column, GROUP) for name, column in columns.items()}
        starts = np.repeat(random.integers(1, DOMAINS["occupation"][1] - GROUP + 2, number), GROUP)
        values = starts + np.tile(np.arange(GROUP), number)
        yield dated(pl.DataFrame(of_group | {"occupation": values}), DATE)


if __name__ == "__main__":
    main(tables)
