"""Knowing how frequent values are.

What an adversary guesses of people, who knows how frequent each value is among them. The people of a census
have values that were shuffled, so that quasi-identifiers say nothing of them: what is guessed beyond chance
is due to how many of the arriving people come into the groups of each signature. An eighth is one of eight
regions by quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

import polars as pl

from benchmarks.adversaries.clues import regions
from benchmarks.adversaries.frequencies import arrival_posteriors, guess_arrivals
from benchmarks.census import QUASI_IDENTIFIERS, census, census_contract
from benchmarks.series import contract_of, dynamic_series, released
from benchmarks.tables import Table, main
from republish.anonymize.columns import IDENTIFIER, PSEUDONYM
from republish.anonymize.contract import Contract

QUICK = {"people": 500, "r": 50, "releases": 2, "m": 4, "series": 1}
VALUE = "occupation"
ATTACKS = {
    "population": "how frequent values are in the population",
    "batch": "how frequent values are among those who came",
    "region": "the same, of those who live in the same eighth",
}
"""What the adversary knows of values, beside what is published."""
CUTS = 3
"""The adversary divides people into 2 ** CUTS regions by their quasi-identifiers."""


def shuffled_contract(m: int, adversary: str = "paper") -> Contract:
    """The census with its occupations."""
    policy = {"on_ineligible": "counterfeit", "people_per_group": 2} if adversary == "paper" else {}
    principle = {"name": "m_invariance", "m": m, "adversary": adversary, **policy}
    return contract_of(census_contract(m, VALUE), **principle)


def arrivals(
    people: pl.DataFrame, contract: Contract, live: int, r: int, releases: int, seed: int
) -> Iterator[pl.DataFrame]:
    """Release by release, `candidates`, `value`, `region` of those who are published for the first time.

    Parameters
    ----------
    people
        The census; its values are shuffled here.
    contract
        Its contract.
    live, r, releases, seed
        As `dynamic_series` has them.
    """
    everybody = people.sample(live + r * (releases - 1), seed=seed).with_columns(
        pl.col(VALUE).shuffle(seed=seed)
    )
    seen = pl.Series(IDENTIFIER, [], pl.Int64)
    for made in released(dynamic_series(everybody, live, r, releases, seed), contract, b"key %d" % seed):
        held = made.candidate.published["microdata"].group_by("group_id").agg(candidates=pl.col(VALUE).sort())
        qi = pl.col("^qi_.*$")
        shares = made.people.select((qi - qi.min()) / (qi.max() - qi.min())).to_numpy()
        new = made.people.with_columns(region=pl.Series(regions(shares, CUTS))).filter(
            ~pl.col(IDENTIFIER).is_in(seen.implode())
        )
        seen = pl.concat([seen, new[IDENTIFIER]])
        hosted = new.join(made.candidate.linkage, on=PSEUDONYM).join(held, on="group_id")
        yield hosted.select("candidates", "value", "region")


def guesses(new: pl.DataFrame, knows: str, population: pl.DataFrame) -> tuple[float, float]:
    """How many of those who came are guessed right by an adversary of `ATTACKS`, and how many by chance."""
    known = population if knows == "population" else shares(new["value"])
    right = chance = 0.0
    for part in new.partition_by("region") if knows == "region" else [new]:
        found = guess_arrivals(part, arrival_posteriors(part, known))
        right, chance = right + found[0] * part.height, chance + found[1] * part.height
    return right, chance


def shares(values: pl.Series) -> pl.DataFrame:
    """`value`, `share`: how frequent each value is."""
    return values.alias("value").value_counts(normalize=True).rename({"proportion": "share"})


def tables(
    people: int = 20_000,
    r: int = 2_000,
    releases: int = 4,
    m: int = 10,
    series: int = 10,
    adversary: str = "paper",
) -> Iterator[Table]:
    """How often adversaries guess right, of people of the first release and of later ones."""
    contract, everybody = (
        shuffled_contract(m, adversary),
        census().select("person_id", *QUASI_IDENTIFIERS, VALUE),
    )
    population, found = shares(everybody[VALUE]), []
    for seed in range(series):
        for number, new in enumerate(arrivals(everybody, contract, people, r, releases, seed), start=1):
            came = "in the first release" if number == 1 else "later"
            found += [(came, ATTACKS[one], new.height, *guesses(new, one, population)) for one in ATTACKS]
    counted = pl.DataFrame(found, ["came", "knows", "people", "right", "chance"], orient="row")
    rows = []
    for *words, number, right, chance in (
        counted.group_by("came", "knows", maintain_order=True).sum().sort("came").iter_rows()
    ):
        error = sqrt(chance / number * (1 - chance / number) / number)
        above = (right - chance) / number / error
        rows.append([*words, number, f"{right / number:.4f}", f"{chance / number:.4f}", f"{above:+.1f}"])
    yield Table(
        f"{series} series of {releases} releases, {people:,} people, r = {r:,}, m = {m};"
        f" adversary: {adversary}",
        ("people who came", "the adversary knows", "guesses", "right", "by chance", "standard errors above"),
        rows,
    )


if __name__ == "__main__":
    main(tables)
