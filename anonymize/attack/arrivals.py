"""People who are in a release for the first time: what an adversary learns from where they come.

The values of a group treat its people alike, but everybody sees how many people came to the groups of each
signature. If these were not equally many of each value, an adversary who knows how frequent each value is
among all who came would find some candidates more probable than others.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from republish.anonymize.arrays import Floats
from republish.anonymize.attack.figures import ArrivalFigures
from republish.anonymize.attack.finding import AttackResult, Count
from republish.anonymize.attack.input import AttackInput
from republish.anonymize.attack.numbers import joined
from republish.anonymize.columns import VALUE, most_of
from republish.anonymize.rounding import MANY_STEPS

ROUNDS = 200
"""So often weights are fitted to the frequencies: far more often than it takes."""


def attack_arrivals(seen: AttackInput, most: float | None) -> AttackResult:
    """Count who came to the groups of which signature, and guess their values by how frequent these are.

    Nothing is found where hosting groups are not known: then people can't be counted by signature.
    """
    if most is None or not seen.is_linked:
        return AttackResult()
    came = arrivals(seen)
    by_signature = came.group_by("signature").agg(
        newcomers=pl.col("people").sum(),
        uneven=(pl.col("people") - pl.col("people").min()).sum(),
    )
    counted = came.join(by_signature, on="signature").sort("signature", VALUE)
    probability = posterior(
        counted["signature"].rank("dense").to_numpy().astype(np.int64) - 1,
        counted[VALUE].rank("dense").to_numpy().astype(np.int64) - 1,
        counted["people"].to_numpy(),
    )
    guessed = counted.with_columns(pl.Series("probability", probability)).group_by("signature")
    by_signature = by_signature.join(guessed.agg(pl.col("probability").max()), on="signature")
    largest = most_of(by_signature["probability"])
    people = int(by_signature["newcomers"].sum())
    uneven = by_signature.filter(pl.col("uneven") > 0)["newcomers"].sum()
    # Probabilities are fitted in many rounds.
    likely = by_signature.filter(pl.col("probability") > most + MANY_STEPS)["newcomers"].sum()
    return AttackResult(
        {
            "arrivals": Count(people, int(uneven)),
            "frequencies": Count(people, int(likely), largest, most),
        },
        ArrivalFigures(largest),
        by_signature.select("signature", "newcomers", "uneven").sort("signature"),
    )


def arrivals(seen: AttackInput) -> pl.DataFrame:
    """Count who came to each signature by their value: `signature` (a number), `value`, `people`."""
    ever = seen.hosts.clear() if seen.before.stays is None else seen.before.stays.people
    here = seen.knowledge.followed.people.filter(pl.col("until") == seen.release)
    new = joined(here.select("person", "signature"), ever, how="anti")
    came = joined(new, seen.known.select("person", VALUE)).group_by("signature", VALUE).len("people")
    held = seen.knowledge.followed.signatures.join(new.select("signature").unique(), on="signature")
    held = held.select("signature", pl.col("values").alias(VALUE)).explode(VALUE)
    return held.join(came, on=["signature", VALUE], how="left").with_columns(
        pl.col("people").fill_null(0).cast(pl.Int64)
    )


def posterior(signature: np.ndarray, value: np.ndarray, people: np.ndarray) -> Floats:
    """Compute how probable each value of each signature is for a person who came to it: float64[P].

    There is a row for each value of each signature, both numbered 0, 1, …, with the `people` who came; an
    adversary knows the sums by signature, and those by value. Every value has a weight, a person's candidates
    are as probable as their weights, and the weights are such that each value is as frequent among all who
    came as it is known to be (iterative proportional fitting, which is the assignment of maximal entropy).
    """
    came, known = np.bincount(signature, people), np.bincount(value, people)
    weight = np.ones(len(known))
    probability = np.ones(len(people))
    for _ in range(ROUNDS):
        probability = weight[value] / np.bincount(signature, weight[value])[signature]
        fitted = np.bincount(value, came[signature] * probability)
        weight *= np.divide(known, fitted, out=np.zeros(len(known)), where=fitted > 0)
    return probability
