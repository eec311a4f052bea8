"""What an adversary guesses of people who come later, who knows how frequent each value is among them.

python -m benchmarks.arrivals [--people 20000] [--r 2000] [--releases 4] [--m 10] [--series 10]

The sensitive values are shuffled first, so that quasi-identifiers say nothing of them. What is guessed beyond
chance is due to the algorithm: to how many of the arriving people it puts into the groups of each signature.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from math import sqrt

import polars as pl
from rich.console import Console
from rich.progress import track
from rich.table import Table

from anonymize.columns import IDENTIFIER, PSEUDONYM
from anonymize.contract import Contract
from anonymize.principles import parse_contract
from benchmarks.adversaries.clues import regions
from benchmarks.adversaries.frequencies import arrival_posteriors, guess_arrivals
from benchmarks.census import QUASI_IDENTIFIERS, census, census_contract
from benchmarks.dynamic import dynamic_series, monthly
from benchmarks.series import released

VALUE = "occupation"
ATTACKS = {
    "population": "how frequent values are in the population",
    "batch": "how frequent values are among those who came",
    "region": "the same, of those who live in the same eighth",
}
"""What the adversary knows of values, beside what is published."""
CUTS = 3
"""The adversary divides people into 2 ** CUTS regions by their quasi-identifiers."""


def shuffled_contract(m: int) -> Contract:
    """The census with its occupations."""
    declared = census_contract(m, VALUE) | {"source": {"path": "{release}.parquet"}}
    declared["principle"] = {**declared["principle"], "on_ineligible": "counterfeit"}
    return parse_contract(declared)


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
    series = dynamic_series(everybody, live, r, monthly(2020, releases), seed)
    for present, made in released(series, contract, b"key %d" % seed):
        held = made.published["microdata"].group_by("group_id").agg(candidates=pl.col(VALUE).sort())
        table = present.with_columns(region=home_regions(present))
        new = table.filter(~pl.col(IDENTIFIER).is_in(seen.implode()))
        seen = pl.concat([seen, new[IDENTIFIER]])
        hosted = new.join(made.linkage, on=PSEUDONYM).join(held, on="group_id")
        yield hosted.select("candidates", "value", "region")


def home_regions(people: pl.DataFrame) -> pl.Series:
    """The region of each person, whose quasi-identifiers `qi_0`, … are numbers."""
    qi = pl.col("^qi_.*$")
    shares = people.select((qi - qi.min()) / (qi.max() - qi.min())).to_numpy()
    return pl.Series("region", regions(shares, CUTS))


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


def main() -> None:
    """Print how often adversaries guess right, of people of the first release and of later ones."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--people", type=int, default=20_000)
    arguments.add_argument("--r", type=int, default=2_000)
    arguments.add_argument("--releases", type=int, default=4)
    arguments.add_argument("--m", type=int, default=10)
    arguments.add_argument("--series", type=int, default=10)
    chosen = arguments.parse_args()
    contract = shuffled_contract(chosen.m)
    people = census().select("person_id", *QUASI_IDENTIFIERS, VALUE)
    population, found = shares(people[VALUE]), []
    for seed in track(range(chosen.series), "series", console=Console(stderr=True)):
        series = arrivals(people, contract, chosen.people, chosen.r, chosen.releases, seed)
        for number, new in enumerate(series, start=1):
            found += [(number > 1, knows, new.height, *guesses(new, knows, population)) for knows in ATTACKS]
    counted = pl.DataFrame(found, ["later", "knows", "people", "right", "chance"], orient="row")
    table = Table(
        title=f"{chosen.series} series of {chosen.releases} releases, {chosen.people:,} people, r ="
        f" {chosen.r:,}, m = {chosen.m}"
    )
    for heading in (
        "people who came",
        "the adversary knows",
        "guesses",
        "right",
        "by chance",
        "errors above",
    ):
        table.add_column(heading, justify="right")
    totals = counted.group_by("later", "knows").sum().sort("later", "knows", descending=[False, True])
    for later, knows, number, right, chance in totals.iter_rows():
        error = sqrt(chance / number * (1 - chance / number) / number)
        table.add_row(
            "later" if later else "in the first release",
            ATTACKS[knows],
            f"{number:,}",
            f"{right / number:.4f}",
            f"{chance / number:.4f}",
            f"{(right - chance) / number / error:+.1f}",
        )
    Console(width=130).print(table)


if __name__ == "__main__":
    main()
