"""Guessing who is in the table at all: telling people who are there from people who are not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import polars as pl

from republish.anonymize.attack.coverage import covering
from republish.anonymize.figures import ErrorBy, Figures, MeanBy, Total
from republish.anonymize.formats.published import Published
from republish.anonymize.kernels.splitmix import rows_drawn

MOST = 2_000
"""People of each kind who are guessed; of more, so many are drawn."""
FEWEST = 20
"""With fewer people of a kind, a figure would be chance."""


@dataclass(frozen=True)
class Presence(Figures):
    """The success of telling people who are in a release from people who are not."""

    inside: Total
    """People of the release who were guessed."""
    outside: Total
    """People who are in another release of the series and not in this one, who were guessed."""
    excluded: Annotated[float, MeanBy("outside")]
    """The share of the people outside whom no group covers: they are known to be absent."""
    advantage: Annotated[float, MeanBy("inside")]
    """The share of the people inside who are called present, less that of the people outside."""
    error: Annotated[float, ErrorBy("inside")]
    """Standard error of the advantage, for the limits that were learned."""


def guess_presence(inside: pl.DataFrame, outside: pl.DataFrame, published: Published) -> Presence | None:
    """Call present whoever lies where the release has many tuples.

    The score of a person is the number of tuples expected at exactly the person's quasi-identifiers (`qi_0`,
    … as codes), if each group's tuples are spread evenly over its box. Above which score a person is called
    present is learned from each half of the people, and counted on the other half. The advantage is 0 for a
    coin, and 1 if everybody is told apart. None is returned if there are too few people of a kind.

    References
    ----------
    Nergiz, Atzori and Clifton, Hiding the presence of individuals from shared databases, SIGMOD 2007. The
    advantage: Yeom and others, Privacy risk in machine learning, CSF 2018. The score is ours.
    """
    if min(len(inside), len(outside)) < FEWEST:
        return None
    scores = [
        _scores(people[rows_drawn(len(people), MOST).tolist()], published) for people in (inside, outside)
    ]
    called = np.mean([_halved(scores, half) for half in (0, 1)], axis=0)
    spread = sum(share * (1 - share) / len(score) for share, score in zip(called, scores, strict=True))
    return Presence(
        inside=len(scores[0]),
        outside=len(scores[1]),
        excluded=float((scores[1] == 0).mean()),
        advantage=float(called[0] - called[1]),
        error=float(np.sqrt(spread)),
    )


def _halved(scores: list[np.ndarray], half: int) -> list[float]:
    """The shares of people inside and outside who are called present, in the half not learned from."""
    learned, counted = ([score[part::2] for score in scores] for part in (half, 1 - half))
    levels = np.unique(np.concatenate(learned))
    gains = [_called(learned[0], level) - _called(learned[1], level) for level in levels]
    level = levels[int(np.argmax(gains))]
    return [_called(score, level) for score in counted]


def _called(scores: np.ndarray, level: float) -> float:
    """The share of the people who are called present."""
    return float((scores >= level).mean())


def _scores(people: pl.DataFrame, published: Published) -> np.ndarray:
    """float64[N]: the tuples expected at each person's quasi-identifiers; 0 where no group is."""
    # In one order, so that sums of several boxes are rounded alike in every run.
    boxes = published.boxes.sort(pl.all()).join(published.sizes, on="group_id", maintain_order="left")
    boxes = boxes.with_columns((pl.col("size") / pl.len().over("group_id")).alias("tuples"))
    names = [column.removesuffix("_low") for column in boxes.columns if column.endswith("_low")]
    low, high = (
        boxes.select(pl.col(f"{name}_{end}").cast(pl.Float64) for name in names).to_numpy()
        for end in ("low", "high")
    )
    width = np.nan_to_num(high - low) + 1
    dense = boxes["tuples"].to_numpy() / width.prod(axis=1)
    point, box = covering(people.select(names), boxes)
    found = dense[box]
    for column, name in enumerate(names):
        if f"{name}_missing" in boxes.columns:
            without = published.shares_missing(boxes, name)
            is_missing = people[name].is_null().to_numpy()[point]
            found *= np.where(is_missing, (without * width[:, column])[box], (1 - without)[box])
    return np.bincount(point, found, len(people))
