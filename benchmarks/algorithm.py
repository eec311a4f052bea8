"""Seconds of one m-invariant release, by phase and where it is hardest; and ratios to plain references.

python benchmarks/algorithm.py [--quick]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from anonymize.buckets.memory import Memory
from anonymize.buckets.plan import _largest_step
from anonymize.contract import Contract
from anonymize.kernels.split import EMPTY, split_bucket
from anonymize.m_invariance import publish
from anonymize.m_invariance import release as steps
from anonymize.people.randomness import generator
from anonymize.principle.state import State
from anonymize.principles import parse_contract
from benchmarks.people import pseudonymous
from benchmarks.phases import timed

PHASES = {
    "divide": (steps, "divide_people"),
    "plan": (steps, "make_plan"),
    "assign": (steps, "execute"),
    "family": (steps, "choose_family"),
    "group": (publish, "group_people"),
    "generalize": (publish, "generalize"),
    "anatomize": (publish, "anatomize"),
    "remember": (Memory, "after"),
}
"""Phase -> where the function is found that it consists of."""


@dataclass(frozen=True)
class Case:
    """A table and what happens to it between releases."""

    name: str
    people: int = 200_000
    turnover: float = 0.1
    """Share of the people who leave and are replaced."""
    changing: float = 0
    """Share of the people whose value changes."""
    values: int = 50
    skew: float = 0.3
    m: int = 10
    policy: str = "refuse"
    quasi_identifiers: Callable[[np.random.Generator, int], dict] | None = None
    fractions: bool = False


def census(rng: np.random.Generator, people: int) -> dict:
    """The domain sizes of the paper's Table 5: age, gender, education, birthplace."""
    return {f"q{i}": rng.binomial(size - 1, 0.4, people) for i, size in enumerate((79, 2, 17, 57))}


def identical(_: np.random.Generator, people: int) -> dict:
    return {f"q{i}": np.full(people, 1) for i in range(4)}


def powers_of_two(rng: np.random.Generator, people: int) -> dict:
    """The smallest half of a domain holds all but one level of people: splits cut off level after level."""
    return {f"q{i}": 1e12 * 2.0 ** -rng.integers(0, 1000, people) for i in range(4)}


CASES = [
    Case("census, as in the paper"),
    Case("5 % change value", changing=0.05, policy="counterfeit"),
    Case("identical quasi-identifiers", quasi_identifiers=identical),
    Case("splits level by level", quasi_identifiers=powers_of_two, fractions=True),
    Case("1,000 values", values=1000, skew=0.5),
    Case("1,000 values, 5 % change", values=1000, changing=0.05, policy="counterfeit"),
    Case("ineligible, counterfeited", skew=0.97, policy="counterfeit"),
    Case("one bucket, m = 50", values=50, skew=0, m=50, policy="counterfeit"),
    Case("m = 2", m=2),
]


def main() -> None:
    quick = "--quick" in sys.argv[1:]
    console = Console(width=140)
    releases = 3 if quick else 6
    table = Table(title=f"Seconds per release: median (and most) of {releases - 1} after the first")
    for column in ("case", "buckets", "counterfeits", *PHASES, "other", "release"):
        table.add_column(column, justify="left" if column == "case" else "right")
    measure(Case("to compile", people=2_000), 2)
    for case in CASES[: 2 if quick else None]:
        rows, figures = measure(case, releases)
        median = np.median(rows[1:], axis=0)
        shown = [f"{seconds:.3f}" for seconds in median]
        shown[-1] += f" ({rows[1:, -1].max():.3f})"
        table.add_row(case.name, f"{figures['buckets']:,}", f"{figures['counterfeits']:,}", *shown)
    console.print(table)
    console.print(ratios())


def measure(case: Case, releases: int) -> tuple[np.ndarray, dict]:
    """Seconds, one row per release: each phase, the rest, the whole. And the last release's figures."""
    contract = contract_of(case)
    state, rows, candidate = State.empty(), [], None
    for number, snapshot in enumerate(snapshots(case, releases), start=1):
        people = pseudonymous(snapshot, contract).drop("identifier")
        with timed(PHASES) as spent:
            candidate = steps.release(
                people,
                contract,
                state,
                number,
                lambda purpose, n=number: generator(b"k", "b", "v1", str(n), purpose),
            )
        state = candidate.state
        rows.append(list(spent.values()))
    return np.array(rows), dict(candidate.figures)


def snapshots(case: Case, releases: int):
    """T(1), T(2), …."""
    rng = np.random.default_rng(1)
    weights = np.arange(1, case.values + 1, dtype=float) ** -case.skew
    draw_values = lambda n: rng.choice(case.values, n, p=weights / weights.sum())  # noqa: E731
    draw_qis = case.quasi_identifiers or census
    people = pl.DataFrame(draw_qis(rng, case.people)).with_columns(
        id=np.arange(case.people), value=draw_values(case.people)
    )
    known = case.people
    for number in range(releases):
        if number:
            leaving = int(case.turnover * case.people)
            entering = pl.DataFrame(draw_qis(rng, leaving)).with_columns(
                id=np.arange(known, known + leaving), value=draw_values(leaving)
            )
            known += leaving
            staying = people.sample(case.people - leaving, seed=number)
            changed = rng.random(staying.height) < case.changing
            value = np.where(changed, draw_values(staying.height), staying["value"].to_numpy())
            people = pl.concat([staying.with_columns(value=value), entering])
        yield people.with_columns(pl.col("value").cast(pl.Int64))


def contract_of(case: Case) -> Contract:
    upper = 1e12 if case.fractions else 100
    return parse_contract(
        {
            "product": "benchmark",
            "series": "v1",
            "source": {"path": "{release}.parquet"},
            "releases": {"first": "2024-01-01", "cron": "0 0 1 1 *"},
            "identifier": "id",
            "quasi_identifiers": [
                {"name": f"q{i}", "kind": "number", "domain": [0.0 if case.fractions else 0, upper]}
                for i in range(4)
            ],
            "sensitive": {"name": "value", "values": list(range(case.values))},
            "principle": {"name": "m_invariance", "m": case.m, "on_ineligible": case.policy},
        }
    )


def ratios() -> Table:
    """What the fast versions gain over plain Python, in one run on one machine."""
    table = Table(title="Against plain Python")
    for column in ("what", "plain, s", "fast, s", "ratio"):
        table.add_column(column, justify="left" if column == "what" else "right")
    rng = np.random.default_rng(2)
    codes, size = rng.random((4 * 40, 3)), 4
    group = np.empty(len(codes), np.int32)
    counts = np.sort(rng.zipf(1.4, 2000).clip(0, 10**6))[::-1].copy()
    for what, plain, fast in (
        (
            "split: 40 layers of 4 values",
            lambda: plain_split(codes, size),
            lambda: split_bucket(codes, size, group),
        ),
        (
            "plan: one step over 2,000 values",
            lambda: plain_step(counts, 40),
            lambda: _largest_step(counts, 40),
        ),
    ):
        slow, quick = seconds(plain), seconds(fast)
        table.add_row(what, f"{slow:.4f}", f"{quick:.6f}", f"{slow / quick:,.0f}")
    return table


def seconds(call: Callable) -> float:
    """The best of a few runs."""
    best = np.inf
    for _ in range(5):
        began = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - began)
    return best


def plain_split(codes: np.ndarray, size: int) -> list[list[int]]:
    """Section 4.3, every perimeter of every scheme computed from scratch."""
    length = len(codes) // size
    waiting = [[list(range(j * length, (j + 1) * length)) for j in range(size)]]
    groups = []
    while waiting:
        lists = waiting.pop()
        if len(lists[0]) == 1:
            groups.append([rows[0] for rows in lists])
            continue
        best = (np.inf,)
        for attribute in range(codes.shape[1]):
            ordered = [sorted(rows, key=lambda row, a=attribute: codes[row, a]) for rows in lists]
            for k in range(1, len(lists[0])):
                parts = [rows[:k] for rows in ordered], [rows[k:] for rows in ordered]
                cost = sum(perimeter(codes, [row for rows in part for row in rows]) for part in parts)
                if cost < best[0]:
                    best = (cost, parts)
        waiting.extend(best[1])
    return groups


def perimeter(codes: np.ndarray, rows: list[int]) -> float:
    columns = ([codes[row, a] for row in rows if codes[row, a] != EMPTY] for a in range(codes.shape[1]))
    return len(rows) * sum(max(column) - min(column) for column in columns)


def plain_step(counts: np.ndarray, m: int) -> tuple[int, int] | None:
    """Lines 5 to 8 of Figure 3, trying one beta after another."""
    n, total = [*counts.tolist(), 0], int(counts.sum())
    for beta in range(m, len(counts) + 1):
        for alpha in range(n[beta - 1], 0, -1):
            left = total - alpha * beta
            if (n[0] - alpha) * m <= left and n[beta] * m <= left:
                return alpha, beta
    return None


if __name__ == "__main__":
    main()
