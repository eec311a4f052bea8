"""What an adversary guesses who learned from simulated series: one value in m, if nothing is given away.

python -m benchmarks.learned_attack [--people 20000] [--r 2000] [--releases 4] [--m 10] [--train 10]
    [--test 10]

The sensitive values are shuffled first, so that quasi-identifiers say nothing of them. What is guessed beyond
chance is the algorithm's doing. The adversary knows how frequent values are in the population, and has seen
other series with all their values.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable

import numpy as np
import polars as pl
from rich.console import Console
from rich.progress import track
from rich.table import Table

from anonymize.columns import IDENTIFIER, PSEUDONYM
from anonymize.contract import Contract
from anonymize.m_invariance.principle import M_INVARIANCE
from benchmarks.adversaries.clues import OF_CANDIDATE, OF_PERSON, clue_names, clues
from benchmarks.adversaries.learned import Guesses, guess, scores, train
from benchmarks.arrivals import VALUE, shares, shuffled_contract
from benchmarks.census import DOMAINS, QUASI_IDENTIFIERS, census
from benchmarks.dynamic import dynamic_series, monthly
from benchmarks.series import released

LEARNED_FROM = 6_000
"""People of each series for training that the adversary learns from."""


def attacked_series(
    table: pl.DataFrame, seed: int, live: int, r: int, releases: int, contract: Contract
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The clues of one simulated series, and the truth.

    Parameters
    ----------
    table
        The census; its values are shuffled here.
    live, r, releases, seed
        As `dynamic_series` has them.
    contract
        The census's.

    Returns
    -------
    tuple[polars.DataFrame, polars.DataFrame]
        `series`, `person`, `value` and the clues, for everybody in the last release and each candidate value;
        and `series`, `person`, `value`.
    """
    everybody = table.sample(live + r * (releases - 1), seed=seed, shuffle=True)
    everybody = everybody.with_columns(pl.col(VALUE).shuffle(seed=seed))
    snapshots = dynamic_series(everybody, live, r, monthly(2020, releases), seed)
    hosts, groups = [], []
    for number, (people, made) in enumerate(released(snapshots, contract, b"key %d" % seed), start=1):
        release = pl.lit(number, pl.Int64).alias("release")
        hosted = made.linkage.join(people.select(PSEUDONYM, person=IDENTIFIER), on=PSEUDONYM)
        hosts.append(hosted.select(release, "person", "group_id"))
        counted = made.published["counterfeits"].select("group_id", counterfeits="count")
        tuples = made.published["microdata"].select(release, "group_id", value=VALUE)
        tuples = tuples.join(counted, on="group_id", how="left")
        groups.append(tuples.with_columns(pl.col("counterfeits").fill_null(0)))
    known = everybody.select(
        pl.col("person_id").alias("person"),
        *(
            ((pl.col(name) - DOMAINS[name][0]) / (DOMAINS[name][1] - DOMAINS[name][0])).alias(f"qi_{i}")
            for i, name in enumerate(QUASI_IDENTIFIERS)
        ),
    )
    found = clues(known, pl.concat(hosts), pl.concat(groups), shares(table[VALUE]))
    truth = everybody.select(person="person_id", value=VALUE)
    series = pl.lit(seed, pl.Int64).alias("series")
    return found.select(series, pl.all()), truth.select(series, pl.all())


def attack(chosen: argparse.Namespace) -> dict[str, dict[str, Guesses]]:
    """Train on some series and guess at others: by the model, and by the fitted frequencies alone."""
    contract = shuffled_contract(chosen.m)
    table = census().select("person_id", *QUASI_IDENTIFIERS, VALUE)
    learned_from, tested, truths = [], [], []
    rng = np.random.default_rng(1)
    for seed in track(range(chosen.train + chosen.test), "series", console=Console(stderr=True)):
        found, truth = attacked_series(table, seed, chosen.people, chosen.r, chosen.releases, contract)
        truths.append(truth)
        if seed >= chosen.train:
            tested.append(found)
            continue
        persons = found["person"].unique().sort().to_numpy()
        kept = pl.Series(rng.choice(persons, min(LEARNED_FROM, len(persons)), replace=False))
        learned_from.append(found.filter(pl.col("person").is_in(kept.implode())))
    truth, names = pl.concat(truths), clue_names(found)
    model = train(pl.concat(learned_from), truth, names)
    # Rows in random order: a tie is broken by chance.
    found = pl.concat(tested).sample(fraction=1, shuffle=True, seed=2)
    scored = {"learned": scores(model, found, names), "fitted": found["fitted"].to_numpy()}
    return {
        who: {by: guess(found.filter(which), truth, score[which.to_numpy()]) for by, score in scored.items()}
        for who, which in {
            "in the first release": found["first"] == 1,
            "later": found["first"] > 1,
        }.items()
        if which.any()
    }


def rows(results: dict[str, dict[str, Guesses]]) -> Iterable[list[str]]:
    """The rows of the table: who came, guessed how, guesses, right, chance, standard errors above."""
    words = {"learned": "by what was learned", "fitted": "by the population's frequencies alone"}
    for who, by in results.items():
        for how, found in by.items():
            yield [
                who,
                words[how],
                f"{found.people:,}",
                f"{found.right:.4f}",
                f"{found.chance:.4f}",
                f"{found.excess:+.1f}",
            ]


def main() -> None:
    """Print how often the trained adversary guesses right, and how often chance would."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--people", type=int, default=20_000)
    arguments.add_argument("--r", type=int, default=2_000)
    arguments.add_argument("--releases", type=int, default=4)
    arguments.add_argument("--m", type=int, default=10)
    arguments.add_argument("--train", type=int, default=10, help="series that the adversary learns from")
    arguments.add_argument("--test", type=int, default=10, help="series that are attacked")
    chosen = arguments.parse_args()
    results = attack(chosen)
    table = Table(
        title=f"{chosen.test} series of {chosen.releases} releases, {chosen.people:,} people,"
        f" r = {chosen.r:,}, m = {chosen.m}, algorithm version {M_INVARIANCE.version}",
        caption=f"learned from {chosen.train} other series, from"
        f" {len(QUASI_IDENTIFIERS) + len(OF_PERSON) + len(OF_CANDIDATE)} clues of each candidate value",
    )
    for heading in ("people who came", "guessed", "guesses", "right", "by chance", "errors above"):
        table.add_column(heading, justify="right")
    for row in rows(results):
        table.add_row(*row)
    Console(width=130).print(table)


if __name__ == "__main__":
    main()
