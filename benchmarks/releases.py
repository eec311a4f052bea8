"""Whole releases through the command line: a census at the m-invariance paper's scale, and real data.

    python benchmarks/releases.py            census, and Adult and receipts where they are
    python benchmarks/releases.py census     one of them

The last release is made by a command of its own: what a publisher waits for, set-up included.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.census import write_census
from benchmarks.real_data import WHY_NOT, data_folder, write_adult, write_receipts
from orchestration.contracts.contract_file import load_contract
from orchestration.storage.history import History

LINE = re.compile(
    r"(?P<release>\S+)  published +(?P<people>[\d,]+) people +(?P<groups>[\d,]+) groups"
    r" +(?P<counterfeits>[\d,]+) counterfeits.* (?P<seconds>[\d.]+) s \("
)
PARTS = ("algorithm", "audit", "files")


def measure(name: str, write: Callable[[Path], Path]) -> None:
    """Write a series of snapshots, release all of it, and print a table with a row per release."""
    with tempfile.TemporaryDirectory() as temporary:
        contract = write(Path(temporary))
        *earlier, last = sorted(path.stem for path in (contract.parent / "snapshots").iterdir())
        lines, _ = _release(contract, earlier[-1])
        further, seconds = _release(contract, last)
        file = load_contract(contract).contract
        kept = History(contract.parent / "home" / "history.duckdb").releases(file.product, file.series)
    spent = [json.loads(row) for row in kept["seconds"]]
    table = Table(
        title=f"{name}: {len(lines) + 1} releases", caption=f"the last command took {seconds:.1f} s"
    )
    for heading in ("release", "people", "groups", "counterfeits", *PARTS, "Dagster"):
        table.add_column(heading, justify="right")
    for line, parts in zip([*lines, *further], spent, strict=True):
        dagster = float(line["seconds"]) - sum(parts.values())
        table.add_row(
            line["release"],
            line["people"],
            line["groups"],
            line["counterfeits"],
            *(f"{parts[part]:.2f} s" for part in PARTS),
            f"{dagster:.1f} s",
        )
    Console(width=100).print(table)


def _release(contract: Path, through: str) -> tuple[list[dict[str, str]], float]:
    """Release through a date; returns the command's lines and its seconds."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "orchestration.cli", "release", str(contract), "--through", through]
    done = subprocess.run(
        [*command, "--home", str(contract.parent / "home")], capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - started
    if done.returncode:
        raise SystemExit(done.stderr)
    return [match.groupdict() for match in LINE.finditer(done.stdout)], seconds


def main() -> None:
    chosen = sys.argv[1:] or ["census", "adult", "receipts"]
    real = data_folder()
    if "census" in chosen:
        measure("census, 200,000 live, r = 20,000, m = 10", lambda folder: write_census(folder, m=10))
    if real is None:
        print(WHY_NOT)
        return
    if "adult" in chosen:
        measure("Adult, 15,000 live, r = 1,500, m = 6", lambda folder: write_adult(folder, real))
    if "receipts" in chosen:
        measure("receipts, half-yearly, m = 3", lambda folder: write_receipts(folder, real))


if __name__ == "__main__":
    main()
