"""What a published table says beside its content: row order, numbering, counterfeits that stand out."""

from __future__ import annotations

from math import erfc, isnan, sqrt

import numpy as np
import polars as pl

CHANCE = 1e-4
"""A test statistic rarer than this under pure chance is a leak: one false alarm in 10,000 honest tests."""


def is_canonical(table: pl.DataFrame, orders: dict[str, list] | None = None) -> bool:
    """Whether rows are sorted by all columns, left to right: then their order says nothing.

    Parameters
    ----------
    table
        A published table, in file order.
    orders
        For columns whose values have an order of their own (categories), the values in that order. A
        column sorted as text will do as well.
    """
    ranked = table.with_columns(
        pl.col(column).replace_strict(values, range(len(values)), default=None, return_dtype=pl.Int64)
        for column, values in (orders or {}).items()
        if column in table.columns
    )
    return any(_is_sorted(candidate) for candidate in (table, ranked))


def are_numbered_by_content(table: pl.DataFrame, orders: dict[str, list] | None = None) -> bool:
    """Whether group ids ascend with what is published of the groups: then the numbers say nothing.

    Parameters
    ----------
    table
        A published table with `group_id` and the columns that are the same for a whole group.
    orders
        As for `is_canonical`.
    """
    content = table.select(pl.exclude("group_id").name.keep()).columns
    groups = table.group_by("group_id").agg(
        pl.col(content).n_unique().name.suffix("#"), pl.col(content).first()
    )
    shared = [column for column in content if groups[f"{column}#"].max() in (None, 1)]
    return is_canonical(groups.sort("group_id").select(shared), orders) if shared else True


def order_against(published: pl.DataFrame, hosted: pl.DataFrame) -> dict[str, float | int]:
    """How many values it tells to read the rows of each group in a hidden order.

    Within each group, the people in the hidden order are put against the published rows one by one.

    Parameters
    ----------
    published
        `group_id`, `value`, in file order.
    hosted
        `group_id`, `value`, `order` (distinct): people, their true value and their place in the hidden
        order. Groups that publish more rows than they have people here are left out.

    Returns
    -------
    dict
        `rows` compared; `hits`: rows that carry the value of the person at the same place; `expected` by
        chance; `p`: how rare so many hits or more are under a random order.
    """
    rows = published.with_columns(pl.int_range(pl.len()).over("group_id").alias("place"))
    people = hosted.sort("order").with_columns(pl.int_range(pl.len()).over("group_id").alias("place"))
    whole = (
        rows.group_by("group_id")
        .len("rows")
        .join(people.group_by("group_id").len("people"), on="group_id")
        .filter((pl.col("rows") == pl.col("people")) & (pl.col("rows") > 1))
    )
    pairs = rows.join(people, on=["group_id", "place"], suffix="_true").join(whole, on="group_id", how="semi")
    if pairs.is_empty():
        return {"rows": 0, "hits": 0, "expected": 0.0, "p": 1.0}
    hits = pairs.select((pl.col("value") == pl.col("value_true")).sum()).item()
    mean, variance = _random_hits(pairs.select("group_id", "value"))
    z = 0.0 if variance <= 0 else (hits - mean) / sqrt(variance)
    return {"rows": len(pairs), "hits": hits, "expected": mean, "p": _upper_tail(z)}


def numbering_against(hosted: pl.DataFrame) -> dict[str, float | int]:
    """Whether group ids follow a hidden order of the people in them.

    Parameters
    ----------
    hosted
        `group_id`, `order`.

    Returns
    -------
    dict
        `groups`, `correlation` (Spearman's, of group ids and mean places), `p`.
    """
    groups = hosted.group_by("group_id").agg(pl.col("order").mean())
    correlation = groups.select(pl.corr("group_id", "order", method="spearman")).item()
    if len(groups) < 3 or correlation is None or isnan(correlation):
        return {"groups": len(groups), "correlation": 0.0, "p": 1.0}
    p = min(1.0, 2 * _upper_tail(abs(correlation) * sqrt(len(groups) - 1)))
    return {"groups": len(groups), "correlation": correlation, "p": p}


def told_apart(rows: pl.DataFrame, features: list[str]) -> pl.DataFrame:
    """How well each column tells counterfeits from the people in their groups.

    Parameters
    ----------
    rows
        `group_id`, `counterfeit` (bool), and the features as numbers.
    features
        Columns to try.

    Returns
    -------
    pl.DataFrame
        `column`; `counterfeits` (in groups that have people too); `advantage`: the share of pairs, one
        counterfeit and one person of its group, in which the counterfeit is the higher (0.5 is
        guessing); `p`: how rare an advantage so far from 0.5 is under pure chance.
    """
    results = [_separation(rows, feature) for feature in features]
    return pl.DataFrame(
        results,
        schema={"column": pl.String, "counterfeits": pl.Int64, "advantage": pl.Float64, "p": pl.Float64},
        orient="row",
    )


def classifier_advantage(rows: pl.DataFrame, features: list[str], folds: int = 2) -> dict[str, float | int]:
    """How well all columns together tell counterfeits from people, on rows the classifier hasn't seen.

    A logistic regression on the features and their squares, relative to their groups' means.

    Parameters
    ----------
    rows
        `group_id`, `counterfeit` (bool), the features as numbers.
    features
        Columns to use.
    folds
        Groups are divided into so many parts; each part is judged by what was learnt on the others.

    Returns
    -------
    dict
        `counterfeits`, `advantage` (as in `told_apart`), `p`.
    """
    mixed = rows.filter(
        pl.col("counterfeit").any().over("group_id") & (~pl.col("counterfeit")).any().over("group_id")
    )
    counterfeits = int(mixed["counterfeit"].sum())
    if counterfeits < 2 * folds or not features:
        return {"counterfeits": counterfeits, "advantage": 0.5, "p": 1.0}
    centred = mixed.with_columns(pl.col(features) - pl.col(features).mean().over("group_id"))
    matrix = centred.select(features).to_numpy().astype(float)
    matrix = matrix / np.maximum(matrix.std(axis=0), 1e-12)
    matrix = np.column_stack([np.ones(len(matrix)), matrix, matrix**2])
    fold = mixed.select(pl.col("group_id").rank("dense") % folds).to_series().to_numpy()
    label = mixed["counterfeit"].to_numpy()
    scores = np.zeros(len(label))
    for part in range(folds):
        weights = _logistic(matrix[fold != part], label[fold != part])
        scores[fold == part] = matrix[fold == part] @ weights
    judged = mixed.select("group_id", "counterfeit").with_columns(pl.Series("score", scores))
    _, _, advantage, p = _separation(judged, "score")
    return {"counterfeits": counterfeits, "advantage": advantage, "p": p}


def _is_sorted(table: pl.DataFrame) -> bool:
    """Whether every row is at least the one above it, in all columns from left to right."""
    decided = pl.lit(value=False)
    descends = pl.lit(value=False)
    for column in table.columns:
        above = pl.col(column).shift(1)
        descends = descends | (~decided & (pl.col(column) < above).fill_null(value=False))
        decided = decided | (pl.col(column) != above).fill_null(value=False)
    return not table.select(descends.any()).item() if table.columns and len(table) else True


def _random_hits(rows: pl.DataFrame) -> tuple[float, float]:
    """Mean and variance of the hits of a random order within groups (`group_id`, `value`).

    For a group of n with counts c_v and S_k = sum(c_v^k): mean S_2 / n, variance
    (S_2 - 2 S_3 / n + S_2^2 / n^2) / (n - 1), which is 1 if all values differ and 0 if all are alike.
    """
    count = pl.col("tuples").cast(pl.Float64)
    groups = (
        rows.group_by("group_id", "value")
        .len("tuples")
        .group_by("group_id")
        .agg(count.sum().alias("n"), (count**2).sum().alias("s2"), (count**3).sum().alias("s3"))
    )
    n, s2, s3 = pl.col("n"), pl.col("s2"), pl.col("s3")
    return groups.select(
        (s2 / n).sum().alias("mean"), ((s2 - 2 * s3 / n + s2**2 / n**2) / (n - 1)).sum().alias("variance")
    ).row(0)


def _separation(rows: pl.DataFrame, feature: str) -> tuple[str, int, float, float]:
    """Mann and Whitney's statistic within groups, summed over the groups that have both kinds."""
    forged, real = pl.col("counterfeit").sum(), (~pl.col("counterfeit")).sum()
    ranks = rows.with_columns(pl.col(feature).rank("average").over("group_id").alias("rank"))
    groups = (
        ranks.group_by("group_id")
        .agg(
            forged.alias("a"),
            real.alias("b"),
            pl.col("rank").filter("counterfeit").sum().alias("ranks"),
            pl.col("rank").var().fill_null(0).alias("spread"),
        )
        .filter((pl.col("a") > 0) & (pl.col("b") > 0))
    )
    if groups.is_empty():
        return feature, 0, 0.5, 1.0
    a, b = pl.col("a").cast(pl.Float64), pl.col("b").cast(pl.Float64)
    wins, pairs, variance = groups.select(
        (pl.col("ranks") - a * (a + 1) / 2).sum().alias("wins"),
        (a * b).sum().alias("pairs"),
        # The variance of a sum of a ranks drawn without replacement; ties are in the spread.
        (a * b / (a + b) * pl.col("spread")).sum().alias("variance"),
    ).row(0)
    z = 0.0 if variance <= 0 else (wins - pairs / 2) / sqrt(variance)
    return feature, int(groups["a"].sum()), wins / pairs, min(1.0, 2 * _upper_tail(abs(z)))


def _logistic(matrix: np.ndarray, label: np.ndarray, steps: int = 25) -> np.ndarray:
    """Logistic regression by Newton's method, with a small ridge that keeps separable data finite."""
    weights = np.zeros(matrix.shape[1])
    ridge = 1e-2 * np.eye(matrix.shape[1])
    for _ in range(steps):
        chance = 1 / (1 + np.exp(-np.clip(matrix @ weights, -30, 30)))
        slope = matrix.T @ (label - chance) - ridge @ weights
        curve = (matrix.T * (chance * (1 - chance))) @ matrix + ridge
        step = np.linalg.solve(curve, slope)
        weights = weights + step
        if np.abs(step).max() < 1e-8:
            break
    return weights


def _upper_tail(z: float) -> float:
    return 0.5 * erfc(z / sqrt(2))
