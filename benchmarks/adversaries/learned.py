"""The adversary who has learned from many simulated series what an algorithm gives away.

The algorithm is public. So an adversary can run it on made-up people as often as they like, look at what is
published of people whose values they know, and learn what distinguishes them. Nothing is assumed of the
algorithm: a model is trained to tell the true value from the other candidate values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import polars as pl


@dataclass(frozen=True)
class Guesses:
    """How often the candidate that looked most likely was the true value."""

    people: int
    """People guessed at."""
    right: float
    """Share of right guesses."""
    chance: float
    """Share of right guesses if nothing could be learned: the mean of 1 / candidates."""

    @property
    def error(self) -> float:
        """The standard error of `right`, for people who are guessed at independently."""
        return sqrt(max(self.chance * (1 - self.chance), 0) / max(self.people, 1))

    @property
    def excess(self) -> float:
        """By how many standard errors the guesses are better than chance."""
        return (self.right - self.chance) / self.error if self.error else 0.0


def train(found: pl.DataFrame, truth: pl.DataFrame, names: Sequence[str], seed: int = 0) -> Any:
    """A model of gradient-boosted trees that scores candidates; from series whose values are known.

    Parameters
    ----------
    found
        `series`, `person`, `value` (a candidate), and clues: what `clues` returned for each series.
    truth
        `series`, `person`, `value`: what the people have.
    names
        The clues to learn from.
    seed
        Of the model.

    Returns
    -------
    sklearn.ensemble.HistGradientBoostingClassifier

    Raises
    ------
    ModuleNotFoundError
        If scikit-learn is not installed: it is there for development, and no command of the product needs it.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415 - large, and optional

    labelled = found.join(truth, on=["series", "person"], suffix="_true", maintain_order="left")
    model = HistGradientBoostingClassifier(
        max_iter=150, learning_rate=0.1, max_leaf_nodes=31, min_samples_leaf=100, random_state=seed
    )
    is_true = labelled["value"] == labelled["value_true"]
    return model.fit(labelled.select(names).to_numpy(), is_true.to_numpy())


def scores(model: Any, found: pl.DataFrame, names: Sequence[str]) -> np.ndarray:
    """float64[N]: how likely a trained model takes each row's candidate to be the true value."""
    return model.predict_proba(found.select(names).to_numpy())[:, 1]


def guess(found: pl.DataFrame, truth: pl.DataFrame, score: np.ndarray) -> Guesses:
    """How often the candidate with the highest score is the true value.

    Parameters
    ----------
    found, truth
        As for `train`: series that the model has not seen.
    score
        float64[N]: one for each row of `found`. Ties are broken in the order of the rows.
    """
    chosen = (
        found.select("series", "person", "value", pl.Series("score", score))
        .sort("score", descending=True, maintain_order=True)
        .group_by("series", "person", maintain_order=True)
        .agg(pl.col("value").first(), candidates=pl.len())
        .join(truth, on=["series", "person"], suffix="_true")
    )
    return Guesses(
        people=chosen.height,
        right=(chosen["value"] == chosen["value_true"]).mean(),
        chance=(1 / chosen["candidates"]).mean(),
    )
