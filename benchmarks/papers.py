"""Section 5.2 of the m-invariance paper again: counterfeits, errors of counts, and seconds.

python -m benchmarks.papers [--only counterfeits error seconds] [--sensitive occupation income]
    [--rows 200000] [--releases 81] [--m 2 4 6 8 10] [--every 1] [--json FILE] [--from FILE …] [--plot FOLDER]

Made-up census people (benchmarks/census.py) take the place of the paper's OCC and SAL. As in the paper,
200,000 of 600,000 live, r of them are replaced before each release, and a workload is 10,000 queries. A
query counts the people whose four quasi-identifiers and sensitive value lie in random ranges, each of which
covers the fifth root of the expected selectivity of its domain (rounded to whole values). Its error is
relative to the true count, and that of a workload is the median. Counts are estimated as in the paper,
people spread evenly over the intervals of their group; and in every tenth release of the first series as
`republish estimate` does. Seconds are those of all processors together.

All of it is 956 releases, about an hour of a quiet machine. With --json, each measured release is added to a
file, and a series that is in the file already is not measured again. With --from, nothing is measured: tables
and plots are made of such files. Tables against m compare the releases that all of its series have.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.census import LIVE
from benchmarks.papers_plots import draw
from benchmarks.papers_series import Asked, Case, measure
from benchmarks.papers_tables import SELECTIVITY, TABLES

M = 10
"""The m of the paper's series with different r."""
UPDATES = (0.025, 0.05, 0.1, 0.2)
"""The paper's r, 5,000 to 40,000, as shares of the 200,000 people in a snapshot."""
SELECTIVITIES = (0.01, 0.02, 0.05, SELECTIVITY, 0.2)
ESTIMATED = 10
"""In the first release of so many, counts are estimated as `republish estimate` does too."""


def main() -> None:
    """Measure what is not measured yet; print the tables, and draw the plots."""
    chosen = _arguments()
    if chosen.read:
        rows = [row for file in chosen.read for row in _rows(file)]
    else:
        list(measure(Case("occupation", M, 50, 2_000), 2, Asked((SELECTIVITY,), 1, 1)))  # compiles kernels
        rows = list(_measured(chosen))
    measured = pl.DataFrame(rows, infer_schema_length=None)
    for part in chosen.only:
        for title, found in TABLES[part](measured):
            _show(title, found)
    if chosen.plot:
        draw(measured, chosen.plot)


def _arguments() -> argparse.Namespace:
    arguments = argparse.ArgumentParser(
        prog="python -m benchmarks.papers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    arguments.add_argument("--only", nargs="+", choices=list(TABLES), default=list(TABLES))
    sensitive = ["occupation", "income"]
    arguments.add_argument("--sensitive", nargs="+", choices=sensitive, default=sensitive)
    arguments.add_argument("--rows", type=int, default=LIVE, help="people in each snapshot; r goes with them")
    arguments.add_argument("--releases", type=int, default=81, help="of each series, at most")
    arguments.add_argument("--m", type=int, nargs="*", default=[2, 4, 6, 8, 10], help="with the smallest r")
    arguments.add_argument(
        "--every", type=int, default=1, help="ask for counts in the first of so many releases"
    )
    arguments.add_argument("--json", type=Path, help="add each measured release to this file")
    arguments.add_argument("--from", type=Path, nargs="+", dest="read", help="measure nothing, read files")
    arguments.add_argument("--plot", type=Path, help="draw the plots into this folder")
    return arguments.parse_args()


def cases(only: list[str], sensitive: list[str], rows: int, ms: list[int]) -> dict[Case, Asked]:
    """The series that the chosen parts need, and which counts are asked for in them.

    Parameters
    ----------
    only
        Parts of the section.
    sensitive
        Sensitive columns.
    rows
        People in each snapshot.
    ms
        The m of the series with the smallest r.
    """
    updates = [max(1, round(share * rows)) for share in UPDATES]
    series = dict.fromkeys([(M, r) for r in updates] + [(m, updates[0]) for m in ms])
    found = {}
    for (m, r), column in itertools.product(series, sensitive):
        is_first = (m, r) == (M, updates[0])
        asked = SELECTIVITIES if is_first else (SELECTIVITY,)
        if "error" not in only:
            asked = ()
        found[Case(column, m, r, rows)] = Asked(asked, estimated=ESTIMATED if is_first else None)
    return found


def _measured(chosen: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The rows of all series, from the file where they are there, else measured now."""
    known = _rows(chosen.json) if chosen.json and chosen.json.exists() else []
    for case, asked in cases(chosen.only, chosen.sensitive, chosen.rows, chosen.m).items():
        number = min(chosen.releases, 1 + 2 * case.live // case.r)
        found = [row for row in known if asdict(case).items() <= row.items() and row["release"] <= number]
        if len({row["release"] for row in found}) == number:
            yield from found
            continue
        about = f"{case.sensitive}, m = {case.m}, r = {case.r:,}"
        series = measure(case, number, asked._replace(every=chosen.every))
        for row in track(series, about, number, console=Console(stderr=True)):
            if chosen.json:
                with chosen.json.open("a") as file:
                    file.write(json.dumps(row) + "\n")
            yield row


def _show(title: str, found: pl.DataFrame) -> None:
    table = Table(title=title)
    for name in found.columns:
        table.add_column(name, justify="right")
    for row in found.iter_rows():
        table.add_row(*(_word(entry) for entry in row))
    Console(width=120).print(table)


def _word(entry: Any) -> str:
    if isinstance(entry, float):
        return f"{entry:.3f}" if entry < 1 else f"{entry:.1f}"
    return f"{entry:,}" if isinstance(entry, int) else str(entry or "")


def _rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


if __name__ == "__main__":
    main()
