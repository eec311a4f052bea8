"""Counts estimated from releases, over time.

A made-up census, of which a fortieth is replaced before each release; `occupation` is sensitive. Counts are
those of [estimates.md](estimates.md): people with one value whose quasi-identifiers lie in random intervals.
The error is the median of |estimate - truth| / truth, or of 10 where the true count is smaller. *Evenly*
takes people as spread evenly over their group's intervals; *estimated* is what `republish estimate` answers.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from benchmarks.census import census_contract, census_series
from benchmarks.measures.estimates import measured
from benchmarks.measures.penalties import normalized_certainty_penalty
from benchmarks.series import contract_of, released
from benchmarks.tables import Table, main

QUICK = {"people": 2_000, "releases": 2, "queries": 50, "m": (4,), "formats": ("anatomy",)}


def tables(
    people: int = 40_000,
    releases: int = 81,
    every: int = 20,
    queries: int = 2_000,
    m: tuple[int, ...] = (8, 6),
    formats: tuple[str, ...] = ("generalization", "anatomy"),
    adversaries: tuple[str, ...] = ("paper", "knows_algorithm"),
) -> Iterator[Table]:
    """A table for each m and format: each adversary's releases, one in so many."""
    for least, published in itertools.product(m, formats):
        rows = []
        for adversary in adversaries:
            contract = contract_of(
                census_contract(least, "occupation"),
                name="m_invariance", m=least, format=published, adversary=adversary, effort="fast",
            )  # fmt: skip
            snapshots = census_series(3 * people, people, people // 40, releases, "occupation")
            for number, made in enumerate(released(snapshots, contract)):
                if number % every:
                    continue
                found, _ = measured(made, queries)
                errors = [
                    np.median(np.abs(found[how] - found["true"]) / np.maximum(found["true"], 10))
                    for how in ("evenly", "estimated")
                ]
                forged = made.candidate.figures.counterfeits / made.candidate.figures.people
                read = made.read
                # Exact quasi-identifiers have no intervals.
                ncp = None
                if published == "generalization":
                    ncp = f"{normalized_certainty_penalty(read.boxes, read.sizes, contract):.3f}"
                rows.append(
                    [
                        f"{adversary}, release {number + 1}",
                        f"{forged:.1%}",
                        ncp,
                        *(f"{e:.1%}" for e in errors),
                    ]
                )
        yield Table(
            f"m = {least}, {published}, {people:,} people",
            ("", "counterfeits", "NCP", "evenly", "estimated"),
            rows,
        )


if __name__ == "__main__":
    main(tables)
