"""What the global guarantee costs: seconds, group sizes, people held back and errors of counts, per strategy.

python -m benchmarks.global_guarantee [census|receipts] [--people N] [--releases N] [--strategy S]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from anonymize.contract import Contract
from anonymize.errors import NotEligible
from anonymize.formats import GENERALIZATION
from anonymize.global_guarantee import GLOBAL_GUARANTEE
from anonymize.people.codes import code_domain, encode
from anonymize.people.pseudonyms import pseudonyms
from anonymize.people.randomness import generator
from anonymize.principle.state import State
from benchmarks.census import DOMAINS, QUASI_IDENTIFIERS, census
from benchmarks.real_data import WHY_NOT, data_folder, receipts_contract, receipts_series

VALUES, SKEW = 50, 0.05
"""A ratio of 29.4 needs values of which none has more than 3.4 % of the people: these have 2.4 % at most."""


ERRORS_UP_TO = 10_000
"""Errors of counts are computed for tables of so many people at most."""


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("what", choices=["census", "receipts"], nargs="?", default="receipts")
    arguments.add_argument("--people", type=int, default=200_000)
    arguments.add_argument("--releases", type=int, default=20)
    arguments.add_argument("--strategy", help="of the census, one alone")
    given = arguments.parse_args()
    console = Console(width=150)
    if given.what == "census":
        console.print(census_table(given.people, given.releases, given.strategy))
    elif folder := data_folder():
        console.print(receipts_table(folder))
    else:
        console.print(WHY_NOT)


def census_table(people: int, releases: int, only: str | None = None) -> Table:
    """Group sizes and seconds; each release changes 5 % of the values and replaces 5 % of the people."""
    table = Table(title=f"{people:,} people, {releases} releases, l = 2, {VALUES} values")
    heads = (
        "strategy",
        "average group",
        "largest",
        "held back",
        "links",
        "NCP",
        "seconds: median",
        "most",
        "of processor",
    )
    for head in heads:
        table.add_column(head, justify="left" if head == "strategy" else "right")
    run(census_contract({"strategy": "minimum"}), census_snapshots(2_000, 3))
    for strategy in (
        {"strategy": "constant_ratio", "releases": releases},
        {"strategy": "geometric", "a": 0.9},
        {"strategy": "minimum"},
    ):
        if only not in (None, strategy["strategy"]):
            continue
        rows = run(census_contract(strategy), census_snapshots(people, releases))
        made = [row for row in rows if row["people"]]
        seconds = [row["seconds"] for row in made]
        table.add_row(
            " ".join(map(str, strategy.values())),
            _first_and_last([row["tuples"] / row["groups"] for row in made]),
            f"{max(row['largest_group'] for row in made):,}",
            _first_and_last([row["held_back"] for row in made]),
            f"{made[-1]['links']:,}",
            f"{made[0]['ncp']:.3f} to {made[-1]['ncp']:.3f}",
            f"{np.median(seconds):.2f}",
            f"{max(seconds):.2f}",
            f"{np.median([row['processor'] for row in made]):.2f}",
        )
    return table


def receipts_table(folder: Path) -> Table:
    """Group sizes, people held back and errors, half-year by half-year, on real people who come and go."""
    declared = receipts_contract() | {"source": {"path": "{release}.parquet"}}
    snapshots = [_entered(people) for _, people in receipts_series(folder)]
    sizes = " ".join(str(people.height) for people in snapshots)
    table = Table(title=f"Receipts, {len(snapshots)} half-years of {sizes} people; nobody placed: -")
    for head in ("l, strategy", "average group", "held back", "median error of counts"):
        table.add_column(head, justify="left")
    for l, strategy in (
        (2, {"strategy": "constant_ratio", "releases": 2}),
        (2, {"strategy": "geometric", "a": 0.5}),
        (2, {"strategy": "minimum"}),
        (3, {"strategy": "constant_ratio", "releases": 1}),
        (3, {"strategy": "geometric", "a": 0.25}),
        (3, {"strategy": "minimum"}),
    ):
        principle = {"name": "global_guarantee", "l": l, "on_ineligible": "wait"} | strategy
        rows = run(_contract(declared | {"principle": principle}), snapshots)
        table.add_row(
            f"{l} {' '.join(map(str, strategy.values()))}",
            " ".join(f"{row['tuples'] / row['groups']:.0f}" if row["groups"] else "-" for row in rows),
            " ".join(str(row["held_back"]) for row in rows),
            " ".join(f"{row['error']:.0%}" if row["groups"] else "-" for row in rows),
        )
    return table


def run(contract: Contract, snapshots) -> list[dict]:
    """The figures of each release, with its seconds, NCP and the median error of counts."""
    state, rows = State.empty(), []
    for number, people in enumerate(snapshots, start=1):
        began, busy = time.perf_counter(), time.process_time()
        try:
            candidate = GLOBAL_GUARANTEE.release(
                people, contract, state, number,
                lambda purpose, n=number: generator(b"k", "benchmark", "v1", str(n), purpose),
            )  # fmt: skip
        except NotEligible as refusal:
            print(refusal)
            continue
        seconds, processor = time.perf_counter() - began, time.process_time() - busy
        state = candidate.state
        microdata = GENERALIZATION.internal(candidate.published, contract)["microdata"]
        print(f"release {number}: {seconds:.2f} s, {dict(candidate.figures)}", file=sys.stderr, flush=True)
        rows.append(
            dict(candidate.figures)
            | {"seconds": seconds, "processor": processor, "ncp": ncp(microdata, contract)}
            | {"error": error(microdata, people, contract) if people.height <= ERRORS_UP_TO else None}
        )
    return rows


def ncp(microdata: pl.DataFrame, contract: Contract) -> float:
    """The mean, over tuples and quasi-identifiers, of the share of the domain that an interval covers."""
    lengths = []
    for column, qi in contract.attributes():
        low, high = (encode(pl.col(f"{column}_{end}"), qi) for end in ("low", "high"))
        lowest, highest = code_domain(qi)
        lengths.append(((high - low) / max(highest - lowest, 1)).mean())
    return float(np.mean([part or 0 for part in microdata.select(pl.mean_horizontal(lengths)).row(0)]))


def error(microdata: pl.DataFrame, people: pl.DataFrame, contract: Contract, queries: int = 200) -> float:
    """The median relative error of counts.

    A query asks for a third of the last quasi-identifier's domain and a fourth of the values.

    The researcher takes tuples as evenly spread over their intervals, and scales by the people held back,
    whose number is published.
    """
    if microdata.is_empty():
        return float("nan")
    rng = np.random.default_rng(7)
    column, qi = list(contract.attributes())[-1]
    lowest, highest = code_domain(qi)
    truth = people.select(encode(pl.col(column), qi), "value")
    exact, values = truth[column].to_numpy(), truth["value"].unique().sort()
    low, high = (
        microdata.select(encode(pl.col(f"{column}_{e}"), qi)).to_series().to_numpy() for e in ("low", "high")
    )
    scale = people.height / microdata.height
    errors = []
    for _ in range(queries):
        start = rng.integers(lowest, lowest + (highest - lowest) * 2 // 3 + 1)
        stop = start + (highest - lowest) // 3
        chosen = values.sample(max(1, len(values) // 4), seed=int(rng.integers(1 << 30))).implode()
        count = ((exact >= start) & (exact <= stop) & truth["value"].is_in(chosen).to_numpy()).sum()
        overlap = np.clip(np.minimum(high, stop) - np.maximum(low, start) + 1, 0, None) / (high - low + 1)
        estimate = scale * overlap[microdata["value"].is_in(chosen).to_numpy()].sum()
        if count:
            errors.append(abs(estimate - count) / count)
    return float(np.median(errors))


def census_snapshots(people: int, releases: int) -> Iterator[pl.DataFrame]:
    """T(1), T(2), …: the quasi-identifiers of a made-up census, and an unrelated value."""
    rng = np.random.default_rng(3)
    leaving = people // 20
    everybody = census(people + leaving * releases).select("person_id", *QUASI_IDENTIFIERS)
    weights = np.arange(1, VALUES + 1) ** -SKEW
    draw = lambda number: rng.choice(VALUES, number, p=weights / weights.sum())  # noqa: E731
    names = {name: f"qi_{n}" for n, name in enumerate(QUASI_IDENTIFIERS)}
    table = everybody.select(
        pl.Series("pseudonym", pseudonyms(everybody["person_id"], b"k")),
        pl.col(list(names)).name.map(names.get),
    )
    value, present = draw(table.height), np.arange(people)
    for release in range(releases):
        if release:
            entering = np.arange(people + leaving * (release - 1), people + leaving * release)
            present = np.concatenate([rng.permutation(present)[leaving:], entering])
            changing = present[rng.random(people) < 0.05]
            value[changing] = draw(len(changing))
        yield table[present].with_columns(value=pl.Series(value[present], dtype=pl.Int64))


def census_contract(strategy: dict) -> Contract:
    """The contract of such a census, l = 2."""
    return _contract(
        {
            "product": "census",
            "series": "v1",
            "source": {"path": "{release}.parquet"},
            "releases": {"first": "2020-01-01", "cron": "0 0 1 * *"},
            "identifier": "person_id",
            "quasi_identifiers": [
                {"name": name, "kind": "number", "domain": list(DOMAINS[name])} for name in QUASI_IDENTIFIERS
            ],
            "sensitive": {"name": "value", "semantics": "transient"},
            "principle": {"name": "global_guarantee", "l": 2, "on_ineligible": "wait"} | strategy,
        }
    )


def _contract(declared: dict) -> Contract:
    return Contract.model_validate(
        declared, context={"principles": {GLOBAL_GUARANTEE.name: GLOBAL_GUARANTEE.parameters}}
    )


def _entered(people: pl.DataFrame) -> pl.DataFrame:
    """Receipts as a principle receives them."""
    return people.select(
        pl.Series("pseudonym", pseudonyms(people["person_id"], b"k")),
        qi_0="sex",
        qi_1="birth_year",
        value="chapter",
    )


def _first_and_last(numbers: list[float]) -> str:
    return f"{numbers[0]:,.0f} to {numbers[-1]:,.0f}"


if __name__ == "__main__":
    main()
