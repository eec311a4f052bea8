"""Release and judge random series of every pair of features, and write the page of the reference.

python -m benchmarks.pairs --series 4     # of each pair; some forty minutes
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict

from rich.progress import track

from benchmarks.pairs.features import FEATURES, Pair, pairs
from benchmarks.pairs.page import PAGE, page
from benchmarks.pairs.worlds import Told, release_series

PEOPLE = (8, 60)
"""In a snapshot: of the fewer ones, all assignments are counted."""
IN_A_HOME = (30, 60)


def told_of(pair: Pair, series: int) -> Told:
    """What became of several series of a pair, added up."""
    told = Told(refused=Counter(), faults=Counter())
    for seed in range(series):
        one = release_series(pair, seed, (IN_A_HOME if pair.takes_a_home else PEOPLE)[seed % 2])
        told.published += one.published
        told.units += one.units
        told.refused += one.refused
        told.faults += one.faults
    return told


if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m benchmarks.pairs", description=__doc__)
    parser.add_argument("--series", type=int, default=4, help="random series of each pair")
    given = parser.parse_args()
    kept = [pair for pair in pairs() if not pair.alternatives and not pair.refusal]
    told: dict[str, dict[str, Told]] = defaultdict(dict)
    for pair in track(kept, description="pairs"):
        told[pair.first.name][pair.second.name] = told_of(pair, given.series)
        if faults := told[pair.first.name][pair.second.name].faults:
            print(f"{pair.name}: {dict(faults)}")
    PAGE.write_text(page(told, given.series, FEATURES))
