"""The streamliner's figures on census-like people, and what an adversary learns from it.

    python -m benchmarks.streamliner [--rows 600000] [--most-rows 4800000] [--queries 1000]

Figure 1: seconds against the number of people (copies of the census), l = 8, and the fitted exponent. Figure
2: discernibility against the optimum. Figures 3 to 7: the mean error of count queries for l = 6 to 10. Then
the exact posterior of an adversary who knows the algorithm, on tiny tables; and Adult, where it is present.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from anonymize.buckets.plan import assign_counts
from anonymize.buckets.signatures import Signatures
from anonymize.contract import Contract
from anonymize.formats import GENERALIZATION
from anonymize.m_invariance.group import group_people
from anonymize.people.codes import encode_columns
from anonymize.people.pseudonyms import pseudonyms
from anonymize.people.randomness import generator
from anonymize.principle.candidate import Candidate
from anonymize.principle.state import State
from anonymize.streamliner import STREAMLINER
from anonymize.streamliner.candidates import gda, rda
from anonymize.utility.discernibility import discernibility
from anonymize.utility.queries import random_workload, true_counts, workload_error
from benchmarks.adversaries.every_table import (
    all_partitions,
    as_published,
    is_l_diverse,
    orders_within_colors,
    worst_posterior,
)
from benchmarks.census import DOMAINS, QUASI_IDENTIFIERS, census
from benchmarks.measures.discernibility import least_discernibility
from benchmarks.measures.ncp import normalized_certainty_penalty
from benchmarks.measures.queries import estimated_counts
from benchmarks.real_data import ADULT_CATEGORIES, WHY_NOT, adult, adult_hierarchy, data_folder

WEIGHTS = {"gender": 10_000}
"""Those of the paper (section 4.2): 1, 10000, 1 and 1."""
PREDICATES = {
    "age": ["age"],
    "gender": ["gender"],
    "age and gender": ["age", "gender"],
    "all": QUASI_IDENTIFIERS,
}
CONSOLE = Console(width=130)


def contract_of(quasi_identifiers: list[dict], sensitive: str, **principle: object) -> Contract:
    """The contract of one release by the streamliner."""
    declared = {
        "product": "benchmark",
        "series": "v1",
        "source": {"path": "{release}.parquet"},
        "releases": {"first": "2024-01-01", "cron": "0 0 1 1 *"},
        "identifier": "person_id",
        "quasi_identifiers": quasi_identifiers,
        "sensitive": {"name": sensitive},
        "principle": {"name": "streamliner", **principle},
    }
    return Contract.model_validate(declared, context={"principles": {"streamliner": STREAMLINER.parameters}})


def census_contract(sensitive: str, l: int, method: str) -> Contract:
    """The paper's setting: age, gender, education and birthplace, gender weighed by 10000."""
    attributes = [
        {"name": name, "kind": "number", "domain": list(DOMAINS[name])} for name in QUASI_IDENTIFIERS
    ]
    weights = {"weights": WEIGHTS} if method == "gda" else {}
    return contract_of(attributes, sensitive, l=l, method=method, **weights)


def as_people(rows: pl.DataFrame, quasi_identifiers: list[str], sensitive: str) -> pl.DataFrame:
    """T(1) as a principle receives it."""
    return rows.select(
        pseudonyms(rows["person_id"], b"benchmark").alias("pseudonym"),
        *(pl.col(name).alias(f"qi_{position}") for position, name in enumerate(quasi_identifiers)),
        pl.col(sensitive).alias("value"),
    )


def publish(people: pl.DataFrame, contract: Contract) -> Candidate:
    def draw(purpose: str) -> np.random.Generator:
        return generator(b"benchmark", contract.product, contract.series, "1", purpose)

    return STREAMLINER.release(people, contract, State.empty(), 1, draw)


def figure_1(rows: int, most_rows: int) -> None:
    """Time against the number of people."""
    once = census(rows)
    sizes = [rows // 12, rows // 4, rows]
    while sizes[-1] * 2 <= most_rows:
        sizes.append(sizes[-1] * 2)
    table = Table(title="Figure 1: seconds, l = 8; groups alone, and the whole release (best of 3)")
    headings = [f"{what}, {method}" for method in ("rda", "gda") for what in ("groups", "release")]
    for heading in ("people", *headings):
        table.add_column(heading, justify="right")
    measured = []
    for size in sizes:
        copies = pl.concat([once.head(size)] * max(1, size // rows)).with_columns(
            person_id=pl.int_range(pl.len())
        )
        people = as_people(copies, QUASI_IDENTIFIERS, "occupation")
        color = people["value"].to_numpy() - 1
        ranks = np.random.default_rng(1).permutation(len(color)).astype(np.uint64)
        weighted = (people["qi_0"] + 10_000 * people["qi_1"] + people["qi_2"] + people["qi_3"]).to_numpy()
        contracts = {method: census_contract("occupation", 8, method) for method in ("rda", "gda")}
        seconds = [
            best(lambda c=color, r=ranks: rda(c, r, 8)),
            best(lambda p=people, k=contracts["rda"]: publish(p, k)),
            best(lambda c=color, r=ranks, w=weighted: gda(c, r, w.astype(float), 8)),
            best(lambda p=people, k=contracts["gda"]: publish(p, k)),
        ]
        measured.append(seconds)
        table.add_row(f"{people.height:,}", *(f"{second:.3f}" for second in seconds))
    exponents = np.polyfit(np.log(sizes), np.log(measured), 1)[0]
    table.add_row("exponent", *(f"{exponent:.2f}" for exponent in exponents))
    CONSOLE.print(table)


def best(call: Callable[[], object], runs: int = 3) -> float:
    seconds = []
    for _ in range(runs):
        began = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def figures_2_to_7(rows: int, queries: int) -> None:
    """Discernibility against the optimum, intervals, and the error of queries, by l and method."""
    everybody = census(rows)
    table = Table(
        title="Figures 2 to 7: discernibility by the optimum, NCP, and the mean error of count queries, in %:"
        " 30 % of each domain and one value"
    )
    for heading in ("column", "l", "method", "groups", "DM", "NCP", *PREDICATES):
        table.add_column(heading, justify="right")
    for sensitive, l, method in itertools.product(("occupation", "income"), range(6, 11), ("rda", "gda")):
        people = as_people(everybody, QUASI_IDENTIFIERS, sensitive)
        contract = census_contract(sensitive, l, method)
        candidate = publish(people, contract)
        errors = query_errors(candidate, people, contract, queries)
        table.add_row(sensitive, str(l), method, *sizes_and_widths(candidate, people, contract), *errors)
    CONSOLE.print(table)


def sizes_and_widths(candidate: Candidate, people: pl.DataFrame, contract: Contract) -> list[str]:
    tables = GENERALIZATION.internal(candidate.published, contract)
    read = GENERALIZATION.read(tables, contract)
    cost = discernibility(read.sizes["size"].to_numpy())
    least = least_discernibility(people["value"].value_counts()["count"].to_numpy(), contract.principle.l)
    penalty = normalized_certainty_penalty(read.boxes, read.sizes, contract)
    return [f"{candidate.figures['groups']:,}", f"{cost / least:.4f}", f"{penalty:.3f}"]


def query_errors(candidate: Candidate, people: pl.DataFrame, contract: Contract, queries: int) -> list[str]:
    tuples = GENERALIZATION.internal(candidate.published, contract)["microdata"]
    codes = people.select("value", *encode_columns(people, contract))
    columns = {qi.name: column for column, qi in contract.attributes()}
    values = people["value"].unique().sort()
    shown = []
    for names in PREDICATES.values():
        asked = [columns[name] for name in names]
        workload = random_workload(contract, asked, values, queries, 0.3, np.random.default_rng(1))
        estimates = estimated_counts(tuples, workload, contract)
        error = workload_error(true_counts(codes, workload), estimates, people.height)
        shown.append(f"{100 * error:.1f}")
    return shown


def given_away(tables: int) -> None:
    """The exact posterior of an adversary who knows the algorithm, on every table of the same values."""
    shown = Table(title=f"Adversaries who know the algorithm: {tables} tiny tables, exact posteriors")
    for heading in ("publisher", "above 1/l", "certain", "mean of the highest posterior, times l"):
        shown.add_column(heading, justify="right")
    for name, partition in {
        "streamliner, rda": lambda color, ranks, _distances, l: rda(color, ranks, l),
        "streamliner, gda": gda_by_distance,
        "m-invariance, first release": m_invariant_groups,
        "best-first l-diverse search": lambda color, _ranks, distances, l: best_first(color, distances, l),
    }.items():
        cases = [tiny_table(seed) for seed in range(tables)]
        worst = [case[0] * highest_posterior(partition, *case) for case in cases]
        shown.add_row(
            name,
            f"{sum(one > 1 for one in worst)}",
            f"{sum(one == case[0] for one, case in zip(worst, cases, strict=True))}",
            f"{float(sum(worst)) / tables:.3f}",
        )
    CONSOLE.print(shown)


def tiny_table(seed: int) -> tuple[int, tuple[int, ...], np.ndarray]:
    """l, the values of four or five people that are l-eligible, and where the people are on a line."""
    rng = np.random.default_rng(seed)
    while True:
        l, number = int(rng.integers(2, 4)), int(rng.integers(4, 6))
        colors = tuple(sorted(rng.choice(4, number, p=[0.4, 0.3, 0.2, 0.1]).tolist()))
        if max(map(colors.count, colors)) * l <= number:
            return l, colors, rng.choice([5, 30]) * rng.random(number).round(1)


def highest_posterior(
    partition: Callable, l: int, colors: tuple[int, ...], distances: np.ndarray
) -> Fraction:
    """The highest probability of any person's value after any output of a partitioning algorithm."""
    return worst_posterior(
        lambda color, ranks: as_published(partition(color, ranks, distances, l), color),
        colors,
        orders_within_colors,
    )


def gda_by_distance(color: np.ndarray, ranks: np.ndarray, distances: np.ndarray, l: int) -> np.ndarray:
    return gda(color, ranks, distances, l)


def m_invariant_groups(color: np.ndarray, ranks: np.ndarray, distances: np.ndarray, l: int) -> np.ndarray:
    """Buckets as the first release of m-invariance fills them, each split by its perimeter rule."""
    sizes = np.bincount(color)
    shares, buckets = assign_counts(sizes, l, Signatures.none(len(sizes)))
    bucket = np.empty(len(color), np.int64)
    bucket[np.lexsort((ranks, color))] = np.repeat(
        buckets.bucket[buckets.by_values], shares[buckets.by_values]
    )
    seeds = np.zeros(len(buckets), np.uint64)
    return group_people(bucket, color, (distances / 30).reshape(-1, 1), ranks, "fast", seeds)


def best_first(color: np.ndarray, distances: np.ndarray, l: int) -> np.ndarray:
    """The partition of the least total extent among all l-diverse ones."""
    table = dict(enumerate(color.tolist()))
    ranked = []
    for partition in all_partitions(list(table)):
        if all(is_l_diverse(group, table, l) for group in partition):
            groups = sorted(sorted(group) for group in partition)
            extent = sum(np.ptp(distances[group]) * len(group) for group in groups)
            ranked.append((extent, len(groups), groups))
    group = np.empty(len(color), np.int64)
    for number, members in enumerate(min(ranked)[2]):
        group[members] = number
    return group


def adult_table() -> None:
    """Adult, occupation sensitive, l up to what its most frequent occupation allows."""
    folder = data_folder()
    if folder is None:
        CONSOLE.print(WHY_NOT)
        return
    names = ["age", *ADULT_CATEGORIES]
    people = as_people(adult(folder), names, "occupation")
    attributes = [
        {"name": "age", "kind": "number", "domain": [17, 90]},
        *(
            {"name": name, "kind": "category", "hierarchy": adult_hierarchy(folder, name)}
            for name in ADULT_CATEGORIES
        ),
    ]
    table = Table(title=f"Adult: {people.height:,} people, occupation sensitive")
    for heading in ("l", "method", "groups", "DM", "NCP", "seconds"):
        table.add_column(heading, justify="right")
    for l, method in itertools.product((4, 7), ("rda", "gda")):
        weights = {"weights": {"sex": 1000, "race": 100}} if method == "gda" else {}
        contract = contract_of(attributes, "occupation", l=l, method=method, **weights)
        measures = sizes_and_widths(publish(people, contract), people, contract)
        seconds = best(lambda k=contract: publish(people, k))
        table.add_row(str(l), method, *measures, f"{seconds:.3f}")
    CONSOLE.print(table)


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--rows", type=int, default=600_000)
    arguments.add_argument("--most-rows", type=int, default=4_800_000)
    arguments.add_argument("--queries", type=int, default=1000)
    arguments.add_argument("--tables", type=int, default=60)
    chosen = arguments.parse_args()
    publish(as_people(census(2000), QUASI_IDENTIFIERS, "occupation"), census_contract("occupation", 8, "rda"))
    given_away(chosen.tables)
    adult_table()
    figure_1(chosen.rows, chosen.most_rows)
    figures_2_to_7(chosen.rows, chosen.queries)


if __name__ == "__main__":
    main()
