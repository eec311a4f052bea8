"""From bijections to groups: the minimal self-contained partition, and better ones in its family set."""

from __future__ import annotations

import numpy as np
import polars as pl

from anonymize.arrays import Floats, Ints, Words
from anonymize.contract import Schema
from anonymize.formats.generalization import published_interval
from anonymize.kernels.components import components
from anonymize.people.codes import code_domain, encode


def minimal_partition(images: Ints) -> np.ndarray:
    """The groups of the minimal self-contained partition: identifiers are together if a bijection joins them.

    Parameters
    ----------
    images
        int32[N, l - 1]: the images of each identifier under its color's bijections.

    Returns
    -------
    int64[N]
        Groups 0, 1, …

    References
    ----------
    Liu and Wang, Privacy streamliner, CODASPY 2012, Definition 3, Table 9.
    """
    return components(images)


def merge_for_ncp(codes: pl.DataFrame, group: Ints, ranks: Words, schema: Schema) -> np.ndarray:
    """Merge groups of the minimal partition where that lowers the normalized certainty penalty.

    A union of groups is in the family set (Lemma 2), so that this may look at everything that a release with
    the minimal partition would publish. Covering more people never makes an interval shorter by itself; but
    an interval narrower than `min_width` is widened to cells of a grid, and a merged one may need no
    widening.

    Parameters
    ----------
    codes
        N identifiers' quasi-identifiers `qi_0`, … as codes.
    group
        int[N]: groups 0, 1, …
    ranks
        uint64[N]: a secret order of the identifiers, which decides between groups of equal intervals.
    schema
        The quasi-identifiers with their domains and minimum widths.

    Returns
    -------
    int64[N]
        Groups 0, 1, …: unions of those given. They depend on people and quasi-identifiers, not on values.

    Notes ----- Neighbours in the order of each quasi-identifier are compared, and the pairs that gain more
    than both pairs beside them are merged, until no pair gains.

    References
    ----------
    Liu and Wang, Privacy streamliner, CODASPY 2012, section 2.3, Lemma 2 and Theorem 1; section 5.
    """
    if not any(qi.min_width > int(qi.discrete) for qi in schema.quasi_identifiers):
        return group
    into = np.arange(int(group.max(initial=-1)) + 1)
    boxes = _boxes(codes, group, ranks)
    columns = [column for column, _ in schema.attributes()]
    unchanged = at = 0
    while unchanged < len(columns):
        order = boxes.select(pl.arg_sort_by(f"{columns[at]}_low", f"{columns[at]}_high", "first")).to_series()
        ordered = boxes[order]
        gain = _gains(ordered, schema)
        before, after = np.append(-np.inf, gain[:-1]), np.append(gain[1:], -np.inf)
        merged = np.flatnonzero((gain > 1e-9) & (gain > before) & (gain >= after))
        unchanged = 0 if len(merged) else unchanged + 1
        if len(merged):
            target = np.arange(len(ordered))
            target[merged + 1] = merged
            new = np.empty(len(ordered), np.int64)
            new[order.to_numpy()] = target
            into = new[into]
            boxes, numbers = _united(boxes, new)
            into = numbers[into]
        at = (at + 1) % len(columns)
    return into[group]


def _boxes(codes: pl.DataFrame, group: np.ndarray, ranks: np.ndarray) -> pl.DataFrame:
    """One row per group, in their order: `people`, `first` (rank), `qi_0_low`, `qi_0_high`, … as codes."""
    return (
        codes.with_columns(pl.Series("group", group), pl.Series("first", ranks))
        .group_by("group")
        .agg(
            pl.len().cast(pl.Int64).alias("people"),
            pl.col("first").min(),
            *(
                end
                for column in codes.columns
                for end in (
                    pl.col(column).min().alias(f"{column}_low"),
                    pl.col(column).max().alias(f"{column}_high"),
                )
            ),
        )
        .sort("group")
        .drop("group")
    )


def _united(boxes: pl.DataFrame, target: np.ndarray) -> tuple[pl.DataFrame, np.ndarray]:
    """The boxes of merged groups, and the number of each merged group, by its target before."""
    kept = np.unique(target)
    numbers = np.full(len(target), -1)
    numbers[kept] = np.arange(len(kept))
    united = (
        boxes.with_columns(pl.Series("group", numbers[target]))
        .group_by("group")
        .agg(
            pl.col("people").sum(), pl.col("first").min(), pl.col("^.*_low$").min(), pl.col("^.*_high$").max()
        )
        .sort("group")
        .drop("group")
    )
    return united.select(boxes.columns), numbers


def _gains(ordered: pl.DataFrame, schema: Schema) -> Floats:
    """float64[G - 1]: how much lower the penalty is with each group and the next one merged."""
    following = ordered.slice(1)
    first = ordered.head(following.height)
    together = pl.DataFrame(
        [
            first["people"] + following["people"],
            *(
                series
                for column, _ in schema.attributes()
                for series in (
                    _extreme(first, following, f"{column}_low", np.minimum),
                    _extreme(first, following, f"{column}_high", np.maximum),
                )
            ),
        ]
    )
    penalty = _penalties(ordered, schema)
    return penalty[:-1] + penalty[1:] - _penalties(together, schema)


def _extreme(first: pl.DataFrame, second: pl.DataFrame, column: str, of: np.ufunc) -> pl.Series:
    return pl.Series(
        column, of(first[column].to_numpy(), second[column].to_numpy()), dtype=first.schema[column]
    )


def _penalties(boxes: pl.DataFrame, schema: Schema) -> Floats:
    """float64[G]: people times the sum of the shares of the domains that the published intervals cover."""
    share = pl.lit(0.0)
    for column, qi in schema.attributes():
        low, high = (encode(end, qi) for end in published_interval(column, qi))
        lowest, highest = code_domain(qi)
        share += (high - low) / ((highest - lowest) or 1)
    return boxes.select(pl.col("people") * share).to_series().to_numpy()
