"""The streamliner: posteriors, groups, errors, seconds.

Figures 1 to 7 of Liu and Wang (CODASPY 2012) on census-like people, gender weighed by 10000 as in the
paper, l = 6 to 10, with queries for one value over 30 % of each domain (gender: one of two). *DM /
optimum*: discernibility by the least that is possible. The seconds are of l = 8; a release has its
intervals and everybody's keyed hash. And what an adversary learns who knows the algorithm: exact posteriors
on tables of four or five people, every table of the same values and every secret order tried.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from benchmarks.adversaries.every_table import (
    all_partitions,
    as_published,
    is_l_diverse,
    orders_within_colors,
    worst_posterior,
)
from benchmarks.census import QUASI_IDENTIFIERS, census, census_contract
from benchmarks.measures.penalties import least_discernibility, normalized_certainty_penalty
from benchmarks.measures.queries import estimated_counts
from benchmarks.real_data import adult, adult_contract, data_folder, is_here
from benchmarks.series import Made, contract_of, pseudonymous, released
from benchmarks.tables import Table, main
from republish.anonymize.buckets.plan import assign_counts
from republish.anonymize.buckets.signatures import Signatures
from republish.anonymize.contract import Contract
from republish.anonymize.m_invariance.group import group_people
from republish.anonymize.people.codes import encode_columns
from republish.anonymize.streamliner.candidates import gda, rda
from republish.anonymize.utility.discernibility import discernibility
from republish.anonymize.utility.queries import random_workload, true_counts, workload_error

QUICK = {"rows": 400, "most": 400, "queries": 5, "posteriors": 2, "real": 0}
METHODS = ("rda", "gda")
PREDICATES = {"age": [0], "gender": [1], "age and gender": [0, 1], "all": [0, 1, 2, 3]}
"""The quasi-identifiers that a query asks for."""


def tables(
    rows: int = 600_000, most: int = 4_800_000, queries: int = 1000, posteriors: int = 40, real: int = 1
) -> Iterator[Table]:
    """All figures; seconds are measured on up to `most` people."""
    yield _posteriors(posteriors)
    yield _figures(rows, queries)
    yield _seconds(rows, most)
    if real and is_here():
        yield _adult()


def _contract(l: int, method: str, sensitive: str = "occupation") -> Contract:
    weights = {"weights": {"gender": 10_000}} if method == "gda" else {}
    return contract_of(
        census_contract(sensitive=sensitive), name="streamliner", l=l, method=method, **weights
    )


def _publish(people: pl.DataFrame, contract: Contract) -> Made:
    (made,) = released([("2020-01-01", people)], contract)
    return made


def _figures(rows: int, queries: int) -> Table:
    """Figures 2 to 7: discernibility, intervals, and the error of queries, by l and method."""
    everybody, found = census(rows), []
    for sensitive, l, method in itertools.product(("occupation", "income"), range(6, 11), METHODS):
        people = everybody.select("person_id", *QUASI_IDENTIFIERS, sensitive)
        made = _publish(people, _contract(l, method, sensitive))
        errors = (f"{_query_error(made, asked, queries):.1%}" for asked in PREDICATES.values())
        found.append([sensitive, str(l), method, *_sizes_and_widths(made), *errors])
    heads = ("column", "l", "method", "groups", "DM / optimum", "NCP", *PREDICATES)
    return Table(f"{rows:,} people: discernibility, intervals, and the mean error of counts", heads, found)


def _sizes_and_widths(made: Made) -> list[Any]:
    read, counts = made.read, made.people["value"].value_counts()["count"].to_numpy()
    cost = discernibility(read.sizes["size"].to_numpy())
    least = least_discernibility(counts, made.contract.principle.l)
    penalty = normalized_certainty_penalty(read.boxes, read.sizes, made.contract)
    return [made.candidate.figures.groups, f"{cost / least:.4f}", penalty]


def _query_error(made: Made, asked: list[int], queries: int) -> float:
    read, people, contract = made.read, made.people, made.contract
    tuples = read.values.join(read.boxes, on="group_id")
    codes = people.select("value", *encode_columns(people, contract).get_columns())
    columns = [f"qi_{number}" for number in asked]
    values = people["value"].unique().sort()
    workload = random_workload(contract, columns, values, queries, 0.3, np.random.default_rng(1))
    return workload_error(
        true_counts(codes, workload), estimated_counts(tuples, workload, contract), len(people)
    )


def _seconds(rows: int, most: int) -> Table:
    """Figure 1: seconds against the number of people (copies of the census), and the fitted exponent."""
    sizes = [rows // 12, rows // 4, rows]
    while sizes[-1] * 2 <= most:
        sizes.append(sizes[-1] * 2)
    once, measured = census(rows).select("person_id", *QUASI_IDENTIFIERS, "occupation"), []
    for size in sizes:
        copies = pl.concat([once.head(size)] * max(1, size // rows))
        copies = copies.with_columns(person_id=pl.int_range(pl.len()))
        contracts = {method: _contract(8, method) for method in METHODS}
        people = pseudonymous(copies, contracts["rda"])
        color = people["value"].rank("dense").to_numpy().astype(np.int64) - 1
        ranks = np.random.default_rng(1).permutation(len(color)).astype(np.uint64)
        weighted = people.select(pl.sum_horizontal("^qi_.$") + 9_999 * pl.col("qi_1")).to_series()
        near = weighted.to_numpy().astype(float)
        measured.append(
            [
                _best(lambda color=color, ranks=ranks: rda(color, ranks, 8)),
                _best(lambda color=color, ranks=ranks, near=near: gda(color, ranks, near, 8)),
                *(min(_publish(copies, contracts[method]).seconds for _ in range(3)) for method in METHODS),
            ]
        )
    exponents = np.polyfit(np.log(sizes), np.log(measured), 1)[0]
    names = [f"{what}, {method}" for what in ("groups alone", "release") for method in METHODS]
    found = [
        [name, *spent, f"{exponent:.2f}"]
        for name, spent, exponent in zip(names, zip(*measured, strict=True), exponents, strict=True)
    ]
    return Table("Seconds, l = 8, best of 3", ("people", *(f"{size:,}" for size in sizes), "exponent"), found)


def _best(call: Callable[[], object]) -> float:
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def _posteriors(number: int) -> Table:
    """How often the adversary passes 1/l, and is certain."""
    cases, rows = [_tiny_table(seed) for seed in range(number)], []
    for name, partition in {
        "streamliner, rda": lambda color, ranks, _distances, l: rda(color, ranks, l),
        "streamliner, gda": gda,
        "m-invariance, first release": _m_invariant_groups,
        "best-first search for the least extent that is l-diverse": _best_first,
    }.items():
        worst = [_highest_posterior(partition, *case) for case in cases]
        above = sum(one * l > 1 for one, (l, *_) in zip(worst, cases, strict=True))
        rows.append([name, above, sum(one == 1 for one in worst)])
    return Table(f"{number} tiny tables", ("publisher", "posterior above 1/l", "certain"), rows)


def _tiny_table(seed: int) -> tuple[int, tuple[int, ...], np.ndarray]:
    """l, the values of four or five people that are l-eligible, and where the people are on a line."""
    rng = np.random.default_rng(seed)
    while True:
        l, number = int(rng.integers(2, 4)), int(rng.integers(4, 6))
        colors = tuple(sorted(rng.choice(4, number, p=[0.4, 0.3, 0.2, 0.1]).tolist()))
        if max(map(colors.count, colors)) * l <= number:
            return l, colors, rng.choice([5, 30]) * rng.random(number).round(1)


def _highest_posterior(
    partition: Callable, l: int, colors: tuple[int, ...], distances: np.ndarray
) -> Fraction:
    """The highest probability of any person's value after any output of a partitioning algorithm."""
    return worst_posterior(
        lambda color, ranks: as_published(partition(color, ranks, distances, l), color),
        colors,
        orders_within_colors,
    )


def _m_invariant_groups(color: np.ndarray, ranks: np.ndarray, distances: np.ndarray, l: int) -> np.ndarray:
    """Buckets as the first release of m-invariance fills them, each split by its perimeter rule."""
    sizes = np.bincount(color)
    shares, buckets = assign_counts(sizes, l, Signatures.none(len(sizes)))
    bucket = np.empty(len(color), np.int64)
    bucket[np.lexsort((ranks, color))] = np.repeat(
        buckets.bucket[buckets.by_values], shares[buckets.by_values]
    )
    seeds = np.zeros(len(buckets), np.uint64)
    return group_people(bucket, color, (distances / 30).reshape(-1, 1), ranks, "fast", seeds)


def _best_first(color: np.ndarray, _ranks: np.ndarray, distances: np.ndarray, l: int) -> np.ndarray:
    """The partition of the least total extent among all l-diverse ones."""
    table, ranked = dict(enumerate(color.tolist())), []
    for partition in all_partitions(list(table)):
        if all(is_l_diverse(group, table, l) for group in partition):
            groups = sorted(sorted(group) for group in partition)
            extent = sum(np.ptp(distances[group]) * len(group) for group in groups)
            ranked.append((extent, len(groups), groups))
    group = np.empty(len(color), np.int64)
    for number, members in enumerate(min(ranked)[2]):
        group[members] = number
    return group


def _adult() -> Table:
    """Adult, occupation sensitive, l up to what its most frequent occupation allows."""
    folder, rows = data_folder(), []
    people, declared = adult(folder), adult_contract(folder)
    for l, method in itertools.product((4, 7), METHODS):
        weights = {"weights": {"sex": 1000, "race": 100}} if method == "gda" else {}
        made = _publish(people, contract_of(declared, name="streamliner", l=l, method=method, **weights))
        rows.append([str(l), method, *_sizes_and_widths(made), made.seconds])
    heads = ("l", "method", "groups", "DM / optimum", "NCP", "seconds")
    return Table(f"Adult (real): {people.height:,} people, sex weighed by 1000 and race by 100", heads, rows)


if __name__ == "__main__":
    main(tables)
