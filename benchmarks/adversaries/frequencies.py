"""The adversary who knows how frequent each value is among arriving people, and counts who arrived where.

m-invariance treats the values of a signature alike. But how many people arrive in the groups of each
signature can be seen, and says how often each value would have to be theirs if all candidates were equally
likely. A value that would then be more frequent than it is among such people is less likely than the others
for everybody who arrived, and the reverse.
"""

from __future__ import annotations

import numpy as np
import polars as pl

ROUNDS = 200
"""So often the candidates' weights are fitted to the frequencies: far more often than it takes."""


def arrival_posteriors(arrivals: pl.DataFrame, frequencies: pl.DataFrame) -> pl.DataFrame:
    """How likely each candidate value is, for somebody who arrived in a release.

    Every value has a weight, a person's candidates are as likely as their weights, and the weights are such
    that all values are as frequent among the arrivals as they are known to be (iterative proportional
    fitting, which is the assignment of maximal entropy). A first release has no such people unless values
    are repeated: its groups alone make every value as frequent as it is.

    Parameters
    ----------
    arrivals
        `candidates` (list, sorted) of everybody who arrived, one row per person.
    frequencies
        `value`, `share`: of the people who arrive, before anything is published.

    Returns
    -------
    polars.DataFrame
        `candidates`, `value`, `probability`: for each list of candidates, each of them.
    """
    lists = arrivals.group_by("candidates").len("people").sort("candidates").with_row_index("list")
    pairs = lists.explode("candidates", empty_as_null=False).rename({"candidates": "value"})
    pairs = pairs.join(frequencies, on="value", how="left", maintain_order="left").with_columns(
        pl.col("share").fill_null(0.0), code=pl.col("value").rank("dense").cast(pl.Int64) - 1
    )
    row, code = pairs["list"].to_numpy(), pairs["code"].to_numpy()
    people, share = pairs["people"].to_numpy(), pairs["share"].to_numpy()
    values = int(code.max(initial=-1)) + 1
    expected = np.zeros(values)
    expected[code] = share
    expected *= arrivals.height / max(expected.sum(), 1e-300)
    weight = np.ones(values)
    for _ in range(ROUNDS):
        likely = weight[code] / np.bincount(row, weight[code])[row]
        fitted = np.bincount(code, people * likely, values)
        weight *= np.divide(expected, fitted, out=np.zeros(values), where=fitted > 0)
    likely = weight[code] / np.bincount(row, weight[code])[row]
    return (
        lists.select("list", "candidates")
        .join(
            pairs.select("list", "value", pl.Series("probability", likely)), on="list", maintain_order="left"
        )
        .drop("list")
    )


def guess_arrivals(people: pl.DataFrame, posteriors: pl.DataFrame) -> tuple[float, float]:
    """The share of right guesses at the likeliest candidate, and by chance.

    Parameters
    ----------
    people
        `candidates` (list, sorted) and the true `value` of everybody who arrived.
    posteriors
        Of `arrival_posteriors`.
    """
    likeliest = posteriors.group_by("candidates").agg(guess=pl.col("value").sort_by("probability").last())
    guessed = people.join(likeliest, on="candidates").select(
        (pl.col("guess") == pl.col("value")).mean().alias("right"),
        (1 / pl.col("candidates").list.len()).mean().alias("chance"),
    )
    return guessed.row(0)
