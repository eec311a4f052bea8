"""Guessing the combination of somebody who comes later.

With several sensitive columns a combination is rare, so that many places of people who left have
counterfeits, and who fills a place says more. An adversary knows everybody's group, how frequent each
combination is in the population, and other simulated series of the same kind with all their values: from
these, a model learns which of the candidates of a person is likeliest. Rows of sensitive values were
shuffled, so that quasi-identifiers say nothing of them. "Surest" are the twentieth of the people of whose
value the model is most certain. A guess by chance is right once in m times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from benchmarks.adversaries.learned import guess, scores, train
from benchmarks.census import QUASI_IDENTIFIERS, census, census_contract
from benchmarks.series import contract_of, dynamic_series, released
from benchmarks.tables import Table, main

QUICK = {"people": 200, "releases": 2, "m": (3,), "trained": 1, "attacked": 1}
COLUMNS = ("occupation", "income")
SUREST = 20
"""One of so many people belongs to the surest."""
CLUES = [
    *("frequency", "share", "rank", "groups", "counterfeits", "came", "left", "groups_before"),
    *("counterfeits_before", "buckets", "groups_with", "expected", "counterfeits_with", "beside"),
]


def tables(
    people: int = 10_000,
    releases: int = 6,
    m: tuple[int, ...] = (3, 5, 10),
    trained: int = 4,
    attacked: int = 2,
) -> Iterator[Table]:
    """How often the model is right, of people of the first release and of those who came later."""
    everybody = census().select("person_id", *QUASI_IDENTIFIERS, *COLUMNS)
    rows: list[Sequence[Any]] = []
    for columns in (COLUMNS, COLUMNS[:1]):
        for number in m:
            made = [
                _attacked(everybody, columns, number, people, releases, seed)
                for seed in range(trained + attacked)
            ]
            for later in (False, True):
                found = [one.filter(later=later) for one in made]
                rows.append(_row(columns, number, later, found[:trained], found[trained:]))
    headings = ("sensitive", "m", "people who came", "guesses", "right", "of the surest", "by chance")
    title = f"{people:,} people, a tenth of them replaced before each of {releases - 1} further releases"
    yield Table(title, headings, rows)


def _row(
    columns: Sequence[str], m: int, later: bool, known: list[pl.DataFrame], others: list[pl.DataFrame]
) -> Sequence[Any]:
    truth = [pl.concat(some).select("series", "person", value="true").unique() for some in (known, others)]
    learned, found = pl.concat(known), pl.concat(others)
    names = [name for name in CLUES if learned[name].n_unique() > 1]
    score = scores(train(learned, truth[0], names), found, names)
    right = guess(found, truth[1], score)
    best = found.with_columns(score=score).group_by("series", "person", maintain_order=True)
    surest = best.agg(
        pl.col("score").max(), (pl.col("value") == pl.col("true")).get(pl.col("score").arg_max()).alias("hit")
    ).sort("score", descending=True)
    of_these = surest[: max(1, surest.height // SUREST)]["hit"].cast(pl.Float64).mean()
    came = "later" if later else "in the first release"
    figures = (f"{share:.4f}" for share in (right.right, of_these, right.chance))
    return [" and ".join(columns), m, came, right.people, *figures]


def _attacked(
    everybody: pl.DataFrame, columns: Sequence[str], m: int, people: int, releases: int, seed: int
) -> pl.DataFrame:
    """`series`, `person`, `value`, `true`, `later` and the clues: a row per candidate of whoever is new."""
    drawn = everybody.sample(people + people // 10 * (releases - 1), seed=seed, shuffle=True)
    shuffled = drawn.select("person_id", *QUASI_IDENTIFIERS).with_columns(
        drawn.select(columns).sample(fraction=1, shuffle=True, seed=seed + 1)
    )
    value = pl.concat_str(columns, separator="/")
    frequency = everybody.select(value=value)["value"].value_counts(normalize=True, name="frequency")
    true = shuffled.select(person="person_id", true=value)
    sensitive = [{"name": name, "values": sorted(everybody[name].unique())} for name in columns]
    declared = census_contract() | {"sensitive": sensitive if len(columns) > 1 else sensitive[0]}
    change = {"on_value_change": "refuse", "on_ineligible": "wait", "effort": "fast"}
    contract = contract_of(declared, name="m_invariance", m=m, **change)
    found, seen, before = [], pl.DataFrame(schema={"person": pl.Int64}), None
    snapshots = dynamic_series(shuffled, people, people // 10, releases, seed)
    for number, one in enumerate(released(snapshots, contract, b"key %d" % seed)):
        table = one.candidate.published["microdata"].select("group_id", value=value)
        beside = one.candidate.published["counterfeits"].select("group_id", beside="count")
        group = table.group_by("group_id").agg(signature=pl.col("value").sort().str.join(" "))
        group = group.join(beside, on="group_id", how="left").with_columns(pl.col("beside").fill_null(0))
        hosts = one.linkage.join(group, on="group_id")
        now = hosts.with_columns(new=~pl.col("person").is_in(seen["person"].implode()))
        bucket = group.group_by("signature").agg(groups=pl.len(), counterfeits=pl.col("beside").sum())
        bucket = bucket.join(
            now.group_by("signature").agg(here=pl.len(), came=pl.col("new").sum()), on="signature"
        )
        earlier = bucket.clear() if before is None else before
        bucket = bucket.join(earlier, on="signature", how="left", suffix="_before").with_columns(
            left=pl.col("here_before").fill_null(0) + pl.col("came") - pl.col("here")
        )
        before = bucket.select(earlier.columns)
        candidate = bucket.with_columns(value=pl.col("signature").str.split(" ")).explode("value")
        size = pl.len().over("signature")
        of_value = candidate.group_by("value").agg(
            buckets=pl.len(),
            groups_with=pl.col("groups").sum(),
            counterfeits_with=pl.col("counterfeits").sum(),
        )
        candidate = candidate.join(frequency, on="value").join(of_value, on="value")
        candidate = candidate.with_columns(
            share=pl.col("frequency") / pl.col("frequency").sum().over("signature"),
            rank=pl.col("frequency").rank().over("signature") / size,
            expected=pl.col("groups_with") / (hosts.height * pl.col("frequency")),
        )
        new = now.filter("new").join(true, on="person").join(candidate, on="signature")
        found.append(new.with_columns(series=seed, later=pl.lit(number > 0)))
        seen = pl.concat([seen, now.filter("new").select("person")])
    return pl.concat(found).select(
        "series", "person", "value", "true", "later", pl.col(CLUES).cast(pl.Float64)
    )


if __name__ == "__main__":
    main(tables)
