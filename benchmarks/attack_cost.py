"""What the attacks cost: seconds and memory on census-like data, 200,000 people live.

- intersection over one release of 200,000 people in 20,000 groups: at most 5 s and 2 GiB;
- the audit of a 21-release series: intersections within 2 minutes;
- exact equivalence for all buckets of a 20-release series, merged by signature: within 2 minutes.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from anonymize.attack.coverage import value_domain
from anonymize.attack.equivalence import compromised, minimum_equivalence
from anonymize.attack.intersection import candidates, intersect
from anonymize.attack.release import attack_release
from anonymize.formats import GENERALIZATION
from anonymize.formats.published import knowledge_table
from anonymize.m_invariance.release import release
from anonymize.people.randomness import generator
from anonymize.principle.state import State
from anonymize.principles import parse_contract, principle_of
from benchmarks.census import census_contract, census_series
from benchmarks.people import pseudonymous

M, E = 10, 5


def measure(releases: int, console: Console) -> Table:
    """Publish a series, and attack it release by release."""
    contract = parse_contract(census_contract(m=M) | {"source": {"path": "{release}.parquet"}})
    domain = value_domain(pl.Series("value", contract.sensitive.values))
    promise = principle_of(contract).promise(contract.principle)
    state, known, covered = State.empty(), None, None
    members, contents, intersecting, auditing, first = [], [], [], [], None
    for number, (name, snapshot) in enumerate(census_series(r=20_000, releases=releases), start=1):
        people = pseudonymous(snapshot, contract).with_columns(person=pl.col("identifier"))

        def draw(purpose: str, name: str = name) -> np.random.Generator:
            return generator(b"benchmark", contract.product, contract.series, name, purpose)

        candidate = release(people.drop("identifier", "person"), contract, state, number, draw)
        state = candidate.state

        begun = time.perf_counter()
        published = GENERALIZATION.read(GENERALIZATION.internal(candidate.published, contract), contract)
        covered = intersect(knowledge_table(people, contract), published, domain, number, covered)
        left = candidates([covered])
        intersecting.append(time.perf_counter() - begun)
        first = first or (len(snapshot), candidate.figures["groups"])

        begun = time.perf_counter()
        linkage = candidate.linkage.join(people.select("pseudonym", "person"), on="pseudonym")
        found = attack_release(
            contract.table_schema,
            GENERALIZATION,
            candidate.published,
            people,
            [promise] * number,
            known,
            linkage=linkage.select("person", "group_id"),
        )
        auditing.append(time.perf_counter() - begun)
        known = found.knowledge
        console.print(
            f"{name}: intersection {intersecting[-1]:.2f} s, whole audit {auditing[-1]:.2f} s,"
            f" fewest candidates {left['candidates'].min()}, holds: {found.holds}",
            soft_wrap=True,
        )
        merged = merge(candidate, linkage, number)
        members.append(merged[0])
        contents.append(merged[1])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    begun = time.perf_counter()
    smallest = minimum_equivalence(pl.concat(members), pl.concat(contents), seconds=110)
    equivalence = time.perf_counter() - begun
    begun = time.perf_counter()
    caught, undecided = compromised(pl.concat(members), pl.concat(contents), E, seconds=110)
    deciding = time.perf_counter() - begun

    table = Table(title="Cost of the attacks")
    for heading in ("what", "size", "seconds", "found"):
        table.add_column(heading)
    people, groups = first
    table.add_row(
        "intersection, one release",
        f"{people:,} people, {groups:,} groups",
        f"{max(intersecting[1:] or intersecting):.2f} at most",
        "",
    )
    table.add_row(
        "intersection, series",
        f"{releases} releases",
        f"{sum(intersecting):.1f}",
        f"fewest candidates {left['candidates'].min()}",
    )
    table.add_row(
        "whole audit of a release",
        "with linkage",
        f"{max(auditing[1:] or auditing):.2f} at most",
        f"holds: {found.holds}",
    )
    table.add_row("memory so far, publisher included", "", "", f"{memory:.2f} GiB")
    proven = sum(one.proven for one in smallest)
    sizes = [one.e for one in smallest if one.e]
    table.add_row(
        "exact equivalence, merged buckets",
        f"{len(smallest)} parts, up to {max(one.partitions for one in smallest)} partitions",
        f"{equivalence:.1f}",
        f"smallest e {min(sizes, default=None)}, {proven} of {len(smallest)} proven",
    )
    table.add_row(
        f"everybody in an attack with e' < {E}",
        f"{smallest[-1].people:,} columns' people",
        f"{deciding:.1f}",
        f"{len(caught):,} people, {len(undecided):,} undecided",
    )
    return table


def merge(candidate, linkage: pl.DataFrame, number: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The release as if its groups were merged by bucket; counterfeits are people of one release."""
    partition = pl.lit(number * 10**6) + pl.col("bucket_id").cast(pl.Int64)
    real = linkage.select(partition.alias("partition"), pl.col("person").cast(pl.Int64))
    buckets = candidate.buckets.with_columns(
        partition.alias("partition"),
        ((pl.col("people") + pl.col("counterfeits")) // pl.col("signature").list.len()).alias("tuples"),
    )
    forged = (
        buckets.select("partition", "bucket_id", pl.int_ranges(pl.col("counterfeits")).alias("copy"))
        .explode("copy")
        .drop_nulls()
        .select("partition", (-(pl.col("partition") * 1000 + pl.col("copy") + 1)).alias("person"))
    )
    contents = buckets.select("partition", pl.col("signature").alias("value"), "tuples").explode("value")
    return pl.concat([real, forged]), contents.with_columns(pl.col("tuples").cast(pl.Int64))


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--releases", type=int, default=21)
    Console(width=140).print(measure(arguments.parse_args().releases, Console(stderr=True)))
