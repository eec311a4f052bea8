"""A first release in which one value is more frequent than 1/m: intervals, errors, and what it takes.

Made-up census people under m-invariance (m = 10), one tenth of them replaced before the second release. Of
people drawn at random, the occupation became the most frequent one until it has the share in the first
column: at most 10 % is eligible. NCP is the share of its domain that an interval covers; the error is the
median over 200 random counts that are estimated from the release.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from benchmarks.adversaries.arrivals import VALUE
from benchmarks.census import QUASI_IDENTIFIERS, census, census_contract
from benchmarks.measures.divided import figures
from benchmarks.series import contract_of, dynamic_series, released
from benchmarks.tables import Table, main

QUICK = {"people": 4_000, "shares": (0.12,), "policies": ("counterfeit",)}
HEADINGS = (
    "most frequent value",
    "on_ineligible",
    "release",
    "held back",
    "counterfeits",
    "NCP",
    "median error",
)


def tables(
    people: int = 100_000,
    shares: tuple[float, ...] = (0.0985, 0.101, 0.12),
    policies: tuple[str, ...] = ("counterfeit", "wait"),
) -> Iterator[Table]:
    """A row for each release of each share and policy."""
    update, rows = people // 10, []
    everybody = census(people + update, 1).select("person_id", *QUASI_IDENTIFIERS, VALUE)
    for share in shares:
        series = list(dynamic_series(_with_share(everybody, share), people, update, 2, 1))
        for policy in policies:
            contract = contract_of(
                census_contract(), name="m_invariance", m=10, on_ineligible=policy, people_per_group=2
            )
            for number, made in enumerate(released(series, contract, b"a key"), start=1):
                _, counterfeits, penalty, error = figures((made,))
                waiting = made.people.height - made.linkage.height
                rows.append([f"{share:.2%}", policy, number, waiting, counterfeits, penalty, error])
    yield Table(f"{people:,} people, {update:,} replaced", HEADINGS, rows)


def _with_share(people: pl.DataFrame, share: float) -> pl.DataFrame:
    """The people, so large a share of whom have the most frequent value."""
    most = people[VALUE].mode().sort()[0]
    has_it = (people[VALUE] == most).to_numpy()
    becomes = np.random.default_rng(2).random(len(people)) < (share - has_it.mean()) / (1 - has_it.mean())
    return people.with_columns(pl.when(pl.Series(becomes)).then(pl.lit(most)).otherwise(VALUE).alias(VALUE))


if __name__ == "__main__":
    main(tables)
