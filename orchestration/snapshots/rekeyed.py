"""People who left while others came who are alike: perhaps the same people under other identifiers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from statistics import mean, stdev

import numpy as np
import polars as pl

from republish.anonymize.columns import exactly
from republish.orchestration.snapshots.identifiers import without_drifted

MOST_COMPARED = 2_000_000
"""People who left, or came, up to which they are compared."""
DRAWN = 7
"""How often chance is tried."""
DEVIATIONS, LEAST_BEYOND = 4, 0.1
"""By how many standard deviations, and by which share of those who left or came, chance is to be exceeded."""
FEWEST = 5
"""Fewer pairs say nothing."""
DESCRIBED, MOST_OF_THEM = 200, 0.9
"""Pairs that are looked at for the form of a change, and how many of them have to show it."""


def count_alike(gone: pl.DataFrame, new: pl.DataFrame, stayed: pl.DataFrame) -> int | None:
    """How many people left while somebody came who is alike in all columns; 0 if chance may have made them.

    Chance is tried in two ways, and the one that makes more pairs counts: people who stayed in place of those
    who left; and those who left, with the column that has most values moved to others among them.

    Parameters
    ----------
    gone, new, stayed
        People by their identifiers (`named`): of the snapshot before alone, of this one alone, and some of
        both as they were before.

    Returns
    -------
    int or None
        None if there are too many, or they have fewer than two columns beside the identifier.
    """
    columns = [name for name in gone.columns if name != "text"]
    if len(columns) < 2 or max(len(gone), len(new)) > MOST_COMPARED:
        return None
    gone, new = without_drifted(gone, new)
    found, smaller = _pairs(gone, new, columns), min(len(gone), len(new))
    if found < max(FEWEST, LEAST_BEYOND * smaller):
        return 0
    chance = 0.0
    for way in (_drawn(stayed, len(gone)), _shuffled(gone, columns)):
        tried = [_pairs(other, new, columns) for other in way]
        if tried:
            chance = max(chance, mean(tried) + DEVIATIONS * max(1.0, stdev(tried)))
    return found if found > chance and found - chance >= LEAST_BEYOND * smaller - FEWEST else 0


def _pairs(some: pl.DataFrame, others: pl.DataFrame, columns: list[str]) -> int:
    """So many pairs can be made of people who are alike, each person in one of them."""
    counts = (people.group_by(exactly(*columns)).agg(people=pl.len()) for people in (some, others))
    both = next(counts).join(next(counts), on=columns, nulls_equal=True)
    return int(both.select(pl.min_horizontal("people", "people_right").sum()).item())


def _drawn(people: pl.DataFrame, number: int) -> Iterator[pl.DataFrame]:
    """So many people, drawn by lot; nothing if there are too few to stand for them."""
    if 2 * len(people) < number:
        return
    for seed in range(DRAWN):
        chosen = np.random.default_rng(seed).permutation(len(people))
        yield people[np.resize(chosen, number)]


def _shuffled(people: pl.DataFrame, columns: list[str]) -> Iterator[pl.DataFrame]:
    """People with one column of others among them: the one that has most values."""
    chosen = max(columns, key=lambda name: people[name].n_unique())
    for seed in range(DRAWN):
        order = np.random.default_rng(seed).permutation(len(people))
        yield people.with_columns(people[chosen][order].alias(chosen))


def form_of_change(gone: pl.DataFrame, new: pl.DataFrame) -> str | None:
    """What became of the identifiers of people who are alike, in words without any, if it is clear."""
    columns = [name for name in gone.columns if name != "text"]
    some, others = (
        people.unique(columns, keep="none", maintain_order=True).head(MOST_COMPARED) for people in (gone, new)
    )
    pairs = some.join(others, on=columns, nulls_equal=True, suffix="_now").head(DESCRIBED)
    if len(pairs) < FEWEST:
        return None
    changes = pl.Series([_change(*row) for row in pairs.select("text", "text_now").iter_rows()])
    often = changes.drop_nulls().value_counts(sort=True, name="pairs")
    if often.is_empty() or often["pairs"][0] < MOST_OF_THEM * len(pairs):
        return None
    return str(often[changes.name][0])


def _change(old: str, now: str) -> str | None:
    """How one identifier differs from another, if much of both is the same."""
    start = _in_common(old, now)
    end = min(_in_common(old[::-1], now[::-1]), len(old) - start, len(now) - start)
    if 2 * (start + end) < min(len(old), len(now)):
        return None
    less, more = len(old) - start - end, len(now) - start - end
    place = "at the beginning" if end >= start else "at the end"
    characters = "another character" if more == less == 1 else "other characters"
    if not less:
        characters = "characters more"
    elif not more:
        characters = "characters fewer"
    return f"the new ones have {characters} {place}"


def _in_common(one: str, other: str) -> int:
    """With how many characters both begin."""
    alike = zip(one, other, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda both: both[0] == both[1], alike))
