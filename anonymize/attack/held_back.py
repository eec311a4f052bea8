"""Are people held back for the value they have? An attack on those who are missing from a release.

An adversary who knows who was in the table, and sees who is not in the release, asks why. If people were held
back because too little of their budget remains for the very value they have now, the value that they were
linked to most would be theirs more often than among people who are placed and were linked to it as much.
"""

from __future__ import annotations

import math

import polars as pl


def suspects(breach: pl.DataFrame) -> pl.DataFrame:
    """`person`, `suspected`: the value that each person was linked to with the largest probability so far.

    Parameters
    ----------
    breach
        `person`, `value`, `breach`, as `breach_probability` leaves it for the releases before.
    """
    worst = breach.sort("person", "breach", "value", descending=[False, True, False])
    return worst.unique("person", keep="first", maintain_order=True).select("person", suspected="value")


def held_back_for_their_value(people: pl.DataFrame, suspected: pl.DataFrame) -> dict[str, float]:
    """Whether people who are held back have the suspected value more often than people who are placed.

    Everybody is compared with people of whom the same value is suspected: one table of two by two for each
    value, as Cochran, Mantel and Haenszel add them up.

    Parameters
    ----------
    people
        T(n): `person`, `value` (the truth), `is_held_back`.
    suspected
        What `suspects` returned. People of whom nothing is suspected are left out.

    Returns
    -------
    dict
        `held_back`: how many were compared; `hits`: how many of them have the suspected value; `expected`:
        how
        many should, if held back or not made no difference; `p`: the probability of at least so many hits by
        chance.
    """
    hit = pl.col("value") == pl.col("suspected")
    strata = (
        people.join(suspected, on="person")
        .group_by("suspected")
        .agg(
            n=pl.len().cast(pl.Float64),
            held_back=pl.col("is_held_back").sum().cast(pl.Float64),
            hits=hit.sum().cast(pl.Float64),
            both=(hit & pl.col("is_held_back")).sum().cast(pl.Float64),
        )
        .filter(pl.col("n") > 1)
    )
    n, held, hits = pl.col("n"), pl.col("held_back"), pl.col("hits")
    sums = strata.select(
        held_back=held.sum(),
        hits=pl.col("both").sum(),
        expected=(held * hits / n).sum(),
        variance=(held * hits * (n - held) * (n - hits) / (n * n * (n - 1))).sum(),
    ).row(0, named=True)
    variance = sums.pop("variance")
    z = (sums["hits"] - sums["expected"] - 0.5) / math.sqrt(variance) if variance > 0 else 0.0
    return {**sums, "p": 0.5 * math.erfc(z / math.sqrt(2)) if variance > 0 else 1.0}
