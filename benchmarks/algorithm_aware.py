"""How much knowing the algorithm adds: tiny m-invariant series, and the tables that would be published so.

m-invariance doesn't claim to withstand this adversary (its Lemma 3 takes all reasonable surjections to be
equally likely). For each series: the possible tables, those that are published like this under some key,
and the highest risk before and after weighing them. Above 1/m counts only what exceeds it by 3 standard
errors of the sampled keys.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Hashable, Sequence

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from anonymize.contract import Contract
from anonymize.errors import RepublishError
from anonymize.formats import GENERALIZATION
from anonymize.formats.published import knowledge_table
from anonymize.m_invariance.release import release
from anonymize.people.codes import decode
from anonymize.people.randomness import generator
from anonymize.principle.state import State
from anonymize.principles import parse_contract
from benchmarks.adversaries.algorithm_aware import AlgorithmAware, algorithm_aware_posterior
from orchestration.snapshots.sources import enter

VALUES = ["a", "b", "c"]


def tiny_contract(m: int, on_ineligible: str = "counterfeit") -> Contract:
    """Two quasi-identifiers, three values. It may have counterfeits with m = 2, which a contract may not."""
    contract = parse_contract(
        {
            "product": "tiny",
            "series": "v1",
            "source": {"path": "{release}.parquet"},
            "releases": {"first": "2024-01-01", "cron": "0 0 1 1 *"},
            "identifier": "person",
            "quasi_identifiers": [
                {"name": "age", "kind": "number", "domain": [0, 99]},
                {"name": "town", "kind": "number", "domain": [0, 9]},
            ],
            "sensitive": {"name": "disease", "values": VALUES},
            "principle": {"name": "m_invariance", "m": m},
        }
    )
    principle = contract.principle.model_copy(update={"on_ineligible": on_ineligible})
    return contract.model_copy(update={"principle": principle})


def snapshots(seed: int, people: int) -> list[pl.DataFrame]:
    """Two releases; two people leave and two others come."""
    random = np.random.default_rng(seed)
    everybody = pl.DataFrame(
        {
            "person": [f"p{n}" for n in range(people + 2)],
            "age": random.integers(20, 90, people + 2),
            "town": random.integers(0, 10, people + 2),
            "disease": random.choice(VALUES, people + 2, p=[0.5, 0.3, 0.2]),
        }
    )
    return [everybody.head(people), everybody.tail(people)]


class Publishing:
    """The publisher on tables of codes; stops at the first release that isn't what it made first."""

    def __init__(self, contract: Contract):
        self.contract = contract
        self.observed: list[Hashable] = []

    def __call__(self, tables: Sequence[pl.DataFrame], key: bytes) -> Hashable | None:
        """What is published of some tables under a key; None if it can be told apart from the first run."""
        state, is_first = State.empty(), not self.observed
        for number, table in enumerate(tables, start=1):
            try:
                candidate = release(self._named(table), self.contract, state, number, _draw(key, number))
            except RepublishError:
                return None
            state = candidate.state
            seen = tuple(tuple(part.rows()) for part in candidate.published.values())
            if is_first:
                self.observed.append(seen)
            elif seen != self.observed[number - 1]:
                return None
        return "as observed"

    def _named(self, table: pl.DataFrame) -> pl.DataFrame:
        return table.select(
            "value",
            pl.col("person").cast(pl.Binary).alias("pseudonym"),
            *(decode(pl.col(column), qi).alias(column) for column, qi in self.contract.attributes()),
        )


def _draw(key: bytes, number: int):
    return lambda purpose: generator(key, "tiny", "v1", str(number), purpose)


def attack(seed: int, people: int, contract: Contract, keys: int) -> AlgorithmAware | None:
    """One series, published under the first key and attacked; None if it can't be published."""
    tables, state, read = [], State.empty(), []
    for snapshot in snapshots(seed, people):
        entered = enter(snapshot, contract)
        tables.append(entered.rename({"identifier": "person"}))
    for number, table in enumerate(tables, start=1):
        named = table.with_columns(pl.col("person").cast(pl.Binary).alias("pseudonym"))
        try:
            candidate = release(named.drop("person"), contract, state, number, _draw(_key(0), number))
        except RepublishError:
            return None
        state = candidate.state
        read.append(GENERALIZATION.read(GENERALIZATION.internal(candidate.published, contract), contract))
    known = pl.concat(
        knowledge_table(table, contract).with_columns(release=pl.lit(n, pl.Int64))
        for n, table in enumerate(tables, start=1)
    )
    return algorithm_aware_posterior(known, read, Publishing(contract), [_key(n) for n in range(keys)])


def _key(number: int) -> bytes:
    return b"key %d" % number


def main() -> None:
    """Print a row per series, and how often and how far the bound is passed."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--series", type=int, default=12)
    arguments.add_argument("--people", type=int, default=5)
    arguments.add_argument("--keys", type=int, default=200)
    arguments.add_argument("--m", type=int, default=2)
    arguments.add_argument("--on-ineligible", default="refuse", choices=["refuse", "counterfeit", "defer"])
    chosen = arguments.parse_args()
    table = Table(title=f"m = {chosen.m}, on_ineligible: {chosen.on_ineligible}, {chosen.keys} keys")
    for heading in (
        "series",
        "possible tables",
        "published so",
        "risk before",
        "after",
        "error",
        "above 1/m",
    ):
        table.add_column(heading, justify="right")
    above = rows = passed = 0
    contract = tiny_contract(chosen.m, chosen.on_ineligible)
    made = ((seed, attack(seed, chosen.people, contract, chosen.keys)) for seed in itertools.count())
    for seed, found in itertools.islice(((n, one) for n, one in made if one), chosen.series):
        worst = max(found.before, key=lambda row: found.risk(row)[1])
        before = max(found.risk(row)[0] for row in found.before)
        over = [row for row in found.before if found.risk(row)[1] - 3 * found.error(row) > 1 / chosen.m]
        above, rows, passed = above + len(over), rows + len(found.before), passed + bool(over)
        table.add_row(
            str(seed),
            f"{len(found.hits)}",
            f"{found.reproducing}",
            f"{float(before):.3f}",
            f"{float(found.risk(worst)[1]):.3f}",
            f"{found.error(worst):.3f}",
            f"{len(over)} of {len(found.before)}",
        )
    Console(width=110).print(table)
    Console(width=110).print(f"{above} of {rows} tuples, in {passed} series, are above 1/m.")


if __name__ == "__main__":
    main()
