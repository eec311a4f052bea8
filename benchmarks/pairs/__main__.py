"""Release and judge random series of every pair of features, and write the page of the reference.

python -m benchmarks.pairs --series 4     # of each pair; some forty minutes
"""

from __future__ import annotations

import argparse
from collections import defaultdict

from rich.progress import track

from benchmarks.pairs.features import FEATURES, Together, pairs
from benchmarks.pairs.page import PAGE, page
from benchmarks.pairs.worlds import Told, release_without_refusals

PEOPLE = (8, 60)
"""In a snapshot: of the fewer ones, all assignments are counted."""
IN_A_HOME = (30, 60)


def told_of(pair: Together, series: int) -> Told:
    """What became of several series of a pair, added up."""
    told = Told()
    for seed in range(series):
        people = (IN_A_HOME if pair.takes_a_home else PEOPLE)[seed % 2]
        told.add(release_without_refusals(pair, seed, people))
    return told


if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m benchmarks.pairs", description=__doc__)
    parser.add_argument("--series", type=int, default=4, help="random series of each pair")
    given = parser.parse_args()
    kept = [pair for pair in pairs() if pair.is_kept]
    told: dict[str, dict[str, Told]] = defaultdict(dict)
    for pair in track(kept, description="pairs"):
        first, second = (one.name for one in pair.features)
        told[first][second] = told_of(pair, given.series)
        if faults := told[first][second].faults:
            print(f"{pair.name}: {dict(faults)}")
        if not (told[first][second].is_whole or pair.ends_early):
            print(f"{pair.name}: no series was released to its end")
    PAGE.write_text(page(told, given.series, FEATURES))
