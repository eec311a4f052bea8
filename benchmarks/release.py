"""What releases cost and what they are worth: seconds by phase, memory, counterfeits, information loss.

python -m benchmarks.release [--data F.parquet --sensitive C] [--quasi-identifiers a,b,c] [--rows 200000]
    [--update 20000] [--m 10] [--releases 5] [--principle m_invariance] [--effort best]
    [--format generalization] [--json]

People are sampled, and replaced from release to release, as in section 5 of the m-invariance paper. The floor
is what polars takes, in the same run, to read the snapshot, sort it by each quasi-identifier and write it.
Information loss is the normalized certainty penalty (NCP): which share of its domain an interval covers. With
--json, one line of JSON is printed in place of the table: a list for each key, with one entry per release.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from rich.console import Console
from rich.progress import track
from rich.table import Table

from anonymize.buckets.memory import Memory
from anonymize.contract import Contract
from anonymize.e_equivalence import release as equivalent
from anonymize.m_invariance import release as invariant
from anonymize.m_invariance.group import PASSES
from anonymize.people.randomness import generator
from anonymize.principle.state import State
from anonymize.principles import parse_contract, principle_of
from benchmarks.algorithm import PHASES
from benchmarks.census import QUASI_IDENTIFIERS, census
from benchmarks.dynamic import dynamic_series, monthly
from benchmarks.measures.ncp import normalized_certainty_penalty
from benchmarks.people import KEY, pseudonymous
from benchmarks.phases import OTHER, WHOLE, timed

PHASES_OF = {
    "m_invariance": PHASES,
    "e_equivalence": {
        "divide": (equivalent, "divide_people"),
        "graphs": (equivalent, "open_graphs"),
        "plan": (equivalent, "make_safe_plan"),
        "assign": (equivalent, "execute"),
        "anatomize": (equivalent, "anatomize"),
        "advance": (equivalent, "advance"),
        "remember": (Memory, "after"),
    },
}
"""Principle -> phase -> where its function is called from."""
RELEASE = {"m_invariance": invariant, "e_equivalence": equivalent}
FLOORS = 3
"""How often the floor is measured in each release; the median counts."""


def main() -> None:
    chosen = _arguments()
    people, declared = _people(chosen)
    contract = parse_contract(declared)
    _compile(contract, people, chosen)
    measured = list(_measured(people, contract, chosen))
    if chosen.json:
        print(json.dumps(summary(measured)))
    else:
        _show(measured, chosen)


def _arguments() -> argparse.Namespace:
    about, _, _ = (__doc__ or "").partition("\n")
    arguments = argparse.ArgumentParser(prog="python -m benchmarks.release", description=about)
    arguments.add_argument("--data", type=Path, help="a Parquet file of people; else the made-up census")
    arguments.add_argument("--sensitive", default="occupation", help="the sensitive column")
    arguments.add_argument("--quasi-identifiers", default=",".join(QUASI_IDENTIFIERS), help="a,b,c")
    arguments.add_argument("--rows", type=int, default=200_000, help="people in every snapshot")
    arguments.add_argument("--update", type=int, default=20_000, help="people replaced in every release")
    arguments.add_argument("--m", type=int, default=10)
    arguments.add_argument("--e", type=int, default=5, help="of e_equivalence")
    arguments.add_argument("--releases", type=int, default=5)
    arguments.add_argument("--principle", default="m_invariance", choices=list(PHASES_OF))
    arguments.add_argument("--effort", default="best", choices=list(PASSES), help="of m_invariance")
    arguments.add_argument(
        "--format", default="generalization", choices=["generalization", "anatomy"], help="of m_invariance"
    )
    arguments.add_argument("--seed", type=int, default=2007, help="which people come and go when")
    arguments.add_argument("--json", action="store_true", help="print one line of JSON")
    return arguments.parse_args()


def _people(chosen: argparse.Namespace) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Everybody who is ever in a snapshot, and what the contract declares of them."""
    names = chosen.quasi_identifiers.split(",")
    if chosen.data:
        people = pl.read_parquet(chosen.data, columns=[*names, chosen.sensitive]).drop_nulls()
        people = people.with_columns(person_id=pl.int_range(pl.len()))
    else:
        needed = chosen.rows + chosen.update * (chosen.releases - 1)
        people = census(max(needed, 600_000)).select("person_id", *names, chosen.sensitive)
    principle = {"name": chosen.principle, "m": chosen.m, "on_ineligible": "counterfeit"}
    if chosen.principle == "e_equivalence":
        principle["e"] = chosen.e
    else:
        principle |= {"effort": chosen.effort, "format": chosen.format}
    return people, {
        "product": "benchmark",
        "series": "v1",
        "source": {"path": "{release}.parquet"},
        "releases": {"first": "2020-01-01", "cron": "0 0 1 * *"},
        "identifier": "person_id",
        "quasi_identifiers": [_attribute(people[name]) for name in names],
        "sensitive": {"name": chosen.sensitive, "values": people[chosen.sensitive].unique().sort().to_list()},
        "principle": principle,
    }


def _attribute(column: pl.Series) -> dict[str, Any]:
    if column.dtype == pl.String:
        return {"name": column.name, "kind": "category", "order": column.unique().sort().to_list()}
    return {"name": column.name, "kind": "number", "domain": [column.min(), column.max()]}


def _compile(contract: Contract, people: pl.DataFrame, chosen: argparse.Namespace) -> None:
    """Release a few people twice, so that no measured release waits for a kernel to be compiled."""
    rows = min(100 * people[chosen.sensitive].n_unique(), people.height) * 4 // 5
    state, release = State.empty(), RELEASE[chosen.principle].release
    for number, (_, snapshot) in enumerate(
        dynamic_series(people, rows, rows // 4, monthly(2020, 2), chosen.seed), start=1
    ):
        state = release(pseudonymous(snapshot, contract), contract, state, number, _draw("warm")).state


def _draw(date: str) -> Any:
    return lambda purpose: generator(KEY, "benchmark", "v1", date, purpose)


def _measured(
    people: pl.DataFrame, contract: Contract, chosen: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """Release by release: seconds by phase and of the floor, and what was published."""
    release, phases = RELEASE[chosen.principle].release, PHASES_OF[chosen.principle]
    release_format = principle_of(contract).format(contract)
    dates = monthly(2020, chosen.releases)
    series = dynamic_series(people, chosen.rows, chosen.update, dates, chosen.seed)
    state = State.empty()
    shown = track(series, "releases", len(dates), console=Console(stderr=True), transient=True)
    for number, (date, snapshot) in enumerate(shown, start=1):
        entered = pseudonymous(snapshot, contract)
        with timed(phases) as seconds:
            candidate = release(entered, contract, state, number, _draw(date))
        state = candidate.state
        read = release_format.read(release_format.internal(candidate.published, contract), contract)
        yield {
            "seconds": seconds,
            "floor": _floor(snapshot, [qi.name for qi in contract.quasi_identifiers]),
            "counterfeits": candidate.figures["counterfeits"],
            "buckets": candidate.figures["buckets"],
            "groups": candidate.figures["groups"],
            "ncp": normalized_certainty_penalty(read.boxes, read.sizes, contract),
            "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }


def _floor(snapshot: pl.DataFrame, quasi_identifiers: list[str]) -> float:
    """Seconds to read the snapshot, sort it by each quasi-identifier, and write it."""
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "snapshot.parquet"), Path(folder, "sorted.parquet")
        snapshot.write_parquet(source, compression="zstd")
        for _ in range(FLOORS):
            began = time.perf_counter()
            table = pl.read_parquet(source)
            for name in quasi_identifiers:
                table = table.sort(name)
            table.write_parquet(target, compression="zstd")
            seconds.append(time.perf_counter() - began)
    return float(np.median(seconds))


def summary(measured: list[dict[str, Any]]) -> dict[str, list[float]]:
    """A list for each figure, with one entry per release."""
    seconds = [each["seconds"][WHOLE] for each in measured]
    floors = [each["floor"] for each in measured]
    return {
        "algorithm_seconds": [round(each, 4) for each in seconds],
        **{key: [each[key] for each in measured] for key in ("counterfeits", "buckets", "groups")},
        "ncp": [round(each["ncp"], 5) for each in measured],
        "floor_seconds": [round(each, 4) for each in floors],
        "ratio": [round(each / floor, 2) for each, floor in zip(seconds, floors, strict=True)],
        "peak_mib": [round(each["peak_mib"], 1) for each in measured],
    }


def _show(measured: list[dict[str, Any]], chosen: argparse.Namespace) -> None:
    phases = [*PHASES_OF[chosen.principle], OTHER, WHOLE]
    phases = [phase for phase in phases if any(each["seconds"][phase] for each in measured)]
    table = Table(
        title=f"{chosen.principle}: {chosen.rows:,} people, {chosen.update:,} replaced, m = {chosen.m}",
        caption="Seconds by phase. The ratio is to what polars takes to read, sort and write the snapshot.",
    )
    headings = ("release", *phases, "floor", "ratio", "peak MiB", "counterfeits", "buckets", "groups", "NCP")
    for heading in headings:
        table.add_column(heading, justify="right")
    for number, each in enumerate(measured, start=1):
        table.add_row(
            str(number),
            *(f"{each['seconds'][phase]:.3f}" for phase in phases),
            f"{each['floor']:.3f}",
            f"{each['seconds'][WHOLE] / each['floor']:.1f}",
            f"{each['peak_mib']:,.0f}",
            f"{each['counterfeits']:,}",
            f"{each['buckets']:,}",
            f"{each['groups']:,}",
            f"{each['ncp']:.4f}",
        )
    Console(width=170).print(table)


if __name__ == "__main__":
    main()
