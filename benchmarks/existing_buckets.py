"""What inserted people gain from going to existing buckets: interval widths over releases, with and without.

python benchmarks/existing_buckets.py [--quick]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from unittest import mock

import numpy as np
from rich.console import Console
from rich.table import Table

from anonymize.buckets import plan
from anonymize.buckets.signatures import Signatures
from anonymize.evidence.generalized import minimum_widths
from anonymize.formats import GENERALIZATION
from anonymize.m_invariance.release import release
from anonymize.principle.state import State
from anonymize.principles import parse_contract
from benchmarks.census import census_contract, census_series
from benchmarks.people import pseudonymous


def widths(releases: int, replaced: Mapping[str, Callable]) -> list[tuple[int, dict[str, float]]]:
    """Buckets in use and the mean width of each quasi-identifier, with parts of the planner replaced."""
    declared = {**census_contract(10, "occupation"), "source": {"path": "{release}.parquet"}}
    contract = parse_contract(declared)
    found, state = [], State.empty()
    with mock.patch.multiple(plan, **replaced):
        series = census_series(sensitive="occupation", releases=releases)
        for number, (_, snapshot) in enumerate(series, start=1):
            people = pseudonymous(snapshot, contract).drop("identifier")
            made = release(
                people, contract, state, number, lambda purpose: np.random.default_rng(len(purpose))
            )
            table = minimum_widths(GENERALIZATION.internal(made.published, contract)["microdata"], contract)
            found.append((made.figures["buckets"], dict(table.select("column", "mean_width").iter_rows())))
            state = made.state
    return found


def nobody(_rest: np.ndarray, _m: int, signatures: Signatures, *_counts: np.ndarray) -> np.ndarray:
    """Nobody goes to a bucket because it exists."""
    return np.zeros(len(signatures.value), np.int64)


def main() -> None:
    releases = 4 if "--quick" in sys.argv else 12
    reusing = ("assign_core", "assign_to_existing")
    ours = widths(releases, {name: getattr(plan, name) for name in reusing})
    alone = widths(releases, dict.fromkeys(reusing, nobody))
    table = Table(
        title="census, 200,000 live, r = 20,000, m = 10: mean interval widths, ours / Figure 3 alone"
    )
    for heading in ("release", "buckets", *ours[0][1]):
        table.add_column(heading, justify="right")
    for number, ((ours_used, ours_wide), (used, wide)) in enumerate(zip(ours, alone, strict=True), start=1):
        cells = (f"{ours_wide[qi]:.2f} / {wide[qi]:.2f}" for qi in wide)
        table.add_row(str(number), f"{ours_used} / {used}", *cells)
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
