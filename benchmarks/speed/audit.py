"""What an audit costs.

Census-like people under e-equivalence, a tenth of them replaced before each release. *Everything*: what a
release is audited for in the chain, hosting groups included. The attacks on equivalence stop after so many
seconds.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator

import polars as pl

from benchmarks.census import census_contract, census_series
from benchmarks.papers.e_equivalence import merged_groups
from benchmarks.series import contract_of, released
from benchmarks.tables import Table, main
from republish.anonymize.attack.coverage import value_domain
from republish.anonymize.attack.equivalence import compromised, minimum_equivalence
from republish.anonymize.attack.intersection import candidates, intersect
from republish.anonymize.formats.published import knowledge_table
from republish.anonymize.principles import principle_of
from republish.anonymize.promise.attacked import attack as attack_release

QUICK = {"people": 500, "releases": 2, "seconds": 5, "m": 4}


def tables(
    people: int = 200_000, releases: int = 21, m: int = 10, e: int = 5, seconds: int = 110
) -> Iterator[Table]:
    """Publish a series, and attack it release by release."""
    contract = contract_of(
        census_contract(m=m), name="e_equivalence", m=m, e=e, on_ineligible="counterfeit", people_per_group=2
    )
    principle = principle_of(contract)
    promise, domain = principle.promise(contract.principle), pl.Series("value", contract.sensitive.values)
    known = covered = None
    merged, intersecting, auditing = [], [], []
    snapshots = census_series(people + people // 10 * releases, people, people // 10, releases)
    for number, made in enumerate(released(snapshots, contract), start=1):
        crowd = made.people.with_columns(person="identifier")
        begun = time.perf_counter()
        covered = intersect(
            knowledge_table(crowd, contract), made.read, value_domain(domain), number, covered
        )
        left = candidates([covered])["candidates"].min()
        intersecting.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        found = attack_release(
            contract.table_schema, principle.format(contract), made.candidate.published, crowd,
            [promise] * number, known, linkage=made.linkage,
        )  # fmt: skip
        known = found.knowledge
        auditing.append(time.perf_counter() - begun)
        merged.append(merged_groups(made, number))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    members, contents = (pl.concat(tables) for tables in zip(*merged, strict=True))
    begun = time.perf_counter()
    smallest = minimum_equivalence(members, contents, seconds=seconds)
    searching = time.perf_counter() - begun
    begun = time.perf_counter()
    caught, undecided = compromised(members, contents, e, seconds=seconds)
    deciding = time.perf_counter() - begun
    proven = sum(one.proven for one in smallest)
    yield Table(
        f"{people:,} people, {releases} releases, m = {m}; peak memory, publisher included: {memory:.1f} GiB",
        ("attack", "seconds", "found"),
        [
            ("intersection, one release, at most", max(intersecting), None),
            ("intersection, the series", sum(intersecting), f"fewest candidates {left}"),
            ("everything, one release, at most", max(auditing), f"holds: {found.holds}"),
            ("smallest attack on equivalence", searching, f"{proven} of {len(smallest)} parts proven"),
            (f"everybody in one with e < {e}", deciding, f"{len(caught):,}, {len(undecided):,} undecided"),
        ],
    )


if __name__ == "__main__":
    main(tables)
