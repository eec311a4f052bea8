"""The adversary who knows the algorithm.

Tiny m-invariant series of two releases and three values, and the tables that would be published so.
m-invariance doesn't claim to withstand this adversary (its Lemma 3 takes all reasonable surjections to be
equally likely). *Above 1/m* counts the tuples whose risk exceeds it by more than three standard errors of
the sampled keys.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator, Sequence

import numpy as np
import polars as pl

from benchmarks.adversaries import known_algorithm
from benchmarks.adversaries.every_key import AlgorithmAware, algorithm_aware_posterior
from benchmarks.series import released
from benchmarks.tables import Table, main
from republish.anonymize.contract import Contract
from republish.anonymize.errors import RepublishError
from republish.anonymize.formats.published import knowledge_table
from republish.anonymize.people.codes import decode

QUICK = {"series": 1, "keys": 5, "people": (4,), "policies": ("refuse",)}
VALUES = ["a", "b", "c"]


def tiny_contract(m: int, on_ineligible: str) -> Contract:
    """Three values. It may have counterfeits with m = 2, which a contract may not."""
    contract = known_algorithm.tiny_contract(m, values=VALUES)
    principle = contract.principle.model_copy(update={"on_ineligible": on_ineligible})
    return contract.model_copy(update={"principle": principle})


def snapshots(seed: int, people: int) -> list[tuple[str, pl.DataFrame]]:
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
    return [("1", everybody.head(people)), ("2", everybody.tail(people))]


class Publishing:
    """The publisher on tables of codes; stops at the first release that isn't what it made first."""

    def __init__(self, contract: Contract):
        self.contract = contract
        self.observed: list[Hashable] = []

    def __call__(self, tables: Sequence[pl.DataFrame], key: bytes) -> Hashable | None:
        """What is published of some tables under a key; None if it can be told apart from the first run."""
        named = [decode(pl.col(column), qi).alias(qi.name) for column, qi in self.contract.attributes()]
        snapshots = [
            (str(number), table.select("person", *named, disease="value"))
            for number, table in enumerate(tables, start=1)
        ]
        is_first = not self.observed
        try:
            for number, made in enumerate(released(snapshots, self.contract, key)):
                seen = tuple(tuple(part.rows()) for part in made.candidate.published.values())
                if is_first:
                    self.observed.append(seen)
                elif seen != self.observed[number]:
                    return None
        except RepublishError:
            return None
        return "as observed"


def attack(seed: int, people: int, contract: Contract, keys: int) -> AlgorithmAware | None:
    """One series, published under the first key and attacked; None if it can't be published."""
    try:
        made = list(released(snapshots(seed, people), contract, b"key 0"))
    except RepublishError:
        return None
    known = pl.concat(
        knowledge_table(one.people.rename({"identifier": "person"}), contract).with_columns(
            release=pl.lit(number, pl.Int64)
        )
        for number, one in enumerate(made, start=1)
    )
    reads = [one.read for one in made]
    return algorithm_aware_posterior(known, reads, Publishing(contract), [b"key %d" % n for n in range(keys)])


def tables(
    series: int = 8,
    keys: int = 100,
    m: int = 2,
    people: tuple[int, ...] = (4, 5),
    policies: tuple[str, ...] = ("refuse", "counterfeit"),
) -> Iterator[Table]:
    """How often and how far the bound is passed, of the first so many series that can be published."""
    rows = []
    for number, policy in itertools.product(people, policies):
        contract = tiny_contract(m, policy)
        made = (attack(seed, number, contract, keys) for seed in itertools.count())
        above, tuples, before, after = [], 0, [], []
        for found in itertools.islice(filter(None, made), series):
            risks = {row: found.risk(row) for row in found.before}
            before.append(max(float(one) for one, _ in risks.values()))
            after.append(max(float(one) for _, one in risks.values()))
            above.append(sum(risk - 3 * found.error(row) > 1 / m for row, (_, risk) in risks.items()))
            tuples += len(risks)
        above_in = f"{sum(above)} of {tuples}, in {sum(map(bool, above))} series"
        rows.append([f"{number} people, {policy}", series, above_in, max(before), max(after)])
    yield Table(
        f"m = {m}, {keys} keys", ("", "series", "tuples above 1/m", "highest before", "highest after"), rows
    )


if __name__ == "__main__":
    main(tables)
