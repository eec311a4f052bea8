"""Having learned from simulated series.

An adversary has seen other series of made-up people with all their values, and knows how frequent values
are in the population. Values are shuffled, so that quasi-identifiers say nothing: what is guessed beyond
chance is the algorithm's doing. The model has 28 numbers for each person and candidate value
(`benchmarks/adversaries/clues.py`), and learns from 6,000 people of each series.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from benchmarks.adversaries.arrivals import VALUE, shares, shuffled_contract
from benchmarks.adversaries.clues import clue_names, clues
from benchmarks.adversaries.learned import guess, scores, train
from benchmarks.census import DOMAINS, QUASI_IDENTIFIERS, census
from benchmarks.series import dynamic_series, released
from benchmarks.tables import Table, main
from republish.anonymize.contract import Contract

QUICK = {"people": 200, "r": 20, "releases": 2, "m": 4, "trained": 1, "attacked": 1}
LEARNED_FROM = 6_000
"""People of each series for training that the adversary learns from."""


def attacked_series(
    table: pl.DataFrame, seed: int, live: int, r: int, releases: int, contract: Contract
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The clues of one simulated series of a census with shuffled values, and the truth.

    Returns
    -------
    tuple[polars.DataFrame, polars.DataFrame]
        `series`, `person`, `value` and the clues, for everybody in the last release and each candidate value;
        and `series`, `person`, `value`.
    """
    everybody = table.sample(live + r * (releases - 1), seed=seed, shuffle=True)
    everybody = everybody.with_columns(pl.col(VALUE).shuffle(seed=seed))
    snapshots = dynamic_series(everybody, live, r, releases, seed)
    hosts, groups = [], []
    for number, made in enumerate(released(snapshots, contract, b"key %d" % seed), start=1):
        release = pl.lit(number, pl.Int64).alias("release")
        hosts.append(made.linkage.select(release, "person", "group_id"))
        published = made.candidate.published
        counted = published["counterfeits"].select("group_id", counterfeits="count")
        tuples = published["microdata"].select(release, "group_id", value=VALUE)
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


def tables(
    people: int = 20_000,
    r: int = 2_000,
    releases: int = 4,
    m: int = 10,
    trained: int = 10,
    attacked: int = 10,
    adversary: str = "paper",
) -> Iterator[Table]:
    """Train on some series and guess at others: by the model, and by the fitted frequencies alone."""
    contract, table = shuffled_contract(m, adversary), census().select("person_id", *QUASI_IDENTIFIERS, VALUE)
    made = [attacked_series(table, seed, people, r, releases, contract) for seed in range(trained + attacked)]
    truth, names = pl.concat(values for _, values in made), clue_names(made[0][0])
    learned_from, rng = [], np.random.default_rng(1)
    for found, _ in made[:trained]:
        persons = found["person"].unique().sort().to_numpy()
        kept = pl.Series(rng.choice(persons, min(LEARNED_FROM, len(persons)), replace=False))
        learned_from.append(found.filter(pl.col("person").is_in(kept.implode())))
    model = train(pl.concat(learned_from), truth, names)
    # Rows in random order: a tie is broken by chance.
    found = pl.concat(found for found, _ in made[trained:]).sample(fraction=1, shuffle=True, seed=2)
    by = {
        "what was learned": scores(model, found, names),
        "the population's frequencies alone": found["fitted"].to_numpy(),
    }
    rows = []
    for came, which in {"in the first release": found["first"] == 1, "later": found["first"] > 1}.items():
        for how, score in by.items() if which.any() else ():
            one = guess(found.filter(which), truth, score[which.to_numpy()])
            rows.append(
                [came, how, one.people, f"{one.right:.4f}", f"{one.chance:.4f}", f"{one.excess:+.1f}"]
            )
    yield Table(
        f"{attacked} series of {releases} releases, {people:,} people, r = {r:,}, m = {m};"
        f" learned from {trained}; adversary: {adversary}",
        ("people who came", "guessed by", "guesses", "right", "by chance", "standard errors above"),
        rows,
    )


if __name__ == "__main__":
    main(tables)
